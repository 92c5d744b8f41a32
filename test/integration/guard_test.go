package integration

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
	"github.com/placement-hub/placement-hub/pkg/decision/guard"
)

var _ = Describe("The guard against mass removal", func() {
	It("holds what would leave a hub whose clusters are all deleted at once, until the placement releases it", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 10)
		w.seen(ctx)

		names := []string{"annotated", "changed", "limited"}
		for _, name := range names {
			w.placement(ctx, name, clusterv1beta1.PlacementSpec{})
		}

		w.editPlacement(ctx, "limited", func(s *clusterv1beta1.PlacementSpec) { s.NumberOfClusters = ptr.To[int32](10) })
		w.placement(ctx, "free", clusterv1beta1.PlacementSpec{})
		w.alpha(ctx, "older", placementv1alpha1.PlacementSpec{})

		for _, name := range names {
			w.annotate(ctx, name, guard.PercentAnnotation, "30")
			w.expectRemoval(ctx, w.beta(name), metav1.ConditionFalse, guard.ReasonNothingHeld)
			w.expectSelected(ctx, name, allScheduled, shorts(1, 10)...)
		}

		older := &placementv1alpha1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "older"}}
		edit(ctx, older, func(p *placementv1alpha1.Placement) {
			p.Annotations = map[string]string{guard.PercentAnnotation: "30"}
		})
		w.expectRemoval(ctx, older, metav1.ConditionFalse, guard.ReasonNothingHeld)
		w.expectAlpha(ctx, "older", allScheduled, shorts(1, 10)...)
		w.expectSelected(ctx, "free", allScheduled, shorts(1, 10)...)

		film := w.watchPages(ctx)
		Expect(hub.DeleteAllOf(ctx, &clusterv1.ManagedCluster{}, client.MatchingLabels{worldLabel: w.namespace})).To(Succeed())

		w.expectSelected(ctx, "free", allSetsEmpty)

		for _, name := range names {
			w.expectHeld(ctx, name)
			w.expectRemoval(ctx, w.beta(name), metav1.ConditionTrue, guard.ReasonTooManyRemoved)
		}

		w.expectRemoval(ctx, older, metav1.ConditionTrue, guard.ReasonTooManyRemoved)
		w.expectAlpha(ctx, "older", notAllScheduled, w.lookAlpha(ctx, Default, "older").Selected...)

		By("releasing it by the annotation")
		w.annotate(ctx, "annotated", guard.ReleaseAnnotation, "1")
		w.expectRemoval(ctx, w.beta("annotated"), metav1.ConditionFalse, guard.ReasonReleased)
		w.expectSelected(ctx, "annotated", allSetsEmpty)
		edit(ctx, older, func(p *placementv1alpha1.Placement) {
			p.Annotations[guard.ReleaseAnnotation] = strconv.FormatInt(p.Generation, 10)
		})
		w.expectAlpha(ctx, "older", allSetsEmpty)

		By("releasing it by a changed spec")
		w.editPlacement(ctx, "changed", func(s *clusterv1beta1.PlacementSpec) { s.ClusterSets = w.names("set") })
		w.expectSelected(ctx, "changed", allSetsEmpty)
		w.expectRemoval(ctx, w.beta("changed"), metav1.ConditionFalse, guard.ReasonNothingHeld)

		By("watching what was held")
		Expect(film.Seen()).To(Succeed())

		for _, frame := range film.Frames() {
			if frame.Page.Name == "limited-decision-1" {
				Expect(len(frame.Page.Status.Decisions)).To(BeNumerically(">", 6), "decisions of %s", frame.Page.Name)
			}
		}
	})

	It("holds what a lost binding and an emptied set take, and goes on by itself when they are back", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		binding := w.bind(ctx, "set2")
		w.unboundSet(ctx, "set2")
		w.clusters(ctx, "set", 1, 4)
		w.cluster(ctx, "set2", "d1")
		w.seen(ctx)
		w.placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		w.annotate(ctx, "p", guard.PercentAnnotation, "10")
		w.expectSelected(ctx, "p", allScheduled, "c001", "c002", "c003", "c004", "d1")
		w.expectRemoval(ctx, w.beta("p"), metav1.ConditionFalse, guard.ReasonNothingHeld)

		all := w.selected(w.pages(ctx, Default, "p"))
		film := w.watchPages(ctx)
		film.stays(w.names(all...)...)

		Expect(hub.Delete(ctx, binding)).To(Succeed())
		w.expectRemoval(ctx, w.beta("p"), metav1.ConditionTrue, guard.ReasonTooManyRemoved)
		Expect(w.message(ctx, Default, "p", guard.Condition)).To(And(
			HavePrefix("The decisions would lose 1 of 5 clusters: "+w.name("d1")+", where no more than 10 % may leave"),
			ContainSubstring("causes: not in a bound set (1). "),
			HaveSuffix("kubectl annotate --overwrite placements.cluster.open-cluster-management.io p -n "+w.namespace+" "+
				guard.ReleaseAnnotation+"=1")))
		Eventually(func(g Gomega) []string {
			reasons := []string{}
			for _, event := range w.rawEvents(ctx, g) {
				if event.Type == "Warning" {
					reasons = append(reasons, event.Reason+": "+event.Note)
				}
			}

			return reasons
		}).WithContext(ctx).WithTimeout(settle).Should(Equal([]string{
			"RemovalHeld: The decisions would lose 1 of 5 clusters: " + w.name("d1") + "; they are kept: see the condition RemovalHeld",
		}))

		w.bind(ctx, "set2")
		w.expectRemoval(ctx, w.beta("p"), metav1.ConditionFalse, guard.ReasonNothingHeld)

		for _, name := range shorts(1, 4) {
			w.editCluster(ctx, name, func(c *clusterv1.ManagedCluster) { delete(c.Labels, "cluster.open-cluster-management.io/clusterset") })
		}

		w.expectRemoval(ctx, w.beta("p"), metav1.ConditionTrue, guard.ReasonTooManyRemoved)
		Eventually(func(g Gomega) string { return w.message(ctx, g, "p", guard.Condition) }).
			WithContext(ctx).WithTimeout(settle).Should(HavePrefix("The decisions would lose 4 of 5 clusters: "))
		w.expectSilence(ctx)

		Expect(film.Seen()).To(Succeed())
		film.expectStays()
		Expect(w.selected(w.pages(ctx, Default, "p"))).To(Equal(all))
	})
})

