// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"context"
	"errors"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
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
}

// Comparison is what is compared: a hub and the hub after objects of files were applied.
type Comparison struct {
	Given, Hub, After *explain.State
	Applied           []explain.Applied
	Now               time.Time
}

// Changes reports whether files may change what a system decides.
func (o *DiffOptions) Changes(given *explain.State) bool {
	return len(given.Federated.Namespaces) > 0 || slices.ContainsFunc(all, func(each *Tool) bool { return each.Changed(o, given) })
}

// Read reads what is compared from the hub. The error unread says which rights are missing for all that decides about Pods.
func (o *DiffOptions) Read(ctx context.Context, hub client.Client, given *explain.State) (state *explain.State, unread, err error) {
	state = &explain.State{}
	for _, each := range all {
		missing, err := each.Read(ctx, o, hub, given, state)
		if err != nil {
			return nil, nil, err
		}
		unread = errors.Join(unread, missing)
	}
	return state, unread, nil
}

// Compare compares the hub with what it would do if the files were applied.
func (o *DiffOptions) Compare(hub, given *explain.State, changes *statefile.ChangeReader, now time.Time) (explain.Differences, error) {
	differences := explain.Differences{Now: metav1.NewTime(now), Placements: []explain.Difference{}}
	o.Configure(hub)
	after, applied, err := changes.Apply(hub)
	if err != nil {
		return differences, err
	}
	c := &Comparison{Given: given, Hub: hub, After: after, Applied: applied, Now: now}
	for _, each := range all {
		if err := each.Compare(o, c, &differences); err != nil {
			return differences, err
		}
	}
	return differences, nil
}

// Unresolved returns an error about objects for which differences have no result.
func Unresolved(differences *explain.Differences) error {
	var errs []error
	for _, each := range all {
		if each.Unresolved != nil {
			errs = append(errs, each.Unresolved(differences))
		}
	}
	return errors.Join(errs...)
}
