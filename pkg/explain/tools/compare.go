// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/dryrun"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
	"github.com/placement-hub/placement-hub/pkg/explain/writes"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// DiffOptions say what is compared.
type DiffOptions struct {
	Settings

	// Wanted selects the delivered objects of the report; nil selects all. Unfollowed leaves out those that follow Placements.
	Wanted     func(inventory.Key) bool
	Unfollowed bool
	// Workloads limits the workloads for which policies are compared; nil means all.
	Workloads []hubstate.Workload
	// Effects are those of the Namespaces in the files.
	Effects NamespaceEffects
	// Writes say how the objects of the files are written.
	Writes statefile.Writes
}

// Comparison is what is compared: a hub and the hub after objects of files were applied.
type Comparison struct {
	Given, Hub, After *explain.State
	Applied           []explain.Applied
	Now               time.Time
}

// Changes reports whether files may change what a system decides.
func (o *DiffOptions) Changes(given *explain.State) bool {
	return len(given.Federated.Namespaces) > 0 || slices.ContainsFunc(With[Reader](), func(each Reader) bool { return each.Changes(o, given) })
}

// Read reads what is compared from the hub. The error unread says which rights are missing for all that decides about Pods.
func (o *DiffOptions) Read(ctx context.Context, hub client.Client, given *explain.State) (state *explain.State, unread, err error) {
	state = &explain.State{}
	for _, each := range With[Reader]() {
		missing, err := each.Read(ctx, o, hub, given, state)
		if err != nil {
			return nil, nil, err
		}
		unread = errors.Join(unread, missing)
	}
	return state, unread, nil
}

// Ask asks the API server of a hub about the writes of the files.
func (o *DiffOptions) Ask(ctx context.Context, hub client.Client, changes *statefile.ChangeReader) error {
	manifests, err := changes.Manifests()
	if err == nil {
		o.Writes.Asked, err = dryrun.Ask(ctx, hub, manifests, &o.Writes)
	}
	if err != nil {
		return err
	}
	return dryrun.Namespaces(ctx, hub, manifests, &o.Writes)
}

// ReadLive reads the live objects of the files from a hub, which is asked about no writes.
func (o *DiffOptions) ReadLive(ctx context.Context, hub client.Reader, changes *statefile.ChangeReader) error {
	manifests, err := changes.Manifests()
	if err == nil {
		o.Writes.Asked, err = dryrun.Live(ctx, hub, manifests)
	}
	if err != nil {
		return err
	}
	return dryrun.Namespaces(ctx, hub, manifests, &o.Writes)
}

// Compare compares the hub with what it would do if the files were written. If it is not known how they are, and the results differ, Otherwise has
// the other one.
func (o *DiffOptions) Compare(hub, given *explain.State, changes *statefile.ChangeReader, now time.Time) (explain.Differences, error) {
	o.Configure(hub)
	differences, applied, err := o.compare(hub, given, changes, &o.Writes, now)
	if err != nil {
		return differences, err
	}
	unknown := notesOn(applied, "it is not known how these are written: %s; %s", func(one *explain.Applied) string { return one.Doubt })
	if len(unknown) == 0 {
		return differences, nil
	}
	other := o.Writes
	other.InDoubt = writes.ServerSide
	otherwise, _, err := o.compare(hub, given, changes, &other, now)
	if err != nil {
		return differences, err
	}
	if differences.Otherwise = otherwise.Except(differences); differences.Otherwise != nil {
		differences.Notes = append(differences.Notes, unknown...)
	}
	return differences, nil
}

func (o *DiffOptions) compare(
	hub, given *explain.State, changes *statefile.ChangeReader, w *statefile.Writes, now time.Time,
) (explain.Differences, []explain.Applied, error) {
	differences := explain.Differences{Now: metav1.NewTime(now), Placements: []explain.Difference{}}
	after, applied, err := changes.Apply(hub, w)
	if err != nil {
		return differences, nil, err
	}
	c := &Comparison{Given: given, Hub: hub, After: after, Applied: applied, Now: now}
	for _, each := range With[Differ]() {
		if err := each.Diff(o, c, &differences); err != nil {
			return differences, nil, err
		}
	}

	gone, unnamed := 0, []string{}
	for _, one := range applied {
		gone += len(one.Result.Gone)
		for _, path := range one.Result.Gone {
			if one.Kind.Kind != "Placement" { // Each Placement has notes of its own.
				unnamed = append(unnamed, path+" of "+one.Result.Object)
			}
		}
		ofPods := differences.Pods != nil && (isAdmitted(one.Kind) || one.Kind.GroupVersionKind == namespaceKind)
		if len(one.Result.Refused) > 0 && !ofPods {
			differences.Refused = append(differences.Refused, explain.Refusal{Object: one.Result.Object, Reasons: one.Result.Refused})
		}
	}
	if gone > 0 {
		note := document.Count(gone, "field") + " of live objects that the files do not set would go"
		if len(unnamed) > 0 {
			note += ": " + document.Abbreviate(unnamed)
		}
		differences.Notes = append(differences.Notes, note)
	}
	differences.Notes = append(differences.Notes, notesOn(applied, "the API server was not asked about %s, because %s",
		func(one *explain.Applied) string { return one.Offline })...)
	return differences, applied, nil
}

// notesOn returns a note for each reason that objects have, with their names.
func notesOn(applied []explain.Applied, format string, reasonOf func(*explain.Applied) string) []string {
	named := map[string][]string{}
	for i := range applied {
		if reason := reasonOf(&applied[i]); reason != "" {
			named[reason] = append(named[reason], applied[i].Result.Object)
		}
	}
	notes := make([]string, 0, len(named))
	for _, reason := range slices.Sorted(maps.Keys(named)) {
		notes = append(notes, fmt.Sprintf(format, document.Abbreviate(slices.Compact(named[reason])), reason))
	}
	return notes
}

// Unresolved returns an error about objects for which differences have no result.
func Unresolved(differences *explain.Differences) error {
	checkers := With[Checker]()
	errs := make([]error, 0, len(differences.Refused)+len(checkers))
	for _, refused := range differences.Refused {
		errs = append(errs, fmt.Errorf("%s would be refused, and is not in the comparison: %s", refused.Object, strings.Join(refused.Reasons, "; ")))
	}
	for _, each := range checkers {
		errs = append(errs, each.Check(differences))
	}
	return errors.Join(errs...)
}
