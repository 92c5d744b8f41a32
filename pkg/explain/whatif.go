// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	requests "github.com/placement-hub/placement-hub/pkg/clusterrequest/explain"
	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	pods "github.com/placement-hub/placement-hub/pkg/podscheduling/explain"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// WhatIf is the difference that changes of a hub would make to its decisions. Its JSON names are stable: fields may be added, and none is
// renamed or removed.
type WhatIf struct {
	// Now is the time of the evaluation.
	Now metav1.Time `json:"now"`
	// Changes describe the changes, such as "label c7 region=eu".
	Changes []string `json:"changes"`
	// Summary counts the Placements and clusters that would differ.
	Summary WhatIfSummary `json:"summary"`
	// Placements are the differences of the Placements whose decisions would differ, or would become limited in time. The Placements that
	// lose the most clusters by the changes come first.
	Placements []Difference `json:"placements"`
	// Stalled are the Placements without a valid result after the changes, by namespace, name and API: their decisions stay. A Placement whose
	// removals are held while clusters join is one of Placements.
	Stalled []StalledPlacement `json:"stalled"`
	// Objects are what the changes would do to objects that are delivered to clusters, those that lose most first; ObjectSummary counts them.
	// Both are absent if there are no such objects. ObjectNotes name what of them could not be read.
	Objects       []federated.Difference `json:"objects,omitempty"`
	ObjectSummary *federated.Summary     `json:"objectSummary,omitempty"`
	ObjectNotes   []string               `json:"objectNotes,omitempty"`
	// Workloads say where the Pods of added workloads may run.
	Workloads []pods.Report `json:"workloads,omitempty"`
	// Pods is what added policies, classes, Tenants and Nodes change for other workloads; nil if nothing of that kind is added.
	Pods *pods.Differences `json:"pods,omitempty"`
	// Requests is what the added objects change for ClusterRequests; nil if nothing that decides about them is added.
	Requests *requests.Difference `json:"requests,omitempty"`
}

// StalledPlacement is a Placement whose decisions cannot change, because it is invalid or its removals are held.
type StalledPlacement struct {
	// Placement is "namespace/name".
	Placement string `json:"placement"`
	// API is the API group of the Placement, if that is not cluster.open-cluster-management.io.
	API string `json:"api,omitempty"`
	// Reason says why there is no result, and what to correct.
	Reason string `json:"reason"`
}

// Differs reports whether the changes would change any decision, the next admission of a workload, where an object is delivered, or what a
// ClusterRequest gets.
func (w WhatIf) Differs() bool {
	return w.Summary.Losing+w.Summary.Gaining+w.Summary.Moving > 0 || w.Pods != nil && w.Pods.Differ() || w.Requests.Differ() ||
		slices.ContainsFunc(w.Objects, federated.Difference.Due)
}

// placementPair is a Placement in two States. Before is nil when the first State does not have it.
type placementPair struct {
	before, after *placementInput
}

// placementInput is a Placement of a State with its request; request is nil when the hub does not schedule it.
type placementInput struct {
	placement *api.Placement
	request   *scheduling.Request
}

// comparison has two States and their snapshots.
type comparison struct {
	before, after                 *State
	pages                         map[inventory.Key][]*api.Page
	compiler                      *selector.Compiler
	beforeSnapshot, afterSnapshot *inventory.Snapshot
	now                           time.Time
}

// NewWhatIf computes the differences of the decisions of the wanted Placements, all of them when wanted is nil, if the hub became the State
// after, which must have the same decisions. Placements that do not depend on the change are not evaluated.
//
// The base are the existing decisions. A Placement that has none yet gets those of its result without the change. Differences that come
// without the change are marked. Every Placement is evaluated independently, as by State.Evaluate.
func NewWhatIf(hub, after *State, wanted func(inventory.Key) bool, now time.Time) WhatIf {
	c := &comparison{before: hub, after: after, pages: hub.PagesByPlacement(), compiler: selector.NewCompiler(), now: now}
	known := hub.inventory(c.compiler)
	before := c.inputs(hub, wanted)
	keys := make([]inventory.Key, 0, len(before))
	for key, input := range before {
		if input.request != nil {
			known.Subscribe(key, input.request.Dependencies())
			keys = append(keys, key)
		}
	}

	c.beforeSnapshot = known.SnapshotFor(keys...).WithDone(hub.Done)
	concerned := hub.applyDiff(known, after)
	c.afterSnapshot = known.Snapshot().WithDone(hub.Done)
	var (
		questions []placementPair
		unchanged int
	)

	for _, placement := range after.placements() {
		key := placement.Key()
		if wanted != nil && !wanted(key) {
			continue
		}
		p := placementPair{before: before[key]}
		if p.before != nil && p.before.placement.Object == placement.Object {
			p.after = p.before
		} else {
			p.after, concerned[key] = c.newInput(placement), true
		}

		if concerned[key] || c.maybeStalled(p.after) {
			questions = append(questions, p)
		} else {
			unchanged++
		}
	}

	outcomes := c.compareAll(questions)
	whatIf := collect(outcomes)
	whatIf.Now, whatIf.Summary = metav1.NewTime(now), summarize(outcomes, unchanged)
	return whatIf
}

// inputs returns the inputs of the wanted Placements of a State.
func (c *comparison) inputs(state *State, wanted func(inventory.Key) bool) map[inventory.Key]*placementInput {
	all := make(map[inventory.Key]*placementInput, len(state.Placements))
	for _, object := range state.Placements {
		placement := api.Read(object)
		if key := placement.Key(); wanted == nil || wanted(key) {
			all[key] = c.newInput(placement)
		}
	}
	return all
}

