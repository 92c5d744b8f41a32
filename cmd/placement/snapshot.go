// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/snapshot"
)

const snapshotLong = `snapshot writes what explain, simulate, diff and federated read of a hub to a file, which they read again: for a bug
report, for tests without a hub, or to ask later why a decision was as it was.

The file has the objects of a namespace, or of all with -A, and all that decides about them, as far as the user may read
it. What the user may not read is listed in its first document and on stderr. A command that needs it says so.

The data of Secrets and ConfigMaps is not in the file, also inside of ManifestWorks, nor are the environment, the command
and the arguments of containers. Names, labels, annotations, specs and statuses are: only its owner may read the file.

Commands evaluate a snapshot at the time at which it was taken. The two minor versions after this one read it too.`

const snapshotExample = `  # All of the hub, as far as you may read it
  placement snapshot -A -o state.yaml

  # Why is it as it is? What if a cluster is drained?
  placement explain -f state.yaml team-a/web
  placement simulate -f state.yaml --drain eu2

  # What would a change have meant then?
  placement diff --hub state.yaml -f placement.yaml`

// snapshotMode is the mode of the file.
const snapshotMode = 0o600

// snapshotOptions are the flags of the command.
type snapshotOptions struct {
	hubflags.Hub
	hubflags.Kinds
	hubflags.Ask

	allNamespaces bool
	output        string
}

func newSnapshotCommand() *cobra.Command {
	var o snapshotOptions
	cmd := &cobra.Command{
		Use:     "snapshot",
		Short:   "Write what decides about placements to a file that the other commands read",
		Long:    snapshotLong,
		Example: snapshotExample,
		Args:    onlyFlags,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	o.Add(flags)
	o.AddKinds(flags)
	flags.Lookup("namespace").Usage = "Namespace of the objects. Default: the namespace of the context."
	flags.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "Write the objects of all namespaces.")
	flags.StringVarP(&o.output, "output", "o", "", "File to write, or - for standard output. An existing file is replaced.")
	flags.StringVar(&o.HubNamespace, "hub-namespace", hubflags.DefaultNamespace, "Namespace in which the hub runs.")
	return cmd
}

// run takes a snapshot and writes it.
func (o *snapshotOptions) run(ctx context.Context, stdout, stderr io.Writer) error {
	if err := errors.Join(o.ParseKinds(), o.check()); err != nil {
		return exit.Mistake(err)
	}
	hub, _, namespace, err := o.ConnectHub()
	if err != nil {
		return err
	}
	options := hubstate.SnapshotOptions{Namespace: namespace, Delivered: o.Delivered, Now: time.Now()}
	if o.allNamespaces {
		options.Namespace = ""
	}
	if options.Controllers, err = o.Controllers(ctx, hub); err != nil {
		return err
	}
	taken, err := hubstate.TakeSnapshot(ctx, hub, options)
	if err != nil {
		return err
	}
	if err := o.write(taken, stdout); err != nil {
		return err
	}
	return describeSnapshot(stderr, taken)
}

// check returns an error about flags that are missing or contradict each other.
func (o *snapshotOptions) check() error {
	switch {
	case o.output == "":
		return errors.New("--output: name the file to write, such as -o state.yaml, or - for standard output")
	case o.allNamespaces && o.Namespace != "":
		return errors.New("--all-namespaces and --namespace contradict each other; leave out one or the other")
	default:
		return nil
	}
}

// write writes a snapshot to standard output, or to a file, which it replaces as a whole.
func (o *snapshotOptions) write(taken *snapshot.Snapshot, stdout io.Writer) (err error) {
	if o.output == hubflags.StdinName {
		return taken.Write(stdout)
	}
	file, err := os.CreateTemp(filepath.Dir(o.output), filepath.Base(o.output)+".*")
	if err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("--output: %w", err), os.Remove(file.Name()))
		}
	}()
	if err := errors.Join(file.Chmod(snapshotMode), taken.Write(file), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), o.output)
}

// describeSnapshot prints what a snapshot has, and what it lacks.
func describeSnapshot(stderr io.Writer, taken *snapshot.Snapshot) error {
	lines := []string{fmt.Sprintf("%d objects of %d kinds", len(taken.Objects), len(taken.Header.Kinds))}
	for _, unread := range taken.Header.Unread {
		if !unread.Absent {
			lines = append(lines, "not read: "+unread.Reason)
		}
	}
	if _, err := fmt.Fprintln(stderr, strings.Join(lines, "\n")); err != nil {
		return fmt.Errorf("printing what the snapshot has: %w", err)
	}
	return nil
}
