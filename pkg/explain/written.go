package explain

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/placement-hub/placement-hub/pkg/decision"
	"github.com/placement-hub/placement-hub/pkg/decision/api"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// NewWrittenReport reports the status and the decisions that the hub has written for a Placement that was not evaluated; unanswered is the
// reason. The pages are those of its API and namespace.
func NewWrittenReport(placement *api.Placement, pages []*api.Page, unanswered string) Report {
	existing := decision.NewExisting(placement.API.Codec(), placement, pages)
	evaluation := Evaluation{Placement: placement, Existing: existing, Status: placement.Status, Pages: pagesAfter(existing, decision.Plan{})}
	report := NewReport(evaluation, false)
	report.Unanswered = unanswered

	return report
}

// Satisfied reports whether the condition PlacementSatisfied of the Placement would be true.
func (e Evaluation) Satisfied() bool {
	return meta.IsStatusConditionTrue(e.Status.Conditions, decision.ConditionSatisfied)
}

// Explain reports an Evaluation of one of the Placements of the State, with notes on cluster sets and decisions that it lacks. With all it
// lists the clusters out of scope too.
func (s *State) Explain(evaluation Evaluation, all bool) Report {
	report := NewReport(evaluation, all)

	if evaluation.Result == nil {
		return report
	}

	switch evaluation.Result.Outcome() {
	case scheduling.Decided:
		report.Notes = append(unboundSetNotes(evaluation.Result, s), uncountedNotes(evaluation.Result, s)...)
	case scheduling.Invalid, scheduling.Blocked:
		report.Notes = missingClusters(evaluation.Existing, s)
	}

	return report
}

// missingClusters returns a note on clusters that are kept in decisions although their ManagedClusters do not exist.
func missingClusters(existing decision.Existing, state *State) []string {
	kept := existing.Incumbents()
	for _, cluster := range state.Clusters {
		delete(kept, cluster.Name)
	}

	if len(kept) == 0 {
		return nil
	}

	return []string{"kept in the decisions, though there is no such ManagedCluster any more: " +
		strings.Join(slices.Sorted(maps.Keys(kept)), ", ")}
}

// causesOf returns the rejection causes of an unsatisfied Placement; nil for a satisfied one.
func causesOf(evaluation Evaluation) []CauseReport {
	if evaluation.Satisfied() {
		return nil
	}

	var causes []CauseReport
	for _, cause := range evaluation.Result.Rejections() {
		causes = append(causes, CauseReport{Verdict: cause.Stage.String(), Clause: cause.Clause, Clusters: cause.Clusters})
	}

	return causes
}

// behindOf returns how the existing decisions differ from the result; nil when they do not, or when the Placement has never been decided.
func behindOf(evaluation Evaluation) *BehindReport {
	if len(evaluation.Existing.Pages) == 0 && len(evaluation.Placement.Status.Conditions) == 0 {
		return nil
	}

	difference := newDifference(evaluation)
	if !difference.Differs() {
		return nil
	}

	behind := &BehindReport{Gained: []string{}, Lost: []string{}, Moved: []string{}}
	for _, gain := range difference.Gained {
		behind.Gained = append(behind.Gained, gain.Cluster)
	}

	for _, loss := range difference.Lost {
		behind.Lost = append(behind.Lost, loss.Cluster)
	}

	for _, move := range difference.Moved {
		behind.Moved = append(behind.Moved, move.Cluster)
	}

	slices.Sort(behind.Gained)

	return behind
}