func (c *comparison) newInput(placement *api.Placement) *placementInput {
	managed, _ := placement.Managed()
	if !managed {
		return &placementInput{placement: placement}
	}
	return &placementInput{placement: placement, request: placement.Request(c.compiler)}
}

// maybeStalled reports whether the result of a Placement that the change does not affect may be stalled, as far as this can be known
// without an evaluation.
func (c *comparison) maybeStalled(a *placementInput) bool {
	if a.request == nil {
		return false
	}
	scope := c.afterSnapshot.Scope(a.request.Key.Namespace, a.request.ClusterSets)
	return len(a.request.Errors) > 0 || meta.IsStatusConditionTrue(a.placement.Status.Conditions, removalbudget.Condition) ||
		slices.ContainsFunc(scope.Eligible, func(set *inventory.ClusterSet) bool { return set.Err != nil })
}

// outcome is the result of one comparison.
type outcome struct {
	difference Difference
	// unsatisfied reports that the Placement would cease to be satisfied.
	unsatisfied bool
}

// compareAll compares all pairs with the goroutines that the first State permits. The outcomes are in the order of the pairs, and meaningless once
// the State is cancelled.
func (c *comparison) compareAll(questions []placementPair) []outcome {
	outcomes := make([]outcome, len(questions))
	var (
		workers sync.WaitGroup
		next    atomic.Int64
	)

	for range min(cmp.Or(c.before.Workers, runtime.GOMAXPROCS(0)), len(questions)) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(questions) && !c.before.cancelled(); i = int(next.Add(1)) - 1 {
				outcomes[i] = c.compare(questions[i])
			}
		})
	}
	workers.Wait()
	return outcomes
}

// compare evaluates a Placement in both States.
func (c *comparison) compare(p placementPair) outcome {
	key := p.after.placement.Key()
	pages := c.pages[key]
	var before Evaluation
	if p.before != nil {
		before = c.evaluate(p.before, nil, c.before, c.beforeSnapshot, pages)
		if decided := before.Result != nil && before.Result.Outcome() == scheduling.Decided; decided && len(pages) == 0 {
			pages = writtenPages(before.Plan)
			before = c.evaluate(p.before, nil, c.before, c.beforeSnapshot, pages)
		}
	}

	after := c.evaluate(p.after, p.before, c.after, c.afterSnapshot, pages)
	difference := newDifference(after)
	difference.New = p.before == nil
	difference.Notes = notesOf(after, c.after)
	if difference.Differs() { // Others are not shown.
		difference.Notes = append(difference.Notes, difference.misspelt(after)...)
	}
	if difference.Stalled != "" {
		difference.Stalled = stalledMessage(after, "first")
	}
	if p.before != nil {
		markAnyway(&difference, before)
	}

	difference.ChangesAt = addedRequeue(before.Result, after.Result)
	return outcome{difference: difference, unsatisfied: satisfied(before) && !satisfied(after)}
}

// evaluate evaluates a Placement in a State; former is the Placement before a change of it, nil for none.
func (c *comparison) evaluate(a, former *placementInput, state *State, snapshot *inventory.Snapshot, pages []*api.Page) Evaluation {
	existing := placement.NewExisting(a.placement.API.Codec(), a.placement, pages)
	if former != nil {
		existing.Before = existing.RequestBefore(former.placement, c.compiler)
	}
	return evaluate(func() *scheduling.Request { return a.request }, snapshot, existing, state.options(), c.now)
}

// writtenPages returns the pages that a plan creates where none exist.
func writtenPages(plan placement.Plan) []*api.Page {
	pages := make([]*api.Page, 0, len(plan.Writes))
	for _, write := range plan.Writes {
		pages = append(pages, write.Desired)
	}
	return pages
}

// addedRequeue returns the requeue time of the second result; nil when it has none, or when the first result has to be computed again by
// then.
func addedRequeue(first, second *scheduling.Result) *metav1.Time {
	switch {
	case second == nil || second.RequeueAt.IsZero():
		return nil
	case first != nil && !first.RequeueAt.IsZero() && !second.RequeueAt.Before(first.RequeueAt):
		return nil
	default:
		return &metav1.Time{Time: second.RequeueAt}
	}
}

func satisfied(evaluation Evaluation) bool {
	return slices.ContainsFunc(evaluation.Status.Conditions, func(condition metav1.Condition) bool {
		return condition.Type == clusterv1beta1.PlacementConditionSatisfied && condition.Status == metav1.ConditionTrue
	})
}

// collect sorts the outcomes into the lists of a WhatIf.
func collect(outcomes []outcome) WhatIf {
	w := WhatIf{Changes: []string{}, Placements: []Difference{}, Stalled: []StalledPlacement{}}
	for _, outcome := range outcomes {
		difference := outcome.difference
		switch {
		case difference.Stalled != "" && !difference.Differs():
			w.Stalled = append(w.Stalled, StalledPlacement{Placement: difference.Placement, API: difference.API, Reason: difference.Stalled})
		case difference.Differs() || difference.ChangesAt != nil:
			w.Placements = append(w.Placements, difference)
		default:
		}
	}

	slices.SortStableFunc(w.Placements, func(a, b Difference) int {
		one, other := a.countChanges(), b.countChanges()
		return cmp.Or(
			cmp.Compare(other.lost, one.lost), cmp.Compare(other.gained, one.gained), cmp.Compare(other.moved, one.moved),
			cmp.Compare(len(b.Lost), len(a.Lost)),
		)
	})
	return w
}
