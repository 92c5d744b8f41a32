package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

var _ = Describe("Placement", func() {
	wanting := func(n int32) clusterv1beta1.PlacementSpec {
		return clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To(n)}
	}

	It("1: selects five of five with ten wanted, and makes deleted decisions again", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 5)
		w.placement(ctx, "p", wanting(10))
		w.expectSelected(ctx, "p", notAllScheduled, shorts(1, 5)...)
		Expect(w.message(ctx, Default, "p", clusterv1beta1.PlacementConditionSatisfied)).
			To(Equal("5 cluster decisions unscheduled; 5 of 5 clusters in scope selected"))

		before := w.pages(ctx, Default, "p")
		for _, page := range before {
			Expect(hub.Delete(ctx, &page)).To(Succeed())
		}

		w.expectSelected(ctx, "p", notAllScheduled, shorts(1, 5)...)
		Expect(w.pages(ctx, Default, "p")[0].UID).NotTo(Equal(before[0].UID))
	})

	It("2, C5: a terminating cluster is out while it still exists", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 4)
		w.cluster(ctx, "set", "c005", func(c *clusterv1.ManagedCluster) { c.Finalizers = []string{"example.com/hold"} })
		w.placement(ctx, "p", wanting(10))
		w.expectSelected(ctx, "p", notAllScheduled, shorts(1, 5)...)

		w.deleteCluster(ctx, "c005")

		w.expectSelected(ctx, "p", notAllScheduled, shorts(1, 4)...)

		held := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: w.name("c005")}}
		finish(ctx, held)
		gone(ctx, held)
		w.expectSelected(ctx, "p", notAllScheduled, shorts(1, 4)...)
	})

	It("3: without bindings there is one empty decision and one empty group", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.unboundSet(ctx, "set")
		w.clusters(ctx, "set", 1, 1)
		w.placement(ctx, "p", wanting(10))

		w.expectSelected(ctx, "p", noBindings)
		Expect(w.message(ctx, Default, "p", clusterv1beta1.PlacementConditionSatisfied)).
			To(Equal("No valid ManagedClusterSetBindings found in placement namespace"))
	})

	It("4, B3: 101 clusters fill two decisions of one group, and 100 only one", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 101)
		w.placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		w.expect(ctx, "p", outcome{
			Selected: shorts(1, 101), Groups: []string{"0/: 101 [p-decision-1 p-decision-2]"},
			Satisfied: allScheduled, Misconfigured: configured,
		})
		Expect(w.pages(ctx, Default, "p")[0].Status.Decisions).To(HaveLen(100))

		w.deleteCluster(ctx, "c001")
		w.expectSelected(ctx, "p", allScheduled, shorts(2, 101)...)
	})

	It("5: spec.clusterSets narrows the bound sets", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set1")
		w.set(ctx, "set2")
		w.clusters(ctx, "set1", 1, 2)
		w.clusters(ctx, "set2", 3, 5)
		w.placement(ctx, "p", wanting(10))
		w.expectSelected(ctx, "p", notAllScheduled, shorts(1, 5)...)

		w.editPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { s.ClusterSets = w.names("set1") })
		w.expectSelected(ctx, "p", notAllScheduled, shorts(1, 2)...)

		w.editPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { s.ClusterSets = []string{"absent", "missing"} })
		w.expectSelected(ctx, "p", noIntersection)
		Expect(w.message(ctx, Default, "p", clusterv1beta1.PlacementConditionSatisfied)).
			To(Equal("None of ManagedClusterSets [absent,missing] is bound to placement namespace"))
	})

	It("6: fewer wanted", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 5)
		w.placement(ctx, "p", wanting(10))
		w.expectSelected(ctx, "p", notAllScheduled, shorts(1, 5)...)

		w.editPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { s.NumberOfClusters = ptr.To[int32](4) })
		w.expectSelected(ctx, "p", allScheduled, shorts(1, 4)...)

		w.editPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { s.NumberOfClusters = ptr.To[int32](0) })
		w.expectSelected(ctx, "p", nothingMatched)
	})

	It("7: more wanted", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 10)
		w.placement(ctx, "p", wanting(5))
		w.expectSelected(ctx, "p", allScheduled, shorts(1, 5)...)

		w.editPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { s.NumberOfClusters = ptr.To[int32](8) })
		w.expectSelected(ctx, "p", allScheduled, shorts(1, 8)...)
	})

	It("9: an unsatisfied placement takes the clusters that join", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 5)
		w.placement(ctx, "p", wanting(10))
		w.expectSelected(ctx, "p", notAllScheduled, shorts(1, 5)...)

		w.clusters(ctx, "set", 6, 10)
		w.expectSelected(ctx, "p", allScheduled, shorts(1, 10)...)
	})
})
