// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/casetests"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/pkg/explain/placementtest/report"
)

const testLong = `test checks what a hub decides against cases: documents of kind PlacementTest, which say what has to hold for Placements, for
objects that are delivered to clusters, for workloads and for ClusterRequests (docs/testing.md). It evaluates them with the code of the
controller. It changes nothing: it only reads from a hub.

-f names files with cases. If they have the objects of a hub too, or --hub names files with these, the cases are evaluated there, and else on the
live hub, which the command finds as kubectl does. Files are read as placement simulate reads them.

A case says which objects it is about, what happens (spec.when: clusters are lost or deleted, or the hub is changed), and what has to hold then
(spec.expect). A failure names the first clause that does not hold, why, and by which change it would.

Failures are evaluated to their settled end: the taint unreachable is older than any toleration, and holds that end by themselves have ended. The
removal budget is that of the flags or of the status of the Placements, and else 50 %, as the manifests install it.

A user who may not read all that decides is answered by the hub, as by placement explain: one Placement, delivered object or ClusterRequest for each
case, as it is now. A case that needs more is an error.

The exit code is 0 if all cases hold, 1 if one does not, and 2 for an error: a mistake in a file, a name that no object has, or a case that
evaluates nothing.`

const testExample = `  # Cases and the objects of a hub in files
  placement test -f cases.yaml --hub world/

  # On the live hub, only the cases whose names match, with those that hold
  placement test -f cases/ --run '^gold-' --verbose

  # For a CI system, and for a comment on a merge request
  placement test -f cases/ --hub world/ -o junit > junit.xml
  placement test -f cases/ --hub world/ -o markdown > comment.md

  # The JSON schema of the cases, for an editor
  placement test --schema > placementtest.schema.json`

func newTestCommand() *cobra.Command {
	var o casetests.Options
	cmd := &cobra.Command{
		Use:     "test -f FILE",
		Short:   "Check what a hub decides against cases, also if clusters are lost",
		Long:    testLong,
		Example: testExample,
		Args:    onlyFlags,
		RunE: func(cmd *cobra.Command, _ []string) error {
			holds, err := o.Test(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
			switch {
			case err != nil:
				return &exit.Error{Code: exit.NotCompared, Err: err}
			case !holds:
				return &exit.Error{Code: exit.Differs}
			default:
				return nil
			}
		},
	}
	flags := cmd.Flags()
	o.AddFiles(cmd)
	o.AddSettings(flags)
	o.AddAsk(flags)
	flags.StringArrayVarP(&o.Paths, "filename", "f", nil,
		"File or directory with cases, and maybe the objects of the hub, or - for standard input. May be repeated.")
	flags.StringArrayVar(&o.HubPaths, "hub", nil, "File or directory with the objects of the hub, or - for standard input. May be repeated.")
	flags.StringVar(&o.Now, "now", "", "Time of the evaluation, such as 2026-01-31T12:00:00Z. Default: the current time.")
	flags.StringVarP(&o.Output, "output", "o", string(report.Text), "Output format: text, json, junit or markdown.")
	flags.StringVar(&o.Run, "run", "", "Regular expression; only the cases whose names match it are evaluated.")
	flags.BoolVar(&o.Verbose, "verbose", false, "List the cases that hold too.")
	flags.BoolVar(&o.Coverage, "coverage", false,
		"With -o text or json: list what the Placements of the cases ask for that no cluster ever met or failed.")
	flags.StringVar(&o.Record, "record", "",
		"File to write with a case for each Placement, which expects the clusters of today. Of a file that exists, other cases and comments stay.")
	flags.BoolVar(&o.Schema, "schema", false, "Print the JSON schema of the cases, and nothing else.")
	formats := make([]string, 0, len(report.Formats()))
	for _, format := range report.Formats() {
		formats = append(formats, string(format))
	}
	hubflags.Complete(cmd, "output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}
