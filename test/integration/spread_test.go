package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/decision"
)

var _ = Describe("Spread constraints", func() {
	over := func(kind clusterv1beta1.TopologyKeyType, key string, action clusterv1beta1.UnsatisfiableMaxSkewAction) clusterv1beta1.SpreadPolicy {
		return clusterv1beta1.SpreadPolicy{SpreadConstraints: []clusterv1beta1.SpreadConstraintsTerm{{
			TopologyKey: key, TopologyKeyType: kind, MaxSkew: 1, WhenUnsatisfiable: action,
		}}}
	}
	// told waits for the condition "status reason".
	told := func(ctx SpecContext, w *world, want string) {
		GinkgoHelper()
		Eventually(func(g Gomega) {
			condition := meta.FindStatusCondition(w.read(ctx, g, "p").Status.Conditions, decision.ConditionSpreadSatisfied)
			g.Expect(condition).NotTo(BeNil())
			g.Expect(string(condition.Status) + " " + condition.Reason).To(Equal(want))
		}).WithContext(ctx).WithTimeout(settle).Should(Succeed())
	}

	It("D2: a hard constraint over a label is kept as clusters come, move and go", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 3, labeled("zone", "a"))
		w.clusters(ctx, "set", 4, 4, labeled("zone", "b"))
		w.clusters(ctx, "set", 5, 5)

		w.placement(ctx, "p", clusterv1beta1.PlacementSpec{
			NumberOfClusters: ptr.To[int32](4), PrioritizerPolicy: exactly(),
			SpreadPolicy: over(clusterv1beta1.TopologyKeyTypeLabel, "zone", clusterv1beta1.DoNotSchedule),
		})
		w.expectSelected(ctx, "p", notAllScheduled, "c001", "c002", "c004")
		told(ctx, w, "True Spread")

		w.editCluster(ctx, "c003", func(c *clusterv1.ManagedCluster) { c.Labels["zone"] = "b" })
		w.expectSelected(ctx, "p", allScheduled, "c001", "c002", "c003", "c004")

		w.deleteCluster(ctx, "c004")
		w.deleteCluster(ctx, "c003")
		// One domain is left, which is as empty as the emptiest.
		w.expectSelected(ctx, "p", notAllScheduled, "c001", "c002")
	})

	It("D2: a wish over a claim is followed as far as it goes, and the status says how far", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.cluster(ctx, "set", "c001", claiming("rack", "x"))
		w.cluster(ctx, "set", "c002", claiming("rack", "x"))
		w.cluster(ctx, "set", "c003", claiming("rack", "x"))
		w.cluster(ctx, "set", "c004", claiming("rack", "y"))

		w.placement(ctx, "p", clusterv1beta1.PlacementSpec{
			NumberOfClusters: ptr.To[int32](2), PrioritizerPolicy: exactly(),
			SpreadPolicy: over(clusterv1beta1.TopologyKeyTypeClaim, "rack", clusterv1beta1.ScheduleAnyway),
		})
		w.expectSelected(ctx, "p", allScheduled, "c001", "c004")
		told(ctx, w, "True Spread")

		w.editPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { s.NumberOfClusters = nil })
		w.expectSelected(ctx, "p", allScheduled, "c001", "c002", "c003", "c004")
		told(ctx, w, "False SkewExceeded")

		w.editPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { s.SpreadPolicy = clusterv1beta1.SpreadPolicy{} })
		Eventually(func(g Gomega) {
			g.Expect(w.read(ctx, g, "p").Status.Conditions).To(HaveLen(2))
		}).WithContext(ctx).WithTimeout(settle).Should(Succeed())
	})
})
