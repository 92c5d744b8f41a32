// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubprocess"
)

func newControllerCommand(stop context.CancelFunc) *cobra.Command {
	o := hubprocess.NewControllerOptions()
	cmd := &cobra.Command{
		Use:   "controller",
		Short: "Run the controllers against a hub",
		Long: "controller runs the controllers of the hub: one leader at a time, and any number of standbys with warm caches.\n" +
			"SIGTERM and SIGINT stop the process cleanly and release the lease; a second signal ends it at once with code 1.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.Complete(cmd.Flags().Changed, hubprocess.ProcessEnvironment()); err != nil {
				return exit.Mistake(err)
			}
			if err := o.Validate(); err != nil {
				return exit.Mistake(err)
			}
			o.Flags = hubprocess.ChangedFlags(cmd.Flags())
			return o.Run(cmd.Context(), stop)
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}
