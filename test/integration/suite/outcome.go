// SPDX-License-Identifier: Apache-2.0

package suite

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
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The conditions PlacementSatisfied and PlacementMisconfigured as an Outcome shows them: "status reason".
const (
	AllScheduled    = "True AllDecisionsScheduled"
	NotAllScheduled = "False NotAllDecisionsScheduled"
	NothingMatched  = "False NoManagedClusterMatched"
	AllSetsEmpty    = "False AllManagedClusterSetsEmpty"
	NoBindings      = "False NoManagedClusterSetBindings"
	NoIntersection  = "False NoIntersection"
	Configured      = "False Succeedconfigured"
	Misconfigured   = "True Misconfigured"
)

// PageSize is the greatest number of decisions in one page.
const PageSize = 100

// Outcome is the result of a Placement of v1beta1 in its status and its PlacementDecisions, which the specs call pages.
type Outcome struct {
	// Selected are the short names of the clusters in all pages, sorted; a cluster that stands in two pages stands here twice.
	Selected []string
	// Groups are "index/name: clusters [pages]" in the order of the status.
	Groups []string
	// Satisfied and Misconfigured are "status reason".
	Satisfied, Misconfigured string
}

// Look reads status and pages of a placement, and demands of both what every consumer relies on.
func (f *Fixture) Look(ctx context.Context, g Gomega, name string) Outcome {
	placement := f.Read(ctx, g, name)
	pages := f.Pages(ctx, g, name)
	ExpectConsumable(g, placement, pages)
	seen := Outcome{Selected: f.Selected(pages)}
	for _, group := range placement.Status.DecisionGroups {
		seen.Groups = append(seen.Groups, fmt.Sprintf("%d/%s: %d %v",
			group.DecisionGroupIndex, group.DecisionGroupName, group.ClustersCount, group.Decisions))
	}

	seen.Misconfigured = ConditionText(placement.Status.Conditions[0])
	seen.Satisfied = ConditionText(placement.Status.Conditions[1])
	g.Expect(placement.Status.NumberOfSelectedClusters).To(BeEquivalentTo(len(seen.Selected)))
	return seen
}

// ConditionText returns "status reason".
func ConditionText(c metav1.Condition) string { return string(c.Status) + " " + c.Reason }

// Read returns a Placement of v1beta1.
func (f *Fixture) Read(ctx context.Context, g Gomega, name string) *clusterv1beta1.Placement {
	placement := &clusterv1beta1.Placement{}
	g.Expect(Client.Get(ctx, client.ObjectKey{Namespace: f.Namespace, Name: name}, placement)).To(Succeed())
	return placement
}

// Pages returns the PlacementDecisions of a placement in the order of their numbers.
func (f *Fixture) Pages(ctx context.Context, g Gomega, name string) []clusterv1beta1.PlacementDecision {
	list := &clusterv1beta1.PlacementDecisionList{}
	g.Expect(Client.List(ctx, list, client.InNamespace(f.Namespace), client.MatchingLabels{clusterv1beta1.PlacementLabel: name})).To(Succeed())
	slices.SortFunc(list.Items, func(a, b clusterv1beta1.PlacementDecision) int {
		return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	return list.Items
}

// Selected returns the short names of the clusters in pages, sorted.
func (f *Fixture) Selected(pages []clusterv1beta1.PlacementDecision) []string {
	selected := []string{}
	for _, page := range pages {
		for _, decision := range page.Status.Decisions {
			selected = append(selected, f.ShortName(decision.ClusterName))
		}
	}
	slices.Sort(selected)
	return selected
}

// ExpectConsumable demands of pages and status what holds in every settled state, whatever is selected (docs/spec/consumers.md U1
// to U11, docs/spec/differences.md A5, B3, B7).
func ExpectConsumable(g Gomega, placement *clusterv1beta1.Placement, pages []clusterv1beta1.PlacementDecision) {
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
	g.Expect(len(page.Status.Decisions)).To(BeNumerically("<=", PageSize))

	for _, decision := range page.Status.Decisions {
		g.Expect(decision.Reason).To(BeEmpty())
		g.Expect(decision.Score).To(BeZero())
	}
}

// Expect waits until a placement has exactly this outcome.
func (f *Fixture) Expect(ctx context.Context, name string, want Outcome) {
	GinkgoHelper()
	if want.Selected == nil {
		want.Selected = []string{}
	}
	Eventually(func(g Gomega) Outcome { return f.Look(ctx, g, name) }).
		WithContext(ctx).WithTimeout(Timeout).Should(Equal(want))
}

// ExpectSelected waits until a placement has selected exactly the clusters of these short names, in one group of one page; satisfied is
// "status reason".
func (f *Fixture) ExpectSelected(ctx context.Context, name, satisfied string, shorts ...string) {
	GinkgoHelper()
	f.Expect(ctx, name, Outcome{
		Selected: shorts, Satisfied: satisfied, Misconfigured: Configured,
		Groups: []string{fmt.Sprintf("0/: %d [%s-decision-1]", len(shorts), name)},
	})
}

// ExpectMisconfigured waits until a placement has exactly these clusters and is misconfigured, and the message of the condition has these
// words.
func (f *Fixture) ExpectMisconfigured(ctx context.Context, name, words string, shorts ...string) {
	GinkgoHelper()
	satisfied := NothingMatched
	if len(shorts) > 0 {
		satisfied = NotAllScheduled
	}

	Eventually(func(g Gomega) {
		g.Expect(f.Message(ctx, g, name, clusterv1beta1.PlacementConditionMisconfigured)).To(ContainSubstring(words))
		seen := f.Look(ctx, g, name)
		g.Expect(seen.Selected).To(HaveExactElements(shorts))
		g.Expect(seen.Misconfigured).To(Equal(Misconfigured))
		g.Expect(seen.Satisfied).To(Equal(satisfied))
	}).WithContext(ctx).WithTimeout(Timeout).Should(Succeed())
}

// Message returns the message of a condition of a placement; kind is the type of the condition.
func (f *Fixture) Message(ctx context.Context, g Gomega, name, kind string) string {
	condition := meta.FindStatusCondition(f.Read(ctx, g, name).Status.Conditions, kind)
	g.Expect(condition).NotTo(BeNil())
	return condition.Message
}

// Shorts returns the short names c001 and so on, from the first number to the last.
func Shorts(first, last int) []string {
	names := []string{}
	for i := first; i <= last; i++ {
		names = append(names, fmt.Sprintf("c%03d", i))
	}
	return names
}

// ReadCluster returns a ManagedCluster by its short name.
func (f *Fixture) ReadCluster(ctx context.Context, g Gomega, short string) *clusterv1.ManagedCluster {
	cluster := &clusterv1.ManagedCluster{}
	g.Expect(Client.Get(ctx, client.ObjectKey{Name: f.Name(short)}, cluster)).To(Succeed())
	return cluster
}

// AllPages returns the PlacementDecisions of all placements of v1beta1 of a fixture.
func AllPages(ctx context.Context, f *Fixture) []clusterv1beta1.PlacementDecision {
	GinkgoHelper()
	list := &clusterv1beta1.PlacementDecisionList{}
	Expect(Client.List(ctx, list, client.InNamespace(f.Namespace))).To(Succeed())
	return list.Items
}
