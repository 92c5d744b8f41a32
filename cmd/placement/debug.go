// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/endpoint"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/tracing"
	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/clustersets"
	"github.com/placement-hub/placement-hub/pkg/explain/debug"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
	"github.com/placement-hub/placement-hub/pkg/placement/controller"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/pkg/system"
)

const debugLong = `debug serves the debug endpoint over HTTPS: it evaluates a Placement and returns the selected clusters and the
reasons. It reads the hub, takes no lease and writes nothing, so it may run beside "placement controller", which serves
the same endpoint on its own port, on leader and standby.

  GET  /debug/placements/NAMESPACE/NAME   evaluates a Placement on the hub
  POST /debug/placements/                 evaluates the Placement in the body, in JSON, as if it were on the hub

A caller needs two rights: one on the non-resource URL (the ClusterRole open-cluster-management:placement-hub:debug), and
one to get or to create placements in the namespace.

The command accepts the flags of "placement controller", so that the two can share a manifest. The flags for writing,
traces, leader election and the webhook have no effect.`

const debugExample = `  # Beside the controller, as the container debug-server of Open Cluster Management
  placement debug --listen=0.0.0.0:9443 --disable-leader-election

  # Send a request
  token=$(kubectl create token -n team-a asker)
  curl -k -H "Authorization: Bearer $token" https://localhost:9443/debug/placements/team-a/rollout`

// observed are the controllers whose Placements can be evaluated.
var observed = []string{"placement", "placement-v1alpha1"}

// ineffective are the flags of `placement controller` without effect on a read-only process.
var ineffective = []string{
	"disable-leader-election", "leader-election-lease-duration", "leader-election-renew-deadline", "leader-election-retry-period",
	"workers", "taint-grace-period", "sig-placement-decisions", "warn-removal-percent", "lost-scope-hold", "last-cluster", "webhook-listen",
	explanationsFlag, explainAddressFlag,
	system.PolicyFailureFlag, system.FederatedKindsFlag, system.HistoryFlag, system.HistoryBytesFlag,
	system.ProfileClaimsFlag, system.ProfileTakeOverFlag,
	tracing.Flag,
}

func newDebugCommand(stop context.CancelFunc) *cobra.Command {
	o := newDebugOptions()
	cmd := &cobra.Command{
		Use:     "debug",
		Short:   "Serve the debug endpoint, which evaluates placements over HTTPS",
		Long:    debugLong,
		Example: debugExample,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.completeDebug(cmd.Flags().Changed, processEnvironment()); err != nil {
				return exit.Mistake(err)
			}
			o.flags = changedFlags(cmd.Flags())
			return o.run(cmd.Context(), stop)
		},
	}
	o.addDebugFlags(cmd.Flags())
	return cmd
}

func newDebugOptions() *controllerOptions {
	o := newControllerOptions()
	o.observe = true
	o.serving.Address = "0.0.0.0:9443"
	return o
}

func (o *controllerOptions) addDebugFlags(fs *pflag.FlagSet) {
	o.addFlags(fs)
	o.controllers.RemovalLimit = removalbudget.Limit{} // What the hub was started with is not known.
	for _, name := range []string{hubflags.MaxRemovalFlag, hubflags.CountReplacedFlag} {
		flag := fs.Lookup(name)
		flag.Usage, flag.DefValue = hubflags.HubLimitUsage, ""
	}
	fs.Lookup("controllers").Usage = "Controllers whose placements the endpoint evaluates: " + strings.Join(observed, ", ") +
		"; '*' is both. " + strings.Join(clustersets.AssumedControllers(), ", ") +
		" mean that the hub runs them, whose next writes count as done. Other names have no effect."
	fs.Lookup("namespace").Usage = "No effect: the process stores nothing in a namespace."
	for _, name := range ineffective {
		fs.Lookup(name).Hidden = true
	}
}

// completeDebug completes and validates the options of a read-only process.
func (o *controllerOptions) completeDebug(changed func(flag string) bool, env environment) error {
	if err := o.complete(changed, env); err != nil {
		return err
	}
	if err := o.validate(); err != nil {
		return err
	}
	enabled, err := o.controllers.Enabled()
	if err != nil {
		return err
	}
	known := slices.Concat(observed, clustersets.AssumedControllers())
	o.controllers.Controllers = slices.DeleteFunc(enabled, func(name string) bool { return !slices.Contains(known, name) })
	if !slices.ContainsFunc(o.controllers.Controllers, func(name string) bool { return slices.Contains(observed, name) }) {
		return errors.New("--controllers: none of them serves placements; name " + strings.Join(observed, " or "))
	}
	o.controllers.ProfileDecisions = false
	o.election.Disable = true
	o.tracing = nil
	return nil
}

// serveDebug mounts the debug endpoint.
func serveDebug(server *endpoint.Server, view *controller.View) {
	admission := sync.OnceValues(func() (*statefile.Admission, error) {
		crds, err := manifests.Definitions()
		if err != nil {
			return nil, err
		}
		return statefile.NewAdmission(crds)
	})
	server.Handle(debug.Path, debug.New(view, server.Access(), admission, time.Now))
}
