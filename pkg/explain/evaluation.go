// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// Evaluation is the scheduling result of one Placement, with the plan and the status that the controller would write.
type Evaluation struct {
	// Placement is the evaluated Placement.
	Placement *api.Placement
	// Skipped is the reason why the controller does not schedule the Placement; Result is nil then.
	Skipped string
	// Existing are the existing decisions of the Placement.
	Existing placement.Existing
	// Result is the scheduling result.
	Result *scheduling.Result
	// BudgetResult is the result of the removal budget.
	BudgetResult removalbudget.Result
	// Plan has the writes that lead from the existing decisions to those in Pages.
	Plan placement.Plan
	// Status is the status of the Placement after these writes.
	Status api.Status
	// Pages are the clusters of each PlacementDecision after these writes, by its name.
	Pages map[string][]string
	// LimitUnknown reports that the removal budget of the hub is not known, so that it may stall the removals.
	LimitUnknown bool
}

// Satisfied reports whether the condition PlacementSatisfied of the Placement would be true.
func (e Evaluation) Satisfied() bool {
	return meta.IsStatusConditionTrue(e.Status.Conditions, placement.ConditionSatisfied)
}

// Holds returns why clusters stay in the decisions that the Result does not select, by name. They are the clusters with the verdict
// document.VerdictHeld in every report.
func (e Evaluation) Holds() map[string]*document.Hold {
	holds := map[string]*document.Hold{}
	if e.Result == nil || !e.Result.KeepsLeaving() {
		return holds
	}
	for _, clusters := range e.Pages {
		for _, cluster := range clusters {
			stage := scheduling.StageTerminating
			if verdict, exists := e.Result.Verdict(cluster); exists {
				stage = verdict.Stage
			}
			if stage == scheduling.StageSelected {
				continue
			}
			hold := e.hold(cluster)
			holds[cluster] = document.NewHold(stage.String(), hold.Until, hold.Release)
		}
	}
	return holds
}

// hold returns what ends the stay of a cluster.
func (e Evaluation) hold(cluster string) removalbudget.Hold {
	if e.Result.Postponement() != nil {
		return removalbudget.Hold{Release: "stays until its removal is proved to follow from the latest state of the hub"}
	}
	return e.BudgetResult.Hold(cluster)
}

// Evaluate evaluates a Placement with the snapshot of a running hub, as State.Evaluate does, but without a State. The request must be that
// of the Placement in existing.
func Evaluate(
	request *scheduling.Request, snapshot *inventory.Snapshot, existing placement.Existing, options placement.Options, now time.Time,
) Evaluation {
	return evaluate(func() *scheduling.Request { return request }, snapshot, existing, options, now)
}

// evaluate runs the pipeline of the controller, decision.Evaluate. It calls request only if the Placement is managed.
func evaluate(
	request func() *scheduling.Request, snapshot *inventory.Snapshot, existing placement.Existing, options placement.Options, now time.Time,
) Evaluation {
	p := existing.Placement
	evaluation := Evaluation{Placement: p, Existing: existing, Status: p.Status}
	managed, reason := p.Managed()
	if evaluation.Skipped = reason; managed {
		evaluated := placement.Evaluate(request(), snapshot, existing, options, now)
		evaluation.Result, evaluation.Plan, evaluation.LimitUnknown = evaluated.Result, evaluated.Plan, evaluated.LimitUnknown
		evaluation.BudgetResult = evaluated.BudgetResult
		evaluation.Status = evaluated.Status(p, metav1.NewTime(now), true)
	}
	evaluation.Pages = pagesAfter(existing, evaluation.Plan)
	return evaluation
}

// unknownLimit is the warning for an Evaluation with LimitUnknown.
const unknownLimit = "the hub may hold what leaves: how much of it may leave at once was said by annotations that are not there any more or are " +
	"invalid, and only the flags --max-removal-percent and --max-removal-counts-replaced of the hub say it now; give them here too"

// pagesAfter returns the clusters of each page after the plan was carried out.
func pagesAfter(existing placement.Existing, plan placement.Plan) map[string][]string {
	pages := map[string][]string{}
	for _, page := range existing.Pages {
		pages[page.Name] = page.Clusters()
	}
	for _, write := range plan.Writes {
		pages[write.Desired.Name] = write.Desired.Clusters()
	}
	for _, page := range plan.Deletes {
		delete(pages, page.Name)
	}
	return pages
}
