// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/terminal"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/explain/setlist"
)

const setsLong = `sets lists the ManagedClusterSets that you may bind, and those that are bound to the namespace. The Placements of a
namespace select from the clusters of the bound sets.

The command asks the API server for each set whether you may bind it (create on managedclustersets/bind). To bind a set,
you also need the right to create managedclustersetbindings in the namespace. "by RBAC" means that the hub maintains the
binding, for the ServiceAccount placement of the namespace.

With -f the command lists the sets of a snapshot (placement snapshot), of which nobody knows who may bind them.

With -A the list has the bindings of all namespaces, and where each set is bound; -l selects sets by their labels.

The user needs the verb list on managedclustersets, and on managedclustersetbindings in the namespace, or with -A in all.
A user who may not list the sets gets the bound sets, and on stderr the role that lists all. A user who may not list the
bindings gets the sets to bind and the missing right, with exit code 1.`

const setsExample = `  # Which sets can the Placements of this namespace use, and which could be bound?
  placement sets -n team-a

  # In which namespaces are the sets of production bound?
  placement sets -A -l stage=prod

  # Names only
  placement sets -n team-a -o name`

// setsOptions are the flags of the command.
type setsOptions struct {
	hubflags.Hub
	hubflags.Labels

	output        string
	allNamespaces bool
	// snapshot is the path of a snapshot that is read in place of a hub.
	snapshot hubflags.Snapshot
}

func newSetsCommand() *cobra.Command {
	var o setsOptions
	cmd := &cobra.Command{
		Use:     "sets",
		Short:   "List the cluster sets that you may bind, and those that are bound to a namespace",
		Long:    setsLong,
		Example: setsExample,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	o.Add(flags)
	flags.Lookup("namespace").Usage = "Namespace of the bindings to list. Default: the namespace of the context."
	flags.StringVarP(&o.output, "output", "o", string(printers.FormatTable),
		"Output format: table, wide (the same), json, yaml, or name (one set per line).")
	o.AddLabels(flags, "sets")
	o.snapshot.Add(flags, "list the sets of")
	flags.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "List the bindings of all namespaces.")
	o.RegisterCompletions(cmd, printers.WideFormats())
	return cmd
}

// run prints the sets that could be read, also with an error.
func (o *setsOptions) run(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) error {
	hubflags.TakeWide(&o.output)
	if !slices.Contains(printers.Formats(), printers.Format(o.output)) {
		return exit.Mistake(fmt.Errorf("--output: unknown format %q; use one of %v", o.output, printers.WideFormats()))
	}
	if err := o.ParseLabels(); err != nil {
		return exit.Mistake(err)
	}
	if o.allNamespaces && o.Namespace != "" {
		return exit.Mistake(errors.New("--all-namespaces and --namespace contradict each other; leave out one or the other"))
	}
	list, err := o.read(ctx, stdin)
	if list == nil {
		return err
	}
	style := printers.Style{Color: terminal.Colored(stdout), Width: terminal.Width(stdout)}
	err = errors.Join(printers.Print(stdout, printers.Format(o.output), *list, style), err)
	if err == nil && list.Unlisted != "" {
		if _, err := fmt.Fprintf(stderr, "note: %s\n", list.Unlisted); err != nil {
			return fmt.Errorf("printing a note: %w", err)
		}
	}
	return err
}

// read reads the sets of the hub, or of a snapshot.
func (o *setsOptions) read(ctx context.Context, stdin io.Reader) (*setlist.List, error) {
	if o.snapshot != "" {
		taken, reader, err := o.snapshot.Open(&o.Hub, stdin)
		if err != nil {
			return nil, err
		}
		namespace := taken.Header.Namespace
		if o.Namespace != "" || o.allNamespaces {
			namespace = o.Namespace
		}
		return setlist.ReadUnreviewed(ctx, reader, namespace, o.Selector)
	}
	hub, _, namespace, err := o.ConnectHub()
	if err != nil {
		return nil, err
	}
	if o.allNamespaces {
		namespace = ""
	}
	return setlist.Read(ctx, hub, namespace, o.Selector)
}