var _ = Describe("The window of the guard", Serial, func() {
	It("counts what left before another process leads", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 10)
		w.seen(ctx)
		w.placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		w.annotate(ctx, "p", guard.PercentAnnotation, "30")
		w.expectRemoval(ctx, w.beta("p"), metav1.ConditionFalse, guard.ReasonNothingHeld)

		By("losing two of ten, which is few enough")
		w.deleteCluster(ctx, "c001")
		w.deleteCluster(ctx, "c002")
		w.expectSelected(ctx, "p", allScheduled, shorts(3, 10)...)
		Eventually(func(g Gomega) string { return w.message(ctx, g, "p", guard.RecordCondition) }).
			WithContext(ctx).WithTimeout(settle).Should(And(ContainSubstring(w.name("c001")), ContainSubstring(w.name("c002"))))
		w.expectSilence(ctx)

		By("losing two more under the next process: together they are too many")
		resume := pause(ctx)
		w.deleteCluster(ctx, "c003")
		w.deleteCluster(ctx, "c004")
		resume()

		w.expectRemoval(ctx, w.beta("p"), metav1.ConditionTrue, guard.ReasonTooManyRemoved)
		Expect(w.message(ctx, Default, "p", guard.Condition)).To(
			HavePrefix("The decisions would lose 4 of 10 clusters, 2 of which have left already: " + w.name("c003") + ", " + w.name("c004")))
		Expect(w.selected(w.pages(ctx, Default, "p"))).To(Equal(shorts(3, 10)))

		By("changing the spec, which begins anew")
		w.editPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { s.ClusterSets = w.names("set") })
		w.expectSelected(ctx, "p", allScheduled, shorts(5, 10)...)
		w.expectRemoval(ctx, w.beta("p"), metav1.ConditionFalse, guard.ReasonNothingHeld)
		Expect(meta.FindStatusCondition(w.status(ctx, "p").Conditions, guard.RecordCondition)).To(BeNil())
	})

	It("holds clusters that others replace, where they count", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 8)
		w.seen(ctx)
		w.placement(ctx, "p", clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](4)})
		w.annotate(ctx, "p", guard.PercentAnnotation, "50")
		w.annotate(ctx, "p", guard.CountReplacedAnnotation, "true")
		w.expectSelected(ctx, "p", allScheduled, shorts(1, 4)...)
		w.expectRemoval(ctx, w.beta("p"), metav1.ConditionFalse, guard.ReasonNothingHeld)

		resume := pause(ctx)
		for _, name := range shorts(1, 3) {
			w.deleteCluster(ctx, name)
		}
		resume()

		w.expectRemoval(ctx, w.beta("p"), metav1.ConditionTrue, guard.ReasonTooManyRemoved)
		Expect(w.selected(w.pages(ctx, Default, "p"))).To(Equal(shorts(1, 4)))

		w.annotate(ctx, "p", guard.CountReplacedAnnotation, "false")
		w.expectSelected(ctx, "p", allScheduled, shorts(4, 7)...)
	})
})

