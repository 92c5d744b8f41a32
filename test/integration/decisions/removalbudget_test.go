// SPDX-License-Identifier: Apache-2.0

package decisions

import (
	"context"
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("The removal budget", func() {
	It("holds what would leave a hub whose clusters are all deleted at once, until the placement releases it", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 10)
		f.AwaitClusters(ctx)
		names := []string{"annotated", "changed", "limited"}
		for _, name := range names {
			f.Placement(ctx, name, clusterv1beta1.PlacementSpec{})
		}

		f.EditPlacement(ctx, "limited", func(s *clusterv1beta1.PlacementSpec) { s.NumberOfClusters = ptr.To[int32](10) })
		f.Placement(ctx, "free", clusterv1beta1.PlacementSpec{})
		f.AlphaPlacement(ctx, "older", placementv1alpha1.PlacementSpec{})
		for _, name := range names {
			f.Annotate(ctx, name, removalbudget.PercentAnnotation, "30")
			expectRemoval(ctx, f.PlacementNamed(name), metav1.ConditionFalse, removalbudget.ReasonNothingHeld)
			f.ExpectSelected(ctx, name, suite.AllScheduled, suite.Shorts(1, 10)...)
		}

		older := &placementv1alpha1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: "older"}}
		suite.Edit(ctx, older, func(p *placementv1alpha1.Placement) {
			p.Annotations = map[string]string{removalbudget.PercentAnnotation: "30"}
		})
		expectRemoval(ctx, older, metav1.ConditionFalse, removalbudget.ReasonNothingHeld)
		f.ExpectAlpha(ctx, "older", suite.AllScheduled, suite.Shorts(1, 10)...)
		f.ExpectSelected(ctx, "free", suite.AllScheduled, suite.Shorts(1, 10)...)
		recording := f.RecordPages(ctx)
		Expect(suite.Client.DeleteAllOf(ctx, &clusterv1.ManagedCluster{}, client.MatchingLabels{suite.FixtureLabel: f.Namespace})).To(Succeed())

		f.ExpectSelected(ctx, "free", suite.AllSetsEmpty)
		for _, name := range names {
			expectHeld(ctx, f, name)
			expectRemoval(ctx, f.PlacementNamed(name), metav1.ConditionTrue, removalbudget.ReasonTooManyRemoved)
		}
		expectRemoval(ctx, older, metav1.ConditionTrue, removalbudget.ReasonTooManyRemoved)
		f.ExpectAlpha(ctx, "older", suite.NotAllScheduled, f.LookAlpha(ctx, Default, "older").Selected...)

		By("releasing it by the annotation")
		f.Annotate(ctx, "annotated", removalbudget.ReleaseAnnotation, "1")
		expectRemoval(ctx, f.PlacementNamed("annotated"), metav1.ConditionFalse, removalbudget.ReasonReleased)
		f.ExpectSelected(ctx, "annotated", suite.AllSetsEmpty)
		suite.Edit(ctx, older, func(p *placementv1alpha1.Placement) {
			p.Annotations[removalbudget.ReleaseAnnotation] = strconv.FormatInt(p.Generation, 10)
		})
		f.ExpectAlpha(ctx, "older", suite.AllSetsEmpty)

		By("holding it through a changed spec (docs/spec/differences.md B16), until the annotation releases it")
		f.EditPlacement(ctx, "changed", func(s *clusterv1beta1.PlacementSpec) { s.ClusterSets = f.Names("set") })
		expectRemoval(ctx, f.PlacementNamed("changed"), metav1.ConditionTrue, removalbudget.ReasonTooManyRemoved)
		expectHeld(ctx, f, "changed")
		f.Annotate(ctx, "changed", removalbudget.ReleaseAnnotation, "2")
		f.ExpectSelected(ctx, "changed", suite.AllSetsEmpty)
		expectRemoval(ctx, f.PlacementNamed("changed"), metav1.ConditionFalse, removalbudget.ReasonReleased)

		By("watching what was held")
		Expect(recording.Drain()).To(Succeed())
		for _, frame := range recording.Events() {
			if frame.Page.Name == "limited-decision-1" {
				Expect(len(frame.Page.Status.Decisions)).To(BeNumerically(">", 6), "decisions of %s", frame.Page.Name)
			}
		}
	})

	It("holds clusters that no longer match, and goes on by itself when they match again", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 5)
		f.AwaitClusters(ctx)
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{Predicates: []clusterv1beta1.ClusterPredicate{{
			RequiredClusterSelector: clusterv1beta1.ClusterSelector{LabelSelector: metav1.LabelSelector{
				MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "closed", Operator: metav1.LabelSelectorOpDoesNotExist}},
			}},
		}}})
		f.Annotate(ctx, "p", removalbudget.PercentAnnotation, "0")
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(1, 5)...)
		expectRemoval(ctx, f.PlacementNamed("p"), metav1.ConditionFalse, removalbudget.ReasonNothingHeld)

		all := f.Selected(f.Pages(ctx, Default, "p"))
		recording := f.RecordPages(ctx)
		recording.Require(f.Names(all...)...)

		f.EditCluster(ctx, "c005", func(c *clusterv1.ManagedCluster) { c.Labels["closed"] = "" })
		expectRemoval(ctx, f.PlacementNamed("p"), metav1.ConditionTrue, removalbudget.ReasonTooManyRemoved)
		Expect(f.Message(ctx, Default, "p", removalbudget.Condition)).To(And(
			HavePrefix("The decisions would lose 1 of 5 clusters: "+f.Name("c005")+", where none may leave"),
			ContainSubstring("causes: predicate 1 label closed DoesNotExist (1). "),
			HaveSuffix("kubectl annotate --overwrite placements.cluster.open-cluster-management.io p -n "+f.Namespace+" "+
				removalbudget.ReleaseAnnotation+"=1")))
		Eventually(func(g Gomega) []string {
			reasons := []string{}
			for _, event := range f.PlacementEvents(ctx, g) {
				if event.Type == "Warning" {
					reasons = append(reasons, event.Reason+": "+event.Note)
				}
			}
			return reasons
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Equal([]string{
			"RemovalHeld: The decisions would lose 1 of 5 clusters: " + f.Name("c005") + "; they are kept: see the condition RemovalHeld",
		}))

		By("having a cluster join meanwhile, which releases nothing")
		f.Cluster(ctx, "set", "c006")
		f.ExpectSelected(ctx, "p", suite.NotAllScheduled, suite.Shorts(1, 6)...)
		expectRemoval(ctx, f.PlacementNamed("p"), metav1.ConditionTrue, removalbudget.ReasonTooManyRemoved)
		f.ExpectSilence(ctx)

		By("opening the cluster again")
		f.EditCluster(ctx, "c005", func(c *clusterv1.ManagedCluster) { delete(c.Labels, "closed") })
		expectRemoval(ctx, f.PlacementNamed("p"), metav1.ConditionFalse, removalbudget.ReasonNothingHeld)

		Expect(recording.Drain()).To(Succeed())
		recording.ExpectRequired()
	})

	It("T10: keeps no cluster whose set is unbound for an annotation, where the hub has no limit", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		binding := f.Bind(ctx, "set2")
		f.UnboundSet(ctx, "set2")
		f.Clusters(ctx, "set", 1, 2)
		f.Cluster(ctx, "set2", "d1")
		f.Cluster(ctx, "set2", "d2")
		f.AwaitClusters(ctx)
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		f.Annotate(ctx, "p", removalbudget.PercentAnnotation, "0")
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001", "c002", "d1", "d2")
		expectRemoval(ctx, f.PlacementNamed("p"), metav1.ConditionFalse, removalbudget.ReasonNothingHeld)

		Expect(suite.Client.Delete(ctx, binding)).To(Succeed())
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001", "c002")
	})
})

