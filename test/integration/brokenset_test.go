package integration

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var _ = Describe("A set with a broken selector", func() {
	It("A4: holds only the placements that use it, which say so, and recover when it is mended", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.alone(ctx)
		w.set(ctx, "sound")
		set := w.labelSet(ctx, "broken", metav1.LabelSelector{MatchLabels: map[string]string{"in": "broken"}})
		w.clusters(ctx, "sound", 1, 2)
		w.clusters(ctx, "", 3, 4, labeled("in", "broken"))

		w.placement(ctx, "user", clusterv1beta1.PlacementSpec{})
		w.placement(ctx, "narrow", clusterv1beta1.PlacementSpec{ClusterSets: w.names("broken")})
		w.placement(ctx, "other", clusterv1beta1.PlacementSpec{ClusterSets: w.names("sound")})
		w.expectSelected(ctx, "user", allScheduled, shorts(1, 4)...)
		w.expectSelected(ctx, "narrow", allScheduled, shorts(3, 4)...)
		w.expectSelected(ctx, "other", allScheduled, shorts(1, 2)...)

		errors := w.activity(Default).Errors
		operator := func(o metav1.LabelSelectorOperator) {
			GinkgoHelper()
			edit(ctx, set, func(s *clusterv1beta2.ManagedClusterSet) {
				s.Spec.ClusterSelector.LabelSelector.MatchExpressions[0].Operator = o
			})
		}
		operator("Resembles")

		held := func(name string, shorts ...string) {
			GinkgoHelper()
			Eventually(func(g Gomega) {
				seen := w.look(ctx, g, name)
				g.Expect(seen.Selected).To(HaveExactElements(shorts))
				g.Expect(seen.Satisfied).To(Equal(notAllScheduled))
				g.Expect(seen.Misconfigured).To(Equal(configured))
				g.Expect(w.message(ctx, g, name, clusterv1beta1.PlacementConditionSatisfied)).To(And(
					ContainSubstring("ManagedClusterSet "+w.name("broken")+": spec.clusterSelector.labelSelector.matchExpressions[0].operator"),
					ContainSubstring("Resembles")))
			}).WithContext(ctx).WithTimeout(settle).Should(Succeed())
		}
		held("user", shorts(1, 4)...)
		held("narrow", shorts(3, 4)...)

		w.clusters(ctx, "sound", 5, 5)
		w.deleteCluster(ctx, "c001")
		w.expectSelected(ctx, "other", allScheduled, "c002", "c005")
		w.placement(ctx, "late", clusterv1beta1.PlacementSpec{ClusterSets: w.names("broken")})
		held("late")
		w.expectSilence(ctx)
		held("user", shorts(1, 4)...)
		held("narrow", shorts(3, 4)...)
		Expect(w.activity(Default).Errors).To(Equal(errors))

		operator(metav1.LabelSelectorOpIn)
		w.expectSelected(ctx, "user", allScheduled, shorts(2, 5)...)
		w.expectSelected(ctx, "narrow", allScheduled, shorts(3, 4)...)
		w.expectSelected(ctx, "late", allScheduled, shorts(3, 4)...)
	})

	It("A4: does not keep other sets from counting their members", func(ctx SpecContext) {
		w := newWorld(ctx)
		broken := w.labelSet(ctx, "broken", metav1.LabelSelector{})
		edit(ctx, broken, func(s *clusterv1beta2.ManagedClusterSet) {
			s.Spec.ClusterSelector.LabelSelector.MatchExpressions[0].Operator = "Resembles"
		})

		sound := w.unboundSet(ctx, "sound")
		w.clusters(ctx, "sound", 1, 2)
		expectSetCondition(ctx, sound, "False ClustersSelected: 2 ManagedClusters selected")
		Consistently(func(g Gomega) { g.Expect(setCondition(ctx, g, broken)).NotTo(ContainSubstring("2 ManagedClusters")) }).
			WithContext(ctx).WithTimeout(quiet).Should(Succeed())
	})
})

// setCondition is "status reason: message" of the condition ClusterSetEmpty; empty when there is none.
func setCondition(ctx context.Context, g Gomega, set *clusterv1beta2.ManagedClusterSet) string {
	fresh := &clusterv1beta2.ManagedClusterSet{}
	g.Expect(hub.Get(ctx, client.ObjectKeyFromObject(set), fresh)).To(Succeed())

	for _, condition := range fresh.Status.Conditions {
		if condition.Type == clusterv1beta2.ManagedClusterSetConditionEmpty {
			return conditionText(condition) + ": " + condition.Message
		}
	}

	return ""
}

// expectSetCondition waits for the condition ClusterSetEmpty of a set.
func expectSetCondition(ctx context.Context, set *clusterv1beta2.ManagedClusterSet, want string) {
	GinkgoHelper()
	Eventually(func(g Gomega) string { return setCondition(ctx, g, set) }).
		WithContext(ctx).WithTimeout(settle).Should(Equal(want))
}