// status is what the status of a placement of v1beta1 says.
func (w *world) status(ctx context.Context, name string) clusterv1beta1.PlacementStatus {
	GinkgoHelper()

	placement := w.beta(name)
	Expect(hub.Get(ctx, client.ObjectKeyFromObject(placement), placement)).To(Succeed())

	return placement.Status
}

// beta is a placement of v1beta1 by name.
func (w *world) beta(name string) *clusterv1beta1.Placement {
	return &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}}
}

// annotate sets an annotation of a placement.
func (w *world) annotate(ctx context.Context, name, annotation, value string) {
	GinkgoHelper()
	edit(ctx, w.beta(name), func(p *clusterv1beta1.Placement) { metav1.SetMetaDataAnnotation(&p.ObjectMeta, annotation, value) })
}

// expectRemoval waits until a placement of any API says this of removals, about its present generation and after the other conditions.
func (w *world) expectRemoval(ctx context.Context, object client.Object, status metav1.ConditionStatus, reason string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		g.Expect(hub.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())

		var conditions []metav1.Condition

		switch placement := object.(type) {
		case *clusterv1beta1.Placement:
			conditions = placement.Status.Conditions
		case *placementv1alpha1.Placement:
			conditions = placement.Status.Conditions
		}

		condition := meta.FindStatusCondition(conditions, guard.Condition)
		g.Expect(condition).NotTo(BeNil())
		g.Expect(conditionText(*condition)).To(Equal(string(status) + " " + reason))
		g.Expect(condition.ObservedGeneration).To(Equal(object.GetGeneration()))
		g.Expect(conditions[len(conditions)-1].Type).To(Equal(guard.Condition))
	}).WithContext(ctx).WithTimeout(settle).Should(Succeed(), object.GetName())
}

// expectHeld waits until a placement keeps its decisions because of the guard. Some of them may have left before it were too many.
func (w *world) expectHeld(ctx context.Context, name string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		seen := w.look(ctx, g, name)
		g.Expect(len(seen.Selected)).To(BeNumerically(">=", 7))
		g.Expect(seen.Satisfied).To(Equal(notAllScheduled))
		g.Expect(w.message(ctx, g, name, clusterv1beta1.PlacementConditionSatisfied)).To(HaveSuffix("see the condition RemovalHeld"))
	}).WithContext(ctx).WithTimeout(settle).Should(Succeed(), name)
}
