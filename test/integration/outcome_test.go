package integration

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The two conditions as an outcome shows them.
const (
	allScheduled    = "True AllDecisionsScheduled"
	notAllScheduled = "False NotAllDecisionsScheduled"
	nothingMatched  = "False NoManagedClusterMatched"
	allSetsEmpty    = "False AllManagedClusterSetsEmpty"
	noBindings      = "False NoManagedClusterSetBindings"
	noIntersection  = "False NoIntersection"
	configured      = "False Succeedconfigured"
	misconfigured   = "True Misconfigured"
)

// pageSize is the greatest number of decisions in one page.
const pageSize = 100

// outcome is what a placement shows to the world.
type outcome struct {
	// Selected are the short names of the clusters in all pages, sorted; a cluster that stands in two pages stands here twice.
	Selected []string
	// Groups are "index/name: clusters [pages]" in the order of the status.
	Groups []string
	// Satisfied and Misconfigured are "status reason".
	Satisfied, Misconfigured string
}

// look reads pages and status of a placement, and demands what every consumer relies on.
func (w *world) look(ctx context.Context, g Gomega, name string) outcome {
	placement := w.read(ctx, g, name)
	pages := w.pages(ctx, g, name)
	expectConsumable(g, placement, pages)

	seen := outcome{Selected: w.selected(pages)}

	for _, group := range placement.Status.DecisionGroups {
		seen.Groups = append(seen.Groups, fmt.Sprintf("%d/%s: %d %v",
			group.DecisionGroupIndex, group.DecisionGroupName, group.ClustersCount, group.Decisions))
	}

	seen.Misconfigured = conditionText(placement.Status.Conditions[0])
	seen.Satisfied = conditionText(placement.Status.Conditions[1])
	g.Expect(placement.Status.NumberOfSelectedClusters).To(BeEquivalentTo(len(seen.Selected)))

	return seen
}

func conditionText(c metav1.Condition) string { return string(c.Status) + " " + c.Reason }

// read gets a placement.
func (w *world) read(ctx context.Context, g Gomega, name string) *clusterv1beta1.Placement {
	placement := &clusterv1beta1.Placement{}
	g.Expect(hub.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: name}, placement)).To(Succeed())

	return placement
}

// pages are the PlacementDecisions of a placement in the order of their numbers.
func (w *world) pages(ctx context.Context, g Gomega, name string) []clusterv1beta1.PlacementDecision {
	list := &clusterv1beta1.PlacementDecisionList{}
	g.Expect(hub.List(ctx, list, client.InNamespace(w.namespace), client.MatchingLabels{clusterv1beta1.PlacementLabel: name})).To(Succeed())
	slices.SortFunc(list.Items, func(a, b clusterv1beta1.PlacementDecision) int {
		return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name))
	})

	return list.Items
}

// selected are the clusters of the pages by short name, sorted.
func (w *world) selected(pages []clusterv1beta1.PlacementDecision) []string {
	selected := []string{}

	for _, page := range pages {
		for _, decision := range page.Status.Decisions {
			selected = append(selected, w.short(decision.ClusterName))
		}
	}

	slices.Sort(selected)

	return selected
}

// expectConsumable demands of pages and status what holds in every settled state, whatever the answer (docs/spec/consumers.md U1 to U11,
// docs/spec/differences.md A5, B3, B7).
func expectConsumable(g Gomega, placement *clusterv1beta1.Placement, pages []clusterv1beta1.PlacementDecision) {
	conditions := placement.Status.Conditions
	g.Expect(len(conditions)).To(BeNumerically(">=", 2), "conditions")
	g.Expect(conditions[0].Type).To(Equal(clusterv1beta1.PlacementConditionMisconfigured))
	g.Expect(conditions[1].Type).To(Equal(clusterv1beta1.PlacementConditionSatisfied))

	for _, condition := range conditions[:2] {
		g.Expect(condition.ObservedGeneration).To(Equal(placement.Generation), "observedGeneration of %s", condition.Type)
		g.Expect(condition.Message).NotTo(BeEmpty())
	}

	listed := map[string]clusterv1beta1.DecisionGroupStatus{}

	for i, group := range placement.Status.DecisionGroups {
		g.Expect(group.DecisionGroupIndex).To(BeEquivalentTo(i), "group indexes are contiguous from 0")

		for _, page := range group.Decisions {
			listed[page] = group
		}
	}

	g.Expect(pages).To(HaveLen(len(listed)), "pages that exist and pages that the status lists")

	for i := range pages {
		expectConsumablePage(g, placement, &pages[i], listed[pages[i].Name])
	}
}

