// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("P7, P11: anti-affinity", func() {
	It("takes the best cluster of each value, by label and by claim, and as many as there are values", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.AwaitNoOtherDecisions(ctx)
		f.Set(ctx, "set")
		f.Cluster(ctx, "set", "c001", suite.Labeled("zone", "a"), suite.Claiming("rack", "https://racks.example.com/1"))
		f.Cluster(ctx, "set", "c002", suite.Labeled("zone", "a"), suite.Claiming("rack", "2"))
		f.Cluster(ctx, "set", "c003", suite.Labeled("zone", "b"), suite.Claiming("rack", "2"))
		f.Cluster(ctx, "set", "c004", suite.Labeled("zone", "c"))
		f.Cluster(ctx, "set", "c005", suite.Claiming("rack", "3"))

		By("one of each zone, and none without a zone")
		f.AlphaPlacement(ctx, "zones", apart(placementv1alpha1.TopologyKeyTypeLabel, "zone"))
		f.ExpectAlpha(ctx, "zones", suite.AllScheduled, "c001", "c003", "c004")

		// Balance looks at others: c003 stands in four decisions of theirs, c001 in one.
		f.ForeignDecision(ctx, "o1", "c001", "c003")
		f.ForeignDecision(ctx, "o2", "c003")
		f.ForeignDecision(ctx, "o3", "c003")
		f.ForeignDecision(ctx, "o4", "c003")

		By("Steady keeps c001, though c002 stands in fewer decisions of others")
		f.EditCluster(ctx, "c005", suite.Labeled("zone", "d"))
		f.ExpectAlpha(ctx, "zones", suite.AllScheduled, "c001", "c003", "c004", "c005")

		By("where nobody is selected yet, Balance takes c002 of zone a")
		f.AlphaPlacement(ctx, "fresh", apart(placementv1alpha1.TopologyKeyTypeLabel, "zone"))
		f.ExpectAlpha(ctx, "fresh", suite.AllScheduled, "c002", "c003", "c004", "c005")

		By("one of each rack, of which c004 has none, and of rack 2 the one in fewer decisions")
		f.AlphaPlacement(ctx, "racks", apart(placementv1alpha1.TopologyKeyTypeClaim, "rack"))
		f.ExpectAlpha(ctx, "racks", suite.AllScheduled, "c001", "c002", "c005")

		By("more than there are zones")
		editAlpha(ctx, f, "zones", func(s *placementv1alpha1.PlacementSpec) { s.NumberOfClusters = ptr.To[int32](6) })
		f.ExpectAlpha(ctx, "zones", suite.NotAllScheduled, "c001", "c003", "c004", "c005")
		Expect(alphaMessage(ctx, f, Default, "zones", placementv1alpha1.ConditionSatisfied)).To(HavePrefix("2 cluster decisions unscheduled"))

		By("a zone that two come to share has one of them")
		f.EditCluster(ctx, "c003", suite.Labeled("zone", "c"))
		f.ExpectAlpha(ctx, "zones", suite.NotAllScheduled, "c001", "c004", "c005")

		By("a cluster that loses its zone goes, and the next one of that zone takes its place")
		f.EditCluster(ctx, "c001", func(c *clusterv1.ManagedCluster) { delete(c.Labels, "zone") })
		f.ExpectAlpha(ctx, "zones", suite.NotAllScheduled, "c002", "c004", "c005")

		By("fewer than there are zones")
		editAlpha(ctx, f, "zones", func(s *placementv1alpha1.PlacementSpec) { s.NumberOfClusters = ptr.To[int32](2) })
		Eventually(func(g Gomega) {
			seen := f.LookAlpha(ctx, g, "zones")
			g.Expect(seen.Satisfied).To(Equal(suite.AllScheduled))
			g.Expect(seen.Selected).To(HaveLen(2))
			g.Expect([]string{"c002", "c004", "c005"}).To(ContainElements(seen.Selected))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	})
})
