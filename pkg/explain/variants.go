// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"slices"
	"time"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// Variants evaluates Placements of a State to their settled end, in that State and in variants of it. The State is read once. The cost of a
// variant grows with what differs and with the Placements that depend on it, not with the State. It is not safe for concurrent use.
type Variants struct {
	base      *State
	now       time.Time
	compiler  *selector.Compiler
	inventory *inventory.Inventory
	snapshot  *inventory.Snapshot
	keys      []inventory.Key
	settled   map[inventory.Key]*settledPlacement
	// delivery is nil until objects are evaluated.
	delivery *delivery
}

// settledPlacement is a Placement with the evaluation at its settled end.
type settledPlacement struct {
	*placementInput
	evaluation Evaluation
}

// NewVariants evaluates the wanted Placements of the State, all of them if wanted is nil. Those that the hub does not schedule have an Evaluation
// that is Skipped. Every Placement sees the decisions of others as they are in the State. The State must not change afterwards.
func (s *State) NewVariants(now time.Time, wanted func(inventory.Key) bool) *Variants {
	v := &Variants{base: s, now: now, compiler: selector.NewCompiler(), settled: map[inventory.Key]*settledPlacement{}}
	v.inventory = s.inventory(v.compiler)
	inputs := map[inventory.Key]*placementInput{}
	for _, p := range s.placements() {
		key := p.Key()
		if wanted != nil && !wanted(key) {
			continue
		}
		input := &placementInput{placement: p}
		if managed, _ := p.Managed(); managed {
			input.request = p.Request(v.compiler)
			v.inventory.Subscribe(key, input.request.Dependencies())
		}
		inputs[key], v.keys = input, append(v.keys, key)
	}
	v.snapshot = v.inventory.SnapshotFor(v.keys...).WithDone(s.Done)
	pages := s.PagesByPlacement()
	for _, key := range v.keys {
		if s.cancelled() {
			break
		}
		input := inputs[key]
		existing := placement.NewExisting(input.placement.API.Codec(), input.placement, pages[key])
		evaluation := settle(input.request, v.snapshot, existing, s.options(), now)
		v.settled[key] = &settledPlacement{placementInput: input, evaluation: evaluation}
	}
	return v
}

// Keys returns the keys of the wanted Placements, sorted by namespace, name and API.
func (v *Variants) Keys() []inventory.Key { return v.keys }

// Base returns the evaluation of a Placement in the State; false if it is not wanted, does not exist, or was not evaluated because the State
// was cancelled.
func (v *Variants) Base(key inventory.Key) (Evaluation, bool) {
	settled, known := v.settled[key]
	if !known {
		return Evaluation{}, false
	}
	return settled.evaluation, true
}

// Snapshot returns the clusters of the State.
func (v *Variants) Snapshot() *inventory.Snapshot { return v.snapshot }

// Variant is a Placement in a variant of a State.
type Variant struct {
	// Before is the Evaluation of the Placement in the State; nil if that does not have it.
	Before *Evaluation
	// After is that in the variant, whose clusters are in the Snapshot.
	After    Evaluation
	Snapshot *inventory.Snapshot
}

// In evaluates Placements in another State, whose Placements and decisions are the same. It asks for each of the State whether it is to be
// evaluated; depends reports that its result may differ. Objects that do not differ must be the same pointers in both States. The functions must
// not use v.
func (v *Variants) In(after *State, wanted func(key inventory.Key, depends bool) bool, take func(Variant)) {
	concerned := v.base.applyDiff(v.inventory, after)
	defer after.applyDiff(v.inventory, v.base)
	snapshot := v.inventory.Snapshot().WithDone(v.base.Done)
	for _, key := range v.keys {
		before := v.settled[key]
		if before == nil || v.base.cancelled() || !wanted(key, concerned[key]) {
			continue
		}
		evaluation := settle(before.request, snapshot, before.evaluation.Existing, v.base.options(), v.now)
		take(Variant{Before: &before.evaluation, After: evaluation, Snapshot: snapshot})
	}
}

