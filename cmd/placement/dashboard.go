// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/ownpages"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/userpages"
)

const dashboardLong = `dashboard serves pages on this machine that show where workloads go, and why: placements with the stages that each
cluster passes and the changes that would select it, clusters with all that concerns them, delivered objects, cluster
requests, and workloads with their policies. It prints a URL that opens them in one browser.

The pages show what the user of the kubeconfig may read, and answer as placement explain, diff, simulate, federated and
history do. The hub explains an object to a user who may not read all that decides about it, as placement explain says. It
alone knows the history, which it tells to users with a token. Nothing is written.

With -f the pages show a snapshot, which placement snapshot writes, at the time at which it was taken.

The pages follow changes. For that the user needs the verbs list and watch on what placements depend on (the ClusterRole
open-cluster-management:placement-hub:fleet-view); other users see changes after some seconds.

"placement controller --dashboard-listen" serves the same pages to everybody who logs in; docs/dashboard.md says how to
expose them.`

const dashboardExample = `  # The pages of the current context
  placement dashboard

  # On a fixed port, for another context
  placement dashboard --context staging --listen 127.0.0.1:8484

  # A hub as it was
  placement snapshot -A -o state.yaml
  placement dashboard -f state.yaml`

func newDashboardCommand() *cobra.Command {
	o := userpages.Options{Listen: ownpages.DefaultListen}
	cmd := &cobra.Command{
		Use:     "dashboard",
		Short:   "Serve pages on this machine that show where workloads go, and why",
		Long:    dashboardLong,
		Example: dashboardExample,
		Args:    onlyFlags,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.Run(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	o.Add(flags)
	o.AddSettings(flags)
	o.AddAsk(flags)
	flags.Lookup("namespace").Usage = "Namespace that is shown to a user who may not list placements of all. Default: the namespace of the context."
	flags.StringVar(&o.Listen, "listen", o.Listen, "Loopback address of the pages, such as 127.0.0.1:8484; port 0 selects a free port.")
	o.Snapshot.Add(flags, "show")
	return cmd
}
