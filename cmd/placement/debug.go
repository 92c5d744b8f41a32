// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubprocess"
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

func newDebugCommand(stop context.CancelFunc) *cobra.Command {
	o := hubprocess.NewDebugOptions()
	cmd := &cobra.Command{
		Use:     "debug",
		Short:   "Serve the debug endpoint, which evaluates placements over HTTPS",
		Long:    debugLong,
		Example: debugExample,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.CompleteDebug(cmd.Flags().Changed, hubprocess.ProcessEnvironment()); err != nil {
				return exit.Mistake(err)
			}
			o.Flags = hubprocess.ChangedFlags(cmd.Flags())
			return o.Run(cmd.Context(), stop)
		},
	}
	o.AddDebugFlags(cmd.Flags())
	return cmd
}