// InChanged evaluates the wanted Placements of another State, which may have other Placements. It is like In otherwise.
func (v *Variants) InChanged(after *State, wanted func(inventory.Key) bool, take func(Variant)) {
	v.base.applyDiff(v.inventory, after)
	defer after.applyDiff(v.inventory, v.base)
	snapshot := v.inventory.Snapshot().WithDone(v.base.Done)
	for _, p := range after.placements() {
		if v.base.cancelled() || !wanted(p.Key()) {
			continue
		}
		before := v.settled[p.Key()]
		request, existing := v.changed(p, before)
		variant := Variant{After: settle(request, snapshot, existing, after.options(), v.now), Snapshot: snapshot}
		if before != nil {
			variant.Before = &before.evaluation
		}
		take(variant)
	}
}

// changed returns the request of a Placement of another State, nil if the hub does not schedule it, and its decisions before that State.
func (v *Variants) changed(p *api.Placement, before *settledPlacement) (*scheduling.Request, placement.Existing) {
	if before != nil && before.placement.Object == p.Object {
		return before.request, before.evaluation.Existing
	}
	var request *scheduling.Request
	if managed, _ := p.Managed(); managed {
		request = p.Request(v.compiler)
	}
	if before == nil {
		return request, placement.NewExisting(p.API.Codec(), p, nil)
	}
	existing := placement.NewExisting(p.API.Codec(), p, before.evaluation.Existing.AllPages())
	existing.Before = existing.RequestBefore(before.placement, v.compiler)
	return request, existing
}

// maxRounds bounds the evaluations until a Placement is settled. Each but the last one writes, or waits for the end of a hold.
const maxRounds = 16

// settle evaluates a Placement, as the hub does after each write and after each hold that ends by itself, until nothing is to be written any
// more. The Existing of the Evaluation are the decisions then.
func settle(
	request *scheduling.Request, snapshot *inventory.Snapshot, existing placement.Existing, options placement.Options, now time.Time,
) Evaluation {
	for round := 1; ; round++ {
		evaluation := evaluate(func() *scheduling.Request { return request }, snapshot, existing, options, now)
		again := evaluation.BudgetResult.RequeueAt
		waits := evaluation.BudgetResult.Held && again.After(now)
		if evaluation.Result == nil || evaluation.Plan.Empty() && !waits || round == maxRounds {
			return evaluation
		}
		existing = written(existing, evaluation)
		if waits && evaluation.Plan.Empty() {
			now = again
		}
	}
}

// written returns the decisions after the writes of an Evaluation, with its status.
func written(existing placement.Existing, evaluation Evaluation) placement.Existing {
	after := *existing.Placement
	after.Status = evaluation.Status
	pages := map[string]*api.Page{}
	for _, page := range existing.AllPages() {
		pages[page.Name] = page
	}
	for _, write := range evaluation.Plan.Writes {
		pages[write.Desired.Name] = write.Desired
		if write.Delete {
			delete(pages, write.Desired.Name)
		}
	}
	for _, page := range evaluation.Plan.Deletes {
		delete(pages, page.Name)
	}
	names := make([]string, 0, len(pages))
	for name := range pages {
		names = append(names, name)
	}
	slices.Sort(names)
	kept := make([]*api.Page, 0, len(names))
	for _, name := range names {
		kept = append(kept, pages[name])
	}
	next := placement.NewExisting(existing.Codec, &after, kept)
	next.Before, next.Taken = existing.Before, existing.Taken
	return next
}

// sameObjects reports whether two lists are the same slice, so that nothing in them differs.
func sameObjects[T any](before, after []T) bool {
	return len(before) == len(after) && (len(before) == 0 || &before[0] == &after[0])
}

// sameBindings reports whether all that binds sets is the same in two States.
func sameBindings(before, after *State) bool {
	return sameObjects(before.Bindings, after.Bindings) && sameObjects(before.ClusterSets, after.ClusterSets) &&
		sameObjects(before.Accounts, after.Accounts) && sameObjects(before.ClusterRoles, after.ClusterRoles) &&
		sameObjects(before.ClusterRoleBindings, after.ClusterRoleBindings)
}
