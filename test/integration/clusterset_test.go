package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

var _ = Describe("Cluster sets of a placement", func() {
	wanting := func(n int32) clusterv1beta1.PlacementSpec {
		return clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To(n)}
	}
	production := func() metav1.LabelSelector {
		return metav1.LabelSelector{MatchLabels: map[string]string{"stage": "production"}}
	}

	It("10: the members of a set with a label selector come and go", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.labelSet(ctx, "set", production())
		w.cluster(ctx, "", "c001", labeled("stage", "production"))
		w.cluster(ctx, "", "c002", labeled("stage", "test"))
		w.placement(ctx, "p", wanting(2))
		w.expectSelected(ctx, "p", notAllScheduled, "c001")

		w.cluster(ctx, "", "c003", labeled("stage", "production"))
		w.expectSelected(ctx, "p", allScheduled, "c001", "c003")

		w.deleteCluster(ctx, "c001")
		w.expectSelected(ctx, "p", notAllScheduled, "c003")

		w.deleteCluster(ctx, "c003")
		w.expectSelected(ctx, "p", allSetsEmpty)
		Expect(w.message(ctx, Default, "p", clusterv1beta1.PlacementConditionSatisfied)).
			To(HavePrefix("All ManagedClusterSets [" + w.name("set") + "] have no member ManagedCluster"))
	})

	It("12: the set global holds every cluster that comes", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.bindAny(ctx, "global")
		w.cluster(ctx, "", "other", labeled("kind", "other"))
		spec := wanting(10)
		spec.Predicates = []clusterv1beta1.ClusterPredicate{byLabel("mine", w.namespace)}
		w.placement(ctx, "p", spec)
		w.expectSelected(ctx, "p", nothingMatched)

		w.clusters(ctx, "", 1, 3, labeled("mine", w.namespace))
		w.expectSelected(ctx, "p", notAllScheduled, shorts(1, 3)...)

		w.deleteCluster(ctx, "c002")
		w.expectSelected(ctx, "p", notAllScheduled, "c001", "c003")
	})

	It("13: a second exclusive set is bound later", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set1")
		w.clusters(ctx, "set1", 1, 5)
		w.placement(ctx, "p", wanting(10))
		w.expectSelected(ctx, "p", notAllScheduled, shorts(1, 5)...)

		w.unboundSet(ctx, "set2")
		w.clusters(ctx, "set2", 6, 8)
		w.bind(ctx, "set2")
		w.expectSelected(ctx, "p", notAllScheduled, shorts(1, 8)...)
	})

	It("14: a second set with a label selector is bound later; a cluster in both counts once", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.labelSet(ctx, "set1", production())
		w.cluster(ctx, "", "c001", labeled("stage", "production"))
		w.cluster(ctx, "", "c002", labeled("stage", "test"))
		w.placement(ctx, "p", wanting(2))
		w.expectSelected(ctx, "p", notAllScheduled, "c001")

		w.labelSet(ctx, "set2", metav1.LabelSelector{})
		w.expectSelected(ctx, "p", allScheduled, "c001", "c002")
	})

	It("15: an exclusive set is deleted and made again", func(ctx SpecContext) {
		w := newWorld(ctx)
		set := w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 5)
		w.placement(ctx, "p", wanting(10))
		w.expectSelected(ctx, "p", notAllScheduled, shorts(1, 5)...)

		Expect(hub.Delete(ctx, set)).To(Succeed())
		w.expectSelected(ctx, "p", noBindings)

		w.unboundSet(ctx, "set")
		w.expectSelected(ctx, "p", notAllScheduled, shorts(1, 5)...)
	})

	It("16: a set with a label selector is deleted and made again", func(ctx SpecContext) {
		w := newWorld(ctx)
		set := w.labelSet(ctx, "set", production())
		w.cluster(ctx, "", "c001", labeled("stage", "production"))
		w.placement(ctx, "p", wanting(2))
		w.expectSelected(ctx, "p", notAllScheduled, "c001")

		Expect(hub.Delete(ctx, set)).To(Succeed())
		w.expectSelected(ctx, "p", noBindings)

		set.ResourceVersion = ""
		w.create(ctx, set)
		w.expectSelected(ctx, "p", notAllScheduled, "c001")

		w.deleteCluster(ctx, "c001")
		w.expectSelected(ctx, "p", allSetsEmpty)
	})

	It("17: a binding is deleted and made again", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.unboundSet(ctx, "set")
		binding := w.bind(ctx, "set")
		w.clusters(ctx, "set", 1, 5)
		w.placement(ctx, "p", wanting(10))
		w.expectSelected(ctx, "p", notAllScheduled, shorts(1, 5)...)

		Expect(hub.Delete(ctx, binding)).To(Succeed())
		w.expectSelected(ctx, "p", noBindings)

		w.bind(ctx, "set")
		w.expectSelected(ctx, "p", notAllScheduled, shorts(1, 5)...)
	})
})
