// SPDX-License-Identifier: Apache-2.0

package simulating

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/answers"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/explain/tools"
	"github.com/placement-hub/placement-hub/pkg/explain/whatif"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// Options are the flags of the command.
type Options struct {
	hubflags.Files
	hubflags.Settings
	hubflags.Labels
	ChangeFlags
	hubflags.Ask

	Paths      []string
	HubPaths   []string
	Placements []string
	Now        string
	Output     string
	All        bool
	ShowKept   bool
	ExitCode   bool
	// AllNamespaces says what is the default.
	AllNamespaces bool
	OnlyNamespace string

	// manifests are the contents of the files, and added the objects in them that are added.
	manifests [][]byte
	added     *explain.State
}

// Run evaluates and prints. It reports whether the changes make a difference.
func (o *Options) Run(ctx context.Context, stdin io.Reader, stdout io.Writer) (differs bool, err error) {
	if err := o.ParseKinds(); err != nil {
		return false, err
	}
	now, names, err := o.parse()
	if err != nil {
		return false, exit.Mistake(err)
	}
	if hubflags.TakeWide(&o.Output) {
		o.All, o.ShowKept = true, true
	}
	in, names, differs, err := o.readOrAsk(ctx, names, stdin, stdout)
	if in == nil {
		return differs, err
	}
	now = o.TimeOf(now, o.Now)
	if len(in.additions) > 0 && len(in.changes) == 0 {
		return o.printWhatIf(stdout, tools.WithoutPlacements(metav1.NewTime(now)), in)
	}
	wanted := func(key inventory.Key) bool {
		return (len(names) == 0 || names[key.NamespacedName]) && o.inNamespace(key)
	}
	reported := &tools.ReportOptions{
		All: o.All, Wanted: wanted, PlacementsOnly: len(names) > 0, Namespace: o.reported(), Files: !o.live() && len(in.changes) == 0,
	}
	some, missing := o.checkWanted(in.state, names, reported)
	if !some {
		return false, missing
	}
	settings := o.HubSettings()
	settings.Configure(in.state)
	in.state.Done = ctx.Done()
	if len(in.changes) > 0 {
		differs, err = o.whatIf(ctx, stdout, in, wanted, now)
		return differs, errors.Join(err, missing)
	}
	reports, err := reported.Report(in.state, now)
	if err == nil {
		err = interrupted(ctx)
	}
	if err != nil {
		return false, err
	}
	return false, errors.Join(printers.Print(stdout, printers.Format(o.Output), reports, answers.ReportStyle), missing)
}

// interrupted returns an error if the evaluations were cancelled, whose results mean nothing then.
func interrupted(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("the simulation was interrupted: %w", err)
	}
	return nil
}

// reported returns the namespace of what is reported; empty for all. In files that describe the hub, --namespace is that of objects without one, and
// selects as well until the deprecation ends.
func (o *Options) reported() string {
	if o.AllNamespaces {
		return ""
	}
	return cmp.Or(o.OnlyNamespace, o.Namespace)
}

// inNamespace reports whether an object is in the namespace that is reported.
func (o *Options) inNamespace(key inventory.Key) bool {
	return o.reported() == "" || o.reported() == key.Namespace
}

// whatIf prints the differences that the changes would make.
func (o *Options) whatIf(
	ctx context.Context, stdout io.Writer, in *simulated, wanted func(inventory.Key) bool, now time.Time,
) (differs bool, err error) {
	after, err := whatif.Apply(in.state, now, in.changes...)
	if err != nil {
		return false, err
	}
	whatIf := explain.NewWhatIf(in.state, after, wanted, now)
	if len(o.Placements) == 0 {
		whatIf = whatIf.WithObjects(in.state, after, o.inNamespace, now)
	}
	if err := interrupted(ctx); err != nil {
		return false, err
	}
	for _, change := range in.changes {
		whatIf.Changes = append(whatIf.Changes, change.String())
	}
	return o.printWhatIf(stdout, whatIf, in)
}

// printWhatIf adds what the added objects mean that no Placement depends on, and prints all.
func (o *Options) printWhatIf(stdout io.Writer, whatIf explain.WhatIf, in *simulated) (differs bool, err error) {
	var incomplete error
	for _, added := range in.additions {
		missing, err := added.System.Simulate(added, &whatIf, o.reported())
		if err != nil {
			return false, err
		}
		incomplete = errors.Join(incomplete, missing)
	}
	return whatIf.Differs(), errors.Join(printers.Print(stdout, printers.Format(o.Output), whatIf, answers.DifferenceStyle(o.ShowKept)), incomplete)
}

// parse parses the flags. Its errors are usage errors.
func (o *Options) parse() (now time.Time, wanted map[types.NamespacedName]bool, err error) {
	if now, err = hubflags.ParseNow(o.Now); err != nil {
		return now, nil, err
	}
	if err := errors.Join(o.ParseLabels(), o.checkInputs(), o.checkNamespaces(), o.CheckSettings()); err != nil {
		return now, nil, err
	}
	switch {
	case !slices.Contains(printers.WideFormats(), printers.Format(o.Output)):
		return now, nil, fmt.Errorf("--output: unknown format %q; use one of %v", o.Output, printers.WideFormats())
	case o.Text != "" && len(o.Placements) > 0:
		return now, nil, errors.New("--selector, --placement: both select placements; leave out one or the other")
	case len(o.Changes) > 0 && o.All:
		return now, nil, errors.New("--all: a difference has no clusters out of scope; leave it out")
	case len(o.Changes) == 0 && (o.ExitCode || o.ShowKept):
		return now, nil, errors.New("--exit-code, --show-kept: they are of a difference; say what would change, by --drain, say")
	}
	wanted, err = ParsePlacements(o.Placements)
	return now, wanted, err
}

// checkNamespaces checks the flags that select a namespace. Without files, --namespace has no other meaning.
func (o *Options) checkNamespaces() error {
	selects := o.Namespace != "" && len(o.Paths)+len(o.HubPaths) == 0
	switch {
	case o.AllNamespaces && (o.OnlyNamespace != "" || selects):
		return errors.New("--all-namespaces contradicts --only-namespace, and without files --namespace; leave out one or the other")
	case o.OnlyNamespace != "" && selects:
		return errors.New("--only-namespace, --namespace: without files both select the namespace to report; leave out one or the other")
	default:
		return nil
	}
}

// checkInputs checks the flags for the origin of the State.
func (o *Options) checkInputs() error {
	inputs := slices.Concat(o.Paths, o.HubPaths)
	first := slices.Index(inputs, hubflags.StdinName)
	switch {
	case o.Adding && len(o.Paths) == 0:
		return errors.New("--add: name the files with the clusters that are added with -f")
	case !o.Adding && len(o.Paths) > 0 && len(o.HubPaths) > 0:
		return errors.New("--filename, --hub: both name what the hub holds; leave out one, or say with --add that -f is added to it")
	case first >= 0 && slices.Contains(inputs[first+1:], hubflags.StdinName):
		return errors.New("--filename, --hub: standard input (-) can be read only once; name it once")
	case !o.live() && o.Connects() != "":
		return fmt.Errorf("--filename, --hub: what the hub holds is read from files, so %s means nothing; leave out one or the other", o.Connects())
	default:
		return nil
	}
}