var _ = Describe("The window of the removal budget", func() {
	It("counts what left before another process leads", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 10)
		f.AwaitClusters(ctx)
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		f.Annotate(ctx, "p", removalbudget.PercentAnnotation, "30")
		expectRemoval(ctx, f.PlacementNamed("p"), metav1.ConditionFalse, removalbudget.ReasonNothingHeld)

		By("losing two of ten, which is few enough")
		f.DeleteCluster(ctx, "c001")
		f.DeleteCluster(ctx, "c002")
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(3, 10)...)
		Eventually(func(g Gomega) string { return f.Message(ctx, g, "p", removalbudget.RecordCondition) }).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(And(ContainSubstring(f.Name("c001")), ContainSubstring(f.Name("c002"))))
		f.ExpectSilence(ctx)

		By("losing two more under the next process: together they are too many")
		resume := suite.PauseHub(ctx)
		f.DeleteCluster(ctx, "c003")
		f.DeleteCluster(ctx, "c004")
		resume()

		expectRemoval(ctx, f.PlacementNamed("p"), metav1.ConditionTrue, removalbudget.ReasonTooManyRemoved)
		Expect(f.Message(ctx, Default, "p", removalbudget.Condition)).To(
			HavePrefix("The decisions would lose 4 of 10 clusters, 2 of which have left already: " + f.Name("c003") + ", " + f.Name("c004")))
		Expect(f.Selected(f.Pages(ctx, Default, "p"))).To(Equal(suite.Shorts(3, 10)))

		By("changing the spec, which releases nothing, and then releasing, which begins anew")
		f.EditPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { s.ClusterSets = f.Names("set") })
		expectRemoval(ctx, f.PlacementNamed("p"), metav1.ConditionTrue, removalbudget.ReasonTooManyRemoved)
		f.Annotate(ctx, "p", removalbudget.ReleaseAnnotation, "2")
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(5, 10)...)
		expectRemoval(ctx, f.PlacementNamed("p"), metav1.ConditionFalse, removalbudget.ReasonReleased)
		Expect(meta.FindStatusCondition(statusOf(ctx, f, "p").Conditions, removalbudget.RecordCondition)).To(BeNil())
	})

	It("holds clusters that others replace, where they count", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 8)
		f.AwaitClusters(ctx)
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](4)})
		f.Annotate(ctx, "p", removalbudget.PercentAnnotation, "50")
		f.Annotate(ctx, "p", removalbudget.CountReplacedAnnotation, "true")
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(1, 4)...)
		expectRemoval(ctx, f.PlacementNamed("p"), metav1.ConditionFalse, removalbudget.ReasonNothingHeld)

		resume := suite.PauseHub(ctx)
		for _, name := range suite.Shorts(1, 3) {
			f.DeleteCluster(ctx, name)
		}
		resume()

		expectRemoval(ctx, f.PlacementNamed("p"), metav1.ConditionTrue, removalbudget.ReasonTooManyRemoved)
		Expect(f.Selected(f.Pages(ctx, Default, "p"))).To(Equal(suite.Shorts(1, 4)))

		f.Annotate(ctx, "p", removalbudget.CountReplacedAnnotation, "false")
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(4, 7)...)
	})
})

