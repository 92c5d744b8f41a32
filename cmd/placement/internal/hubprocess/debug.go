// SPDX-License-Identifier: Apache-2.0

package hubprocess

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/endpoint"
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

// observed are the controllers whose Placements can be evaluated.
var observed = []string{"placement", "placement-v1alpha1"}

// ineffective are the flags of `placement controller` without effect on a read-only process.
var ineffective = []string{
	"disable-leader-election", "leader-election-lease-duration", "leader-election-renew-deadline", "leader-election-retry-period",
	"workers", "taint-grace-period", "sig-placement-decisions", "warn-removal-percent", "lost-scope-hold", "last-cluster", "webhook-listen",
	explanationsFlag, ExplainAddressFlag,
	system.PolicyFailureFlag, system.FederatedKindsFlag, system.HistoryFlag, system.HistoryBytesFlag,
	system.ProfileClaimsFlag, system.ProfileTakeOverFlag,
	tracing.Flag,
}

// NewDebugOptions returns the options of a process that observes and runs no controller.
func NewDebugOptions() *Options {
	o := NewControllerOptions()
	o.Observe = true
	o.Serving.Address = "0.0.0.0:9443"
	return o
}

// AddDebugFlags adds the flags of `placement debug`.
func (o *Options) AddDebugFlags(fs *pflag.FlagSet) {
	o.AddFlags(fs)
	o.Controllers.RemovalLimit = removalbudget.Limit{} // What the hub was started with is not known.
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

// CompleteDebug completes and validates the options of a read-only process.
func (o *Options) CompleteDebug(changed func(flag string) bool, env Environment) error {
	if err := o.Complete(changed, env); err != nil {
		return err
	}
	if err := o.Validate(); err != nil {
		return err
	}
	enabled, err := o.Controllers.Enabled()
	if err != nil {
		return err
	}
	known := slices.Concat(observed, clustersets.AssumedControllers())
	o.Controllers.Controllers = slices.DeleteFunc(enabled, func(name string) bool { return !slices.Contains(known, name) })
	if !slices.ContainsFunc(o.Controllers.Controllers, func(name string) bool { return slices.Contains(observed, name) }) {
		return errors.New("--controllers: none of them serves placements; name " + strings.Join(observed, " or "))
	}
	o.Controllers.ProfileDecisions = false
	o.Election.Disable = true
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
