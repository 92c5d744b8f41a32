package explain

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/decision"
	"github.com/placement-hub/placement-hub/pkg/decision/record"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// Evaluation is the answer for one placement, and what the controller would make of it.
type Evaluation struct {
	// Placement is the question.
	Placement *record.Placement
	// Skipped says why the controller leaves the placement alone; Result is nil then.
	Skipped string
	// Present are the decisions that the world has for it.
	Present decision.Present
	// Result is the answer.
	Result *scheduling.Result
	// Plan is what would be written to get from the present decisions to those in Pages.
	Plan decision.Plan
	// Status is the status of the placement after that.
	Status record.Status
	// Pages are the clusters of each PlacementDecision after that, by its name.
	Pages map[string][]string
	// LimitUnknown says that it is not known whether the hub would hold what leaves.
	LimitUnknown bool
}

// Evaluate answers a request of the placement that is present on what a running hub knows: as World.Evaluate does, without a World.
func Evaluate(
	request *scheduling.Request, snapshot *inventory.Snapshot, present decision.Present, options decision.Options, now time.Time,
) Evaluation {
	return evaluate(func() *scheduling.Request { return request }, snapshot, present, options, now)
}

// evaluate runs the pipeline of the controller: Schedule, and then decision.Evaluate. It asks for the request only if the placement is managed.
func evaluate(
	request func() *scheduling.Request, snapshot *inventory.Snapshot, present decision.Present, options decision.Options, now time.Time,
) Evaluation {
	placement := present.Placement
	evaluation := Evaluation{Placement: placement, Present: present, Status: placement.Status}

	managed, reason := placement.Managed()
	if evaluation.Skipped = reason; managed {
		evaluated := decision.Evaluate(scheduling.Schedule(request(), snapshot, present.Incumbents(), now), present, options, now)
		evaluation.Result, evaluation.Plan, evaluation.LimitUnknown = evaluated.Result, evaluated.Plan, evaluated.LimitUnknown
		evaluation.Status = evaluated.Status(placement, metav1.NewTime(now), true)
	}

	evaluation.Pages = pagesAfter(present, evaluation.Plan)

	return evaluation
}

// unknownLimit is what to tell where it is not known whether the hub holds what leaves.
const unknownLimit = "the hub may hold what leaves: how much of it may leave at once was said by annotations that are not there any more, and " +
	"only the flags --max-removal-percent and --max-removal-counts-replaced of the hub say it now; give them here too"

// pagesAfter are the decisions that stand once the plan is carried out.
func pagesAfter(present decision.Present, plan decision.Plan) map[string][]string {
	pages := map[string][]string{}

	for _, page := range present.Pages {
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
