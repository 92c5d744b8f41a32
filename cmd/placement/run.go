// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/localhub"
	"github.com/placement-hub/placement-hub/pkg/hub/systems"
	"github.com/placement-hub/placement-hub/pkg/system"
)

// runLong has a verb for the paragraphs about the samples.
const runLong = `run starts a hub on this machine and shows its decisions: a control plane (etcd, kube-apiserver and
kube-controller-manager), the hub's CustomResourceDefinitions and RBAC, twenty sample clusters, and every controller of
the hub in this process. The table of placements follows the changes that you make with kubectl in another terminal; if
the output is not a terminal, the command prints one line for each change of a placement.

Without --data-dir, Ctrl-C removes everything. With it, the objects stay, and the command applies the samples only if
the directory is new, so that they do not overwrite your edits; --samples applies them again.

With --kubeconfig the command starts no control plane: the controllers run against that cluster, as the user of the
kubeconfig, and take part in the leader election of 'placement controller'. The command applies the manifests unless
--no-install is given, and the samples only with --samples. Two controllers do not run: managedcluster-defaults, because
the API server of another cluster can rarely reach a webhook on this machine, and managedcluster-taints, which adds the
taint unreachable to every cluster without a reported availability.

%sWith --sig-placement-decisions the command also installs the definitions of multicluster.x-k8s.io, and the hub also
writes decisions as references to the ClusterProfiles that exist.`

// runExample has a verb for the examples with samples.
const runExample = `  # A hub to try things out; Ctrl-C ends it and removes everything
  placement run

  # Print the decisions of the samples and end
  placement run --once

%s  # Keep the objects for the next run
  placement run --data-dir ~/hub`

func newRunCommand() *cobra.Command {
	o := localhub.NewRunOptions()
	cmd := &cobra.Command{
		Use:     "run",
		Short:   "Run a hub with its control plane on this machine, and show its decisions",
		Long:    fmt.Sprintf(runLong, eachSample(func(s systems.Sample) string { return s.Text })),
		Example: fmt.Sprintf(runExample, eachSample(func(s systems.Sample) string { return s.Example })),
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.Complete(cmd.Flags().Changed); err != nil {
				return exit.Mistake(err)
			}
			return o.Run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}

// eachSample joins the paragraphs of the samples that have one, each with an empty line after it.
func eachSample(paragraph func(systems.Sample) string) string {
	var text strings.Builder
	for _, sample := range system.Samples() {
		if p := paragraph(sample); p != "" {
			text.WriteString(p + "\n\n")
		}
	}
	return text.String()
}
