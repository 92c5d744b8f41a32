package explain

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/decision"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// World is what a hub holds that has to do with placements. The objects are as an API server returns them, defaults filled in.
type World struct {
	Clusters    []*clusterv1.ManagedCluster
	ClusterSets []*clusterv1beta2.ManagedClusterSet
	Bindings    []*clusterv1beta2.ManagedClusterSetBinding
	Scores      []*clusterv1alpha1.AddOnPlacementScore
	Placements  []*clusterv1beta1.Placement
	Decisions   []*clusterv1beta1.PlacementDecision
}

// Evaluate answers for the placements that are wanted, all of them when wanted is nil, in the order of namespace and name. Every one of
// them sees the decisions of the world as they are, and none sees what another is answered now.
func (w *World) Evaluate(now time.Time, wanted func(types.NamespacedName) bool) []Evaluation {
	compiler := selector.NewCompiler()
	snapshot := w.inventory(compiler).Snapshot()
	pages := w.pagesByPlacement()
	placements := slices.SortedFunc(slices.Values(w.Placements), func(a, b *clusterv1beta1.Placement) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	evaluations := make([]Evaluation, 0, len(placements))

	for _, placement := range placements {
		key := types.NamespacedName{Namespace: placement.Namespace, Name: placement.Name}
		if wanted != nil && !wanted(key) {
			continue
		}

		evaluations = append(evaluations, evaluate(compiler, snapshot, decision.NewPresent(placement, pages[key]), now))
	}

	return evaluations
}

func (w *World) inventory(compiler *selector.Compiler) *inventory.Inventory {
	known := inventory.New(compiler)

	for _, set := range w.ClusterSets {
		known.SetClusterSet(set)
	}

	for _, binding := range w.Bindings {
		known.SetBinding(binding)
	}

	for _, scores := range w.Scores {
		known.SetScores(scores)
	}

	for _, cluster := range w.Clusters {
		known.SetCluster(cluster)
	}

	for _, page := range w.Decisions {
		known.SetDecision(page)
	}

	return known
}

func (w *World) pagesByPlacement() map[types.NamespacedName][]*clusterv1beta1.PlacementDecision {
	pages := map[types.NamespacedName][]*clusterv1beta1.PlacementDecision{}

	for _, page := range w.Decisions {
		for _, name := range decision.PlacementsOf(page) {
			key := types.NamespacedName{Namespace: page.Namespace, Name: name}
			pages[key] = append(pages[key], page)
		}
	}

	return pages
}

// Evaluation is the answer for one placement, and what the controller would make of it.
type Evaluation struct {
	// Placement is the question.
	Placement *clusterv1beta1.Placement
	// Skipped says why the controller leaves the placement alone; Result is nil then.
	Skipped string
	// Result is the answer.
	Result *scheduling.Result
	// Plan is what would be written to get from the present decisions to those in Pages.
	Plan decision.Plan
	// Status is the status of the placement after that.
	Status clusterv1beta1.PlacementStatus
	// Pages are the clusters of each PlacementDecision after that, by its name.
	Pages map[string][]string
}

func evaluate(compiler *selector.Compiler, snapshot *inventory.Snapshot, present decision.Present, now time.Time) Evaluation {
	placement := present.Placement
	evaluation := Evaluation{Placement: placement, Skipped: skipped(placement), Status: placement.Status}

	if evaluation.Skipped == "" {
		request := scheduling.LowerV1beta1(compiler, placement)
		evaluation.Result = scheduling.Schedule(request, snapshot, present.Incumbents(), now)
		evaluation.Plan = decision.NewPlan(evaluation.Result, present)
		evaluation.Status = decision.NewStatus(evaluation.Result, evaluation.Plan, placement, metav1.NewTime(now))
	}

	evaluation.Pages = pagesAfter(present, evaluation.Plan)

	return evaluation
}

func skipped(placement *clusterv1beta1.Placement) string {
	switch {
	case !placement.DeletionTimestamp.IsZero():
		return "the placement is being deleted"
	case placement.Annotations[clusterv1beta1.PlacementDisableAnnotation] == "true":
		return "the annotation " + clusterv1beta1.PlacementDisableAnnotation + " is true"
	default:
		return ""
	}
}

// pagesAfter are the decisions that stand once the plan is carried out.
func pagesAfter(present decision.Present, plan decision.Plan) map[string][]string {
	pages := map[string][]string{}

	for _, page := range present.Pages {
		pages[page.Name] = clustersOf(page)
	}

	for _, write := range plan.Writes {
		pages[write.Desired.Name] = clustersOf(write.Desired)
	}

	for _, page := range plan.Deletes {
		delete(pages, page.Name)
	}

	return pages
}

func clustersOf(page *clusterv1beta1.PlacementDecision) []string {
	clusters := make([]string, 0, len(page.Status.Decisions))
	for _, decision := range page.Status.Decisions {
		clusters = append(clusters, decision.ClusterName)
	}

	return clusters
}
