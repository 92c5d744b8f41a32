package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
)

var _ = Describe("P7, P11: anti-affinity", func() {
	It("takes the best cluster of each value, by label and by claim, and as many as there are values", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.alone(ctx)
		w.set(ctx, "set")
		w.cluster(ctx, "set", "c001", labeled("zone", "a"), claiming("rack", "https://racks.example.com/1"))
		w.cluster(ctx, "set", "c002", labeled("zone", "a"), claiming("rack", "2"))
		w.cluster(ctx, "set", "c003", labeled("zone", "b"), claiming("rack", "2"))
		w.cluster(ctx, "set", "c004", labeled("zone", "c"))
		w.cluster(ctx, "set", "c005", claiming("rack", "3"))

		By("one of each zone, and none without a zone")
		w.alpha(ctx, "zones", apart(placementv1alpha1.TopologyKeyTypeLabel, "zone"))
		w.expectAlpha(ctx, "zones", allScheduled, "c001", "c003", "c004")

		// Balance looks at others: c003 stands in four decisions of theirs, c001 in one.
		w.foreignPage(ctx, "o1", "c001", "c003")
		w.foreignPage(ctx, "o2", "c003")
		w.foreignPage(ctx, "o3", "c003")
		w.foreignPage(ctx, "o4", "c003")

		By("Steady keeps c001, though c002 stands in fewer decisions of others")
		w.editCluster(ctx, "c005", labeled("zone", "d"))
		w.expectAlpha(ctx, "zones", allScheduled, "c001", "c003", "c004", "c005")

		By("where nobody is selected yet, Balance takes c002 of zone a")
		w.alpha(ctx, "fresh", apart(placementv1alpha1.TopologyKeyTypeLabel, "zone"))
		w.expectAlpha(ctx, "fresh", allScheduled, "c002", "c003", "c004", "c005")

		By("one of each rack, of which c004 has none, and of rack 2 the one in fewer decisions")
		w.alpha(ctx, "racks", apart(placementv1alpha1.TopologyKeyTypeClaim, "rack"))
		w.expectAlpha(ctx, "racks", allScheduled, "c001", "c002", "c005")

		By("more than there are zones")
		w.editAlpha(ctx, "zones", func(s *placementv1alpha1.PlacementSpec) { s.NumberOfClusters = ptr.To[int32](6) })
		w.expectAlpha(ctx, "zones", notAllScheduled, "c001", "c003", "c004", "c005")
		Expect(w.alphaMessage(ctx, Default, "zones", placementv1alpha1.ConditionSatisfied)).To(HavePrefix("2 cluster decisions unscheduled"))

		By("a zone that two come to share has one of them")
		w.editCluster(ctx, "c003", labeled("zone", "c"))
		w.expectAlpha(ctx, "zones", notAllScheduled, "c001", "c004", "c005")

		By("a cluster that loses its zone goes, and the next one of that zone takes its place")
		w.editCluster(ctx, "c001", func(c *clusterv1.ManagedCluster) { delete(c.Labels, "zone") })
		w.expectAlpha(ctx, "zones", notAllScheduled, "c002", "c004", "c005")

		By("fewer than there are zones")
		w.editAlpha(ctx, "zones", func(s *placementv1alpha1.PlacementSpec) { s.NumberOfClusters = ptr.To[int32](2) })
		Eventually(func(g Gomega) {
			seen := w.lookAlpha(ctx, g, "zones")
			g.Expect(seen.Satisfied).To(Equal(allScheduled))
			g.Expect(seen.Selected).To(HaveLen(2))
			g.Expect([]string{"c002", "c004", "c005"}).To(ContainElements(seen.Selected))
		}).WithContext(ctx).WithTimeout(settle).Should(Succeed())
	})
})
