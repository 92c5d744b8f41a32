package integration

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

var _ = Describe("Taints", func() {
	const (
		noSelect       = clusterv1.TaintEffectNoSelect
		preferNoSelect = clusterv1.TaintEffectPreferNoSelect
		noSelectIfNew  = clusterv1.TaintEffectNoSelectIfNew
		exists         = clusterv1beta1.TolerationOpExists
		equal          = clusterv1beta1.TolerationOpEqual
	)

	tolerating := func(tolerations ...clusterv1beta1.Toleration) clusterv1beta1.PlacementSpec {
		return clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](4), Tolerations: tolerations}
	}

	It("8: a toleration that Exists and has a value selects nothing on a new placement, until it is removed", func(ctx SpecContext) {
		w := newWorld(ctx, withoutAdmission)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 1)
		spec := tolerating(clusterv1beta1.Toleration{Key: "key1", Operator: exists, Value: "value1"})
		spec.NumberOfClusters = ptr.To[int32](1)
		w.placement(ctx, "p", spec)
		w.expectMisconfigured(ctx, "p", `spec.tolerations[0].value: Invalid value: "value1": If the operator is Exists, the value should be empty.`)
		Expect(w.pages(ctx, Default, "p")).To(HaveLen(1))

		w.editPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { s.Tolerations = nil })
		w.expectSelected(ctx, "p", allScheduled, "c001")
	})

	It("28: tolerations by existence and by value", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.cluster(ctx, "set", "c001", tainted("key1", "value1", noSelect))
		w.cluster(ctx, "set", "c002", tainted("key2", "value2", noSelect))
		w.cluster(ctx, "set", "c003", tainted("key2", "value3", noSelect))
		w.cluster(ctx, "set", "c004", tainted("key1", "value1", noSelect), tainted("key3", "", noSelect))
		w.placement(ctx, "p", tolerating(
			clusterv1beta1.Toleration{Key: "key1", Operator: exists},
			clusterv1beta1.Toleration{Key: "key2", Operator: equal, Value: "value2"},
		))

		w.expectSelected(ctx, "p", notAllScheduled, "c001", "c002")
	})

	It("29: effects: NoSelect and NoSelectIfNew keep new clusters out, NoSelectIfNew keeps an incumbent", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.cluster(ctx, "set", "c001", tainted("key1", "", noSelect))
		w.cluster(ctx, "set", "c002", tainted("key1", "", noSelectIfNew))
		w.cluster(ctx, "set", "c003", tainted("key1", "", preferNoSelect))
		w.cluster(ctx, "set", "c004")
		w.placement(ctx, "p", tolerating(clusterv1beta1.Toleration{Key: "key2", Operator: exists, Effect: noSelect}))
		w.expectSelected(ctx, "p", notAllScheduled, "c003", "c004")

		before := w.idle(ctx)

		w.editCluster(ctx, "c004", tainted("key2", "", noSelectIfNew))
		Eventually(func(g Gomega) {
			g.Expect(w.activity(g).Evaluations).To(BeNumerically(">", before.Evaluations))
		}).WithContext(ctx).WithTimeout(settle).WithPolling(auditEvery).Should(Succeed())
		w.expectNoWrite(ctx, before.Writes)
		w.expectSelected(ctx, "p", notAllScheduled, "c003", "c004")

		w.editCluster(ctx, "c003", tainted("key3", "", noSelect))
		w.expectSelected(ctx, "p", notAllScheduled, "c004")
	})

	It("D1: a cluster that is not preferred makes room for another, and comes back when it is needed", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.cluster(ctx, "set", "c001", tainted("key1", "", clusterv1.TaintEffectPreferNoSelect))
		w.cluster(ctx, "set", "c002")
		w.placement(ctx, "p", clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](1)})
		w.expectSelected(ctx, "p", allScheduled, "c002")

		w.editPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { s.NumberOfClusters = ptr.To[int32](2) })
		w.expectSelected(ctx, "p", allScheduled, "c001", "c002")

		w.editPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { s.NumberOfClusters = ptr.To[int32](1) })
		w.expectSelected(ctx, "p", allScheduled, "c002")
	})

	It("30: a cluster leaves when its toleration ends, with no other event", func(ctx SpecContext) {
		const first, second = 12 * time.Second, 16 * time.Second

		w := newWorld(ctx)
		w.set(ctx, "set")

		added := time.Now().Truncate(time.Second)
		w.cluster(ctx, "set", "c001", taintedAt("key1", "", noSelect, added))
		w.cluster(ctx, "set", "c002", taintedAt("key2", "", noSelect, added))
		w.cluster(ctx, "set", "c003", taintedAt("key2", "", noSelect, added.Add(-time.Minute)))
		w.cluster(ctx, "set", "c004")
		w.placement(ctx, "p", tolerating(
			clusterv1beta1.Toleration{Key: "key1", Operator: exists, TolerationSeconds: ptr.To(int64(first / time.Second))},
			clusterv1beta1.Toleration{Key: "key2", Operator: exists, TolerationSeconds: ptr.To(int64(second / time.Second))},
		))
		w.expectSelected(ctx, "p", notAllScheduled, "c001", "c002", "c004")

		w.expectSelected(ctx, "p", notAllScheduled, "c002", "c004")
		Expect(time.Since(added)).To(BeNumerically(">=", first))

		w.expectSelected(ctx, "p", notAllScheduled, "c004")
		Expect(time.Since(added)).To(BeNumerically(">=", second))

		w.editCluster(ctx, "c004", tainted("key3", "", noSelect))
		w.expectSelected(ctx, "p", nothingMatched)
	})
})
