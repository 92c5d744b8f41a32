// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// Unsatisfied lists the Placements that do not get the clusters they ask for. Its JSON names are stable, as those of Report.
type Unsatisfied struct {
	// Now is the time of the evaluation.
	Now metav1.Time `json:"now"`
	// Namespace is the namespace of the listed Placements; absent for all namespaces.
	Namespace string `json:"namespace,omitempty"`
	// Evaluated is the number of Placements, satisfied ones included.
	Evaluated int `json:"evaluated"`
	// Placements are the unsatisfied Placements: stalled ones first, then by name and API.
	Placements []UnsatisfiedPlacement `json:"placements"`
	// ChangesAt is the earliest time at which a result can change without an event.
	ChangesAt *metav1.Time `json:"changesAt,omitempty"`
}

// UnsatisfiedPlacement is an unsatisfied Placement.
type UnsatisfiedPlacement struct {
	// Placement is "namespace/name", and API as in Report.
	Placement string `json:"placement"`
	API       string `json:"api,omitempty"`
	// Stalled reports that there is no valid result, so that the existing decisions stay.
	Stalled bool `json:"stalled,omitempty"`
	// Selected is the number of clusters in the decisions, and Wanted spec.numberOfClusters; absent for all. Uncounted reports that
	// Selected is not known, because the PlacementDecisions could not be read.
	Selected  int    `json:"selected"`
	Uncounted bool   `json:"uncounted,omitempty"`
	Wanted    *int32 `json:"wanted,omitempty"`
	// Reason and Message are those of the condition that reports the problem.
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// Cause is the rejection cause of the most clusters in scope; absent when no cluster is in scope, or without a result.
	Cause *CauseReport `json:"cause,omitempty"`
}

// Unsatisfied evaluates the wanted Placements, all of them when wanted is nil, and lists the unsatisfied ones.
func (s *State) Unsatisfied(now time.Time, wanted func(inventory.Key) bool) Unsatisfied {
	if wanted == nil {
		wanted = func(inventory.Key) bool { return true }
	}
	list := Unsatisfied{Now: metav1.NewTime(now), Placements: []UnsatisfiedPlacement{}}

	for _, evaluation := range s.Evaluate(now, wanted) {
		list.Evaluated++
		if result := evaluation.Result; result != nil && !result.RequeueAt.IsZero() &&
			(list.ChangesAt == nil || result.RequeueAt.Before(list.ChangesAt.Time)) {
			list.ChangesAt = &metav1.Time{Time: result.RequeueAt}
		}
		if evaluation.Result != nil && !evaluation.Satisfied() {
			list.Placements = append(list.Placements, newUnsatisfied(evaluation))
		}
	}

	list.sort()
	return list
}

// WrittenUnsatisfied lists the Placements whose status says that they are unsatisfied, without an evaluation. It reads only the Placements
// and the decisions of the State.
func (s *State) WrittenUnsatisfied() Unsatisfied {
	list := Unsatisfied{Evaluated: len(s.Placements), Placements: []UnsatisfiedPlacement{}}
	pages := s.PagesByPlacement()
	for _, p := range s.placements() {
		conditions := p.Status.Conditions
		existing := placement.NewExisting(p.API.Codec(), p, pages[p.Key()])
		reported := UnsatisfiedPlacement{
			Placement: p.Namespace + "/" + p.Name, API: namedAPI(p), Wanted: p.Wanted,
			Selected: len(existing.Incumbents()), Uncounted: slices.Contains(s.Uncounted, p.API),
			Stalled: meta.IsStatusConditionTrue(conditions, placement.ConditionMisconfigured) ||
				meta.IsStatusConditionTrue(conditions, removalbudget.Condition),
		}
		if managed, _ := p.Managed(); managed && reported.setReason(conditions) {
			list.Placements = append(list.Placements, reported)
		}
	}

	list.sort()
	return list
}

// sort moves stalled Placements to the front.
func (u Unsatisfied) sort() {
	last := func(held bool) int {
		if held {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(u.Placements, func(a, b UnsatisfiedPlacement) int {
		return cmp.Or(cmp.Compare(last(a.Stalled), last(b.Stalled)), cmp.Compare(a.Placement, b.Placement), cmp.Compare(a.API, b.API))
	})
}

// setReason copies reason and message of the most severe condition. It returns false when no condition reports a problem.
func (p *UnsatisfiedPlacement) setReason(conditions []metav1.Condition) bool {
	for _, wrong := range []metav1.Condition{
		{Type: placement.ConditionMisconfigured, Status: metav1.ConditionTrue},
		{Type: removalbudget.Condition, Status: metav1.ConditionTrue},
		{Type: placement.ConditionSatisfied, Status: metav1.ConditionFalse},
	} {
		if condition := meta.FindStatusCondition(conditions, wrong.Type); condition != nil && condition.Status == wrong.Status {
			p.Reason, p.Message = condition.Reason, condition.Message
			return true
		}
	}
	return false
}

func newUnsatisfied(evaluation Evaluation) UnsatisfiedPlacement {
	placement := evaluation.Placement
	reported := UnsatisfiedPlacement{
		Placement: placement.Namespace + "/" + placement.Name, API: namedAPI(placement), Wanted: placement.Wanted,
		Stalled: evaluation.Result.Outcome() != scheduling.Decided, Selected: len(evaluation.Result.Selected),
	}
	if reported.Stalled && !evaluation.Result.Applies() {
		reported.Selected = len(evaluation.Existing.Incumbents())
	}
	reported.setReason(evaluation.Status.Conditions)

	if causes := evaluation.Result.Rejections(); len(causes) > 0 {
		reported.Cause = &CauseReport{Verdict: causes[0].Stage.String(), Clause: causes[0].Clause, Clusters: causes[0].Clusters}
	}
	return reported
}

// EarliestChange returns the earliest time at which a result can change without an event; zero for never.
func (u Unsatisfied) EarliestChange() time.Time {
	if u.ChangesAt == nil {
		return time.Time{}
	}
	return u.ChangesAt.Time
}