// statusOf is what the status of a placement of v1beta1 says.
func statusOf(ctx context.Context, f *suite.Fixture, name string) clusterv1beta1.PlacementStatus {
	GinkgoHelper()
	placement := f.PlacementNamed(name)
	Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(placement), placement)).To(Succeed())
	return placement.Status
}

// expectRemoval waits until a placement of any API says this of removals, about its present generation and after the other conditions.
func expectRemoval(ctx context.Context, object client.Object, status metav1.ConditionStatus, reason string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
		var conditions []metav1.Condition
		switch placement := object.(type) {
		case *clusterv1beta1.Placement:
			conditions = placement.Status.Conditions
		case *placementv1alpha1.Placement:
			conditions = placement.Status.Conditions
		}

		condition := meta.FindStatusCondition(conditions, removalbudget.Condition)
		g.Expect(condition).NotTo(BeNil())
		g.Expect(suite.ConditionText(*condition)).To(Equal(string(status) + " " + reason))
		g.Expect(condition.ObservedGeneration).To(Equal(object.GetGeneration()))
		g.Expect(conditions[len(conditions)-1].Type).To(Equal(removalbudget.Condition))
	}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed(), object.GetName())
}

// expectHeld waits until a placement keeps its decisions because of the removal budget. Some of them may have left before it were too many.
func expectHeld(ctx context.Context, f *suite.Fixture, name string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		seen := f.Look(ctx, g, name)
		g.Expect(len(seen.Selected)).To(BeNumerically(">=", 7))
		g.Expect(seen.Satisfied).To(Equal(suite.NotAllScheduled))
		g.Expect(f.Message(ctx, g, name, clusterv1beta1.PlacementConditionSatisfied)).To(HaveSuffix("see the condition RemovalHeld"))
	}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed(), name)
}
