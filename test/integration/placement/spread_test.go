// SPDX-License-Identifier: Apache-2.0

package placement

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("Spread constraints", func() {
	over := func(kind clusterv1beta1.TopologyKeyType, key string, action clusterv1beta1.UnsatisfiableMaxSkewAction) clusterv1beta1.SpreadPolicy {
		return clusterv1beta1.SpreadPolicy{SpreadConstraints: []clusterv1beta1.SpreadConstraintsTerm{{
			TopologyKey: key, TopologyKeyType: kind, MaxSkew: 1, WhenUnsatisfiable: action,
		}}}
	}
	// told waits for the condition "status reason".
	told := func(ctx SpecContext, f *suite.Fixture, want string) {
		GinkgoHelper()
		Eventually(func(g Gomega) {
			condition := meta.FindStatusCondition(f.Read(ctx, g, "p").Status.Conditions, placement.ConditionSpreadSatisfied)
			g.Expect(condition).NotTo(BeNil())
			g.Expect(string(condition.Status) + " " + condition.Reason).To(Equal(want))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	}

	It("D2: a hard constraint over a label is kept as clusters come, move and go", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 3, suite.Labeled("zone", "a"))
		f.Clusters(ctx, "set", 4, 4, suite.Labeled("zone", "b"))
		f.Clusters(ctx, "set", 5, 5)

		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{
			NumberOfClusters: ptr.To[int32](4), PrioritizerPolicy: suite.Exactly(),
			SpreadPolicy: over(clusterv1beta1.TopologyKeyTypeLabel, "zone", clusterv1beta1.DoNotSchedule),
		})
		f.ExpectSelected(ctx, "p", suite.NotAllScheduled, "c001", "c002", "c004")
		told(ctx, f, "True Spread")

		f.EditCluster(ctx, "c003", func(c *clusterv1.ManagedCluster) { c.Labels["zone"] = "b" })
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001", "c002", "c003", "c004")

		f.DeleteCluster(ctx, "c004")
		f.DeleteCluster(ctx, "c003")
		// One domain is left, which is as empty as the emptiest.
		f.ExpectSelected(ctx, "p", suite.NotAllScheduled, "c001", "c002")
	})

	It("D2: a wish over a claim is followed as far as it goes, and the status says how far", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Cluster(ctx, "set", "c001", suite.Claiming("rack", "x"))
		f.Cluster(ctx, "set", "c002", suite.Claiming("rack", "x"))
		f.Cluster(ctx, "set", "c003", suite.Claiming("rack", "x"))
		f.Cluster(ctx, "set", "c004", suite.Claiming("rack", "y"))

		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{
			NumberOfClusters: ptr.To[int32](2), PrioritizerPolicy: suite.Exactly(),
			SpreadPolicy: over(clusterv1beta1.TopologyKeyTypeClaim, "rack", clusterv1beta1.ScheduleAnyway),
		})
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001", "c004")
		told(ctx, f, "True Spread")

		f.EditPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { s.NumberOfClusters = nil })
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001", "c002", "c003", "c004")
		told(ctx, f, "False SkewExceeded")

		f.EditPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { s.SpreadPolicy = clusterv1beta1.SpreadPolicy{} })
		Eventually(func(g Gomega) {
			g.Expect(f.Read(ctx, g, "p").Status.Conditions).To(HaveLen(2))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	})
})
