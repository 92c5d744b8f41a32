package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

var _ = Describe("The causes of an unsatisfied placement", func() {
	It("E2: follow the fleet, and the status of a satisfied placement does not move with it", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.cluster(ctx, "set", "c001", labeled("region", "eu"))
		w.clusters(ctx, "set", 2, 3, labeled("region", "us"))

		wanting := func(n int32) clusterv1beta1.PlacementSpec {
			return clusterv1beta1.PlacementSpec{
				NumberOfClusters: ptr.To(n), Predicates: []clusterv1beta1.ClusterPredicate{byLabel("region", "eu"), byLabel("zone", "a")},
			}
		}
		w.placement(ctx, "enough", wanting(1))
		w.placement(ctx, "short", wanting(3))
		w.expectSelected(ctx, "enough", allScheduled, "c001")

		expectCauses := func(selected, causes string) {
			GinkgoHelper()
			Eventually(func(g Gomega) {
				g.Expect(w.message(ctx, g, "short", clusterv1beta1.PlacementConditionSatisfied)).
					To(Equal("2 cluster decisions unscheduled; " + selected + " clusters in scope selected; not selected: " + causes))
			}).WithContext(ctx).WithTimeout(settle).Should(Succeed())
		}

		const region = "predicate 1 label region In [eu] and predicate 2 label zone In [a]"

		expectCauses("1 of 3", region+" (2)")
		w.idle(ctx)

		enough := w.read(ctx, Default, "enough").ResourceVersion

		By("a cluster that joins")
		w.cluster(ctx, "set", "c004", labeled("region", "us"))
		expectCauses("1 of 4", region+" (3)")

		By("a cluster that would match but for its taint")
		w.editCluster(ctx, "c004", func(c *clusterv1.ManagedCluster) {
			c.Labels["zone"] = "a"
			c.Spec.Taints = []clusterv1.Taint{{Key: "gpu", Effect: clusterv1.TaintEffectNoSelect}}
		})
		expectCauses("1 of 4", region+" (2), taint gpu:NoSelect not tolerated (1)")

		By("clusters that leave")
		w.deleteCluster(ctx, "c004")
		expectCauses("1 of 3", region+" (2)")

		By("nothing that is told of")
		w.idle(ctx)

		short := w.read(ctx, Default, "short").ResourceVersion
		w.editCluster(ctx, "c002", labeled("region", "ap"))
		w.idle(ctx)

		Expect(w.read(ctx, Default, "short").ResourceVersion).To(Equal(short))
		Expect(w.read(ctx, Default, "enough").ResourceVersion).To(Equal(enough))
	})
})
