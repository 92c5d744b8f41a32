// SPDX-License-Identifier: Apache-2.0

package placement

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("The causes of an unsatisfied placement", func() {
	It("E2: follow the fleet, and the status of a satisfied placement does not move with it", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Cluster(ctx, "set", "c001", suite.Labeled("region", "eu"))
		f.Clusters(ctx, "set", 2, 3, suite.Labeled("region", "us"))

		wanting := func(n int32) clusterv1beta1.PlacementSpec {
			return clusterv1beta1.PlacementSpec{
				NumberOfClusters: ptr.To(n), Predicates: []clusterv1beta1.ClusterPredicate{suite.ByLabel("region", "eu"), suite.ByLabel("zone", "a")},
			}
		}
		f.Placement(ctx, "enough", wanting(1))
		f.Placement(ctx, "short", wanting(3))
		f.ExpectSelected(ctx, "enough", suite.AllScheduled, "c001")

		expectCauses := func(selected, causes string) {
			GinkgoHelper()
			Eventually(func(g Gomega) {
				g.Expect(f.Message(ctx, g, "short", clusterv1beta1.PlacementConditionSatisfied)).
					To(Equal("2 cluster decisions unscheduled; " + selected + " clusters in scope selected; not selected: " + causes))
			}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		}
		const region = "predicate 1 label region In [eu] and predicate 2 label zone In [a]"
		expectCauses("1 of 3", region+" (2)")
		f.AwaitIdle(ctx)

		enough := f.Read(ctx, Default, "enough").ResourceVersion
		By("a cluster that joins")
		f.Cluster(ctx, "set", "c004", suite.Labeled("region", "us"))
		expectCauses("1 of 4", region+" (3)")

		By("a cluster that would match but for its taint")
		f.EditCluster(ctx, "c004", func(c *clusterv1.ManagedCluster) {
			c.Labels["zone"] = "a"
			c.Spec.Taints = []clusterv1.Taint{{Key: "gpu", Effect: clusterv1.TaintEffectNoSelect}}
		})
		expectCauses("1 of 4", region+" (2), taint gpu:NoSelect not tolerated (1)")

		By("clusters that leave")
		f.DeleteCluster(ctx, "c004")
		expectCauses("1 of 3", region+" (2)")

		By("nothing that is told of")
		f.AwaitIdle(ctx)
		short := f.Read(ctx, Default, "short").ResourceVersion
		f.EditCluster(ctx, "c002", suite.Labeled("region", "ap"))
		f.AwaitIdle(ctx)

		Expect(f.Read(ctx, Default, "short").ResourceVersion).To(Equal(short))
		Expect(f.Read(ctx, Default, "enough").ResourceVersion).To(Equal(enough))
	})
})