func expectConsumablePage(
	g Gomega, placement *clusterv1beta1.Placement, page *clusterv1beta1.PlacementDecision, group clusterv1beta1.DecisionGroupStatus,
) {
	g.Expect(group.Decisions).To(ContainElement(page.Name))
	g.Expect(page.Name).To(MatchRegexp("^" + regexp.QuoteMeta(placement.Name) + "-decision-[1-9][0-9]*$"))
	g.Expect(page.Labels).To(HaveKeyWithValue(clusterv1beta1.PlacementLabel, placement.Name))
	g.Expect(page.Labels).To(HaveKeyWithValue(clusterv1beta1.DecisionGroupIndexLabel, strconv.Itoa(int(group.DecisionGroupIndex))))
	g.Expect(page.Labels).To(HaveKeyWithValue(clusterv1beta1.DecisionGroupNameLabel, group.DecisionGroupName))
	g.Expect(page.OwnerReferences).NotTo(BeEmpty(), "ownerReferences of %s", page.Name)
	g.Expect(page.OwnerReferences[0]).To(Equal(metav1.OwnerReference{
		APIVersion: "cluster.open-cluster-management.io/v1beta1", Kind: "Placement", Name: placement.Name, UID: placement.UID,
		Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
	}))
	g.Expect(page.Status.Decisions).NotTo(BeNil(), "status.decisions of %s is present, empty or not", page.Name)
	g.Expect(len(page.Status.Decisions)).To(BeNumerically("<=", pageSize))

	for _, decision := range page.Status.Decisions {
		g.Expect(decision.Reason).To(BeEmpty())
		g.Expect(decision.Score).To(BeZero())
	}
}

// expect waits until a placement shows exactly this outcome.
func (w *world) expect(ctx context.Context, name string, want outcome) {
	GinkgoHelper()

	if want.Selected == nil {
		want.Selected = []string{}
	}

	Eventually(func(g Gomega) outcome { return w.look(ctx, g, name) }).
		WithContext(ctx).WithTimeout(settle).Should(Equal(want))
}

// expectSelected waits until the placement has selected exactly the clusters of these short names and says so in one group of one page.
func (w *world) expectSelected(ctx context.Context, name, satisfied string, shorts ...string) {
	GinkgoHelper()
	w.expect(ctx, name, outcome{
		Selected: shorts, Satisfied: satisfied, Misconfigured: configured,
		Groups: []string{fmt.Sprintf("0/: %d [%s-decision-1]", len(shorts), name)},
	})
}

// expectMisconfigured waits until the placement has exactly these clusters and says that it is misconfigured, with these words.
func (w *world) expectMisconfigured(ctx context.Context, name, words string, shorts ...string) {
	GinkgoHelper()

	satisfied := nothingMatched
	if len(shorts) > 0 {
		satisfied = notAllScheduled
	}

	Eventually(func(g Gomega) {
		g.Expect(w.message(ctx, g, name, clusterv1beta1.PlacementConditionMisconfigured)).To(ContainSubstring(words))

		seen := w.look(ctx, g, name)
		g.Expect(seen.Selected).To(HaveExactElements(shorts))
		g.Expect(seen.Misconfigured).To(Equal(misconfigured))
		g.Expect(seen.Satisfied).To(Equal(satisfied))
	}).WithContext(ctx).WithTimeout(settle).Should(Succeed())
}

// message is the text of a condition.
func (w *world) message(ctx context.Context, g Gomega, name, kind string) string {
	condition := meta.FindStatusCondition(w.read(ctx, g, name).Status.Conditions, kind)
	g.Expect(condition).NotTo(BeNil())

	return condition.Message
}

// shorts are c001 and so on, from the first number to the last.
func shorts(first, last int) []string {
	names := []string{}
	for i := first; i <= last; i++ {
		names = append(names, fmt.Sprintf("c%03d", i))
	}

	return names
}
