// SPDX-License-Identifier: Apache-2.0

package placement

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("Placement", func() {
	wanting := func(n int32) clusterv1beta1.PlacementSpec {
		return clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To(n)}
	}
	It("1: selects five of five with ten wanted, and makes deleted decisions again", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 5)
		f.Placement(ctx, "p", wanting(10))
		f.ExpectSelected(ctx, "p", suite.NotAllScheduled, suite.Shorts(1, 5)...)
		Expect(f.Message(ctx, Default, "p", clusterv1beta1.PlacementConditionSatisfied)).
			To(Equal("5 cluster decisions unscheduled; 5 of 5 clusters in scope selected"))

		before := f.Pages(ctx, Default, "p")
		for _, page := range before {
			Expect(suite.Client.Delete(ctx, &page)).To(Succeed())
		}
		f.ExpectSelected(ctx, "p", suite.NotAllScheduled, suite.Shorts(1, 5)...)
		Expect(f.Pages(ctx, Default, "p")[0].UID).NotTo(Equal(before[0].UID))
	})

	It("2, C5: a terminating cluster is out while it still exists", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 4)
		f.Cluster(ctx, "set", "c005", func(c *clusterv1.ManagedCluster) { c.Finalizers = []string{"example.com/hold"} })
		f.Placement(ctx, "p", wanting(10))
		f.ExpectSelected(ctx, "p", suite.NotAllScheduled, suite.Shorts(1, 5)...)

		f.DeleteCluster(ctx, "c005")

		f.ExpectSelected(ctx, "p", suite.NotAllScheduled, suite.Shorts(1, 4)...)
		held := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: f.Name("c005")}}
		suite.DropFinalizers(ctx, held)
		suite.ExpectGone(ctx, held)
		f.ExpectSelected(ctx, "p", suite.NotAllScheduled, suite.Shorts(1, 4)...)
	})

	It("3: without bindings there is one empty decision and one empty group", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.UnboundSet(ctx, "set")
		f.Clusters(ctx, "set", 1, 1)
		f.Placement(ctx, "p", wanting(10))
		f.ExpectSelected(ctx, "p", suite.NoBindings)
		Expect(f.Message(ctx, Default, "p", clusterv1beta1.PlacementConditionSatisfied)).
			To(Equal("No valid ManagedClusterSetBindings found in placement namespace"))
	})

	It("4, B3: 101 clusters fill two decisions of one group, and 100 only one", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 101)
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		f.Expect(ctx, "p", suite.Outcome{
			Selected: suite.Shorts(1, 101), Groups: []string{"0/: 101 [p-decision-1 p-decision-2]"},
			Satisfied: suite.AllScheduled, Misconfigured: suite.Configured,
		})
		Expect(f.Pages(ctx, Default, "p")[0].Status.Decisions).To(HaveLen(100))

		f.DeleteCluster(ctx, "c001")
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(2, 101)...)
	})

	It("5: spec.clusterSets narrows the bound sets", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set1")
		f.Set(ctx, "set2")
		f.Clusters(ctx, "set1", 1, 2)
		f.Clusters(ctx, "set2", 3, 5)
		f.Placement(ctx, "p", wanting(10))
		f.ExpectSelected(ctx, "p", suite.NotAllScheduled, suite.Shorts(1, 5)...)

		f.EditPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { s.ClusterSets = f.Names("set1") })
		f.ExpectSelected(ctx, "p", suite.NotAllScheduled, suite.Shorts(1, 2)...)

		f.EditPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { s.ClusterSets = []string{"absent", "missing"} })
		f.ExpectSelected(ctx, "p", suite.NoIntersection)
		Expect(f.Message(ctx, Default, "p", clusterv1beta1.PlacementConditionSatisfied)).
			To(Equal("None of ManagedClusterSets [absent,missing] is bound to placement namespace"))
	})

	It("6: fewer wanted", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 5)
		f.Placement(ctx, "p", wanting(10))
		f.ExpectSelected(ctx, "p", suite.NotAllScheduled, suite.Shorts(1, 5)...)
		f.EditPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { s.NumberOfClusters = ptr.To[int32](4) })
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(1, 4)...)
		f.EditPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { s.NumberOfClusters = ptr.To[int32](0) })
		f.ExpectSelected(ctx, "p", suite.NothingMatched)
	})

	It("7: more wanted", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 10)
		f.Placement(ctx, "p", wanting(5))
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(1, 5)...)
		f.EditPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { s.NumberOfClusters = ptr.To[int32](8) })
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(1, 8)...)
	})

	It("9: an unsatisfied placement takes the clusters that join", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 5)
		f.Placement(ctx, "p", wanting(10))
		f.ExpectSelected(ctx, "p", suite.NotAllScheduled, suite.Shorts(1, 5)...)
		f.Clusters(ctx, "set", 6, 10)
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(1, 10)...)
	})
})
