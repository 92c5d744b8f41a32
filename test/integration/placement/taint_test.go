// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/test/integration/suite"
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
		f := suite.NewFixture(ctx, suite.WithoutAdmission)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 1)
		spec := tolerating(clusterv1beta1.Toleration{Key: "key1", Operator: exists, Value: "value1"})
		spec.NumberOfClusters = ptr.To[int32](1)
		f.Placement(ctx, "p", spec)
		f.ExpectMisconfigured(ctx, "p", `spec.tolerations[0].value: Invalid value: "value1": If the operator is Exists, the value should be empty.`)
		Expect(f.Pages(ctx, Default, "p")).To(HaveLen(1))
		f.EditPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { s.Tolerations = nil })
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001")
	})

	It("28: tolerations by existence and by value", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Cluster(ctx, "set", "c001", suite.Tainted("key1", "value1", noSelect))
		f.Cluster(ctx, "set", "c002", suite.Tainted("key2", "value2", noSelect))
		f.Cluster(ctx, "set", "c003", suite.Tainted("key2", "value3", noSelect))
		f.Cluster(ctx, "set", "c004", suite.Tainted("key1", "value1", noSelect), suite.Tainted("key3", "", noSelect))
		f.Placement(ctx, "p", tolerating(
			clusterv1beta1.Toleration{Key: "key1", Operator: exists},
			clusterv1beta1.Toleration{Key: "key2", Operator: equal, Value: "value2"},
		))

		f.ExpectSelected(ctx, "p", suite.NotAllScheduled, "c001", "c002")
	})

	It("29: effects: NoSelect and NoSelectIfNew keep new clusters out, NoSelectIfNew keeps an incumbent", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Cluster(ctx, "set", "c001", suite.Tainted("key1", "", noSelect))
		f.Cluster(ctx, "set", "c002", suite.Tainted("key1", "", noSelectIfNew))
		f.Cluster(ctx, "set", "c003", suite.Tainted("key1", "", preferNoSelect))
		f.Cluster(ctx, "set", "c004")
		f.Placement(ctx, "p", tolerating(clusterv1beta1.Toleration{Key: "key2", Operator: exists, Effect: noSelect}))
		f.ExpectSelected(ctx, "p", suite.NotAllScheduled, "c003", "c004")
		before := f.AwaitIdle(ctx)

		f.EditCluster(ctx, "c004", suite.Tainted("key2", "", noSelectIfNew))
		Eventually(func(g Gomega) {
			g.Expect(f.Activity(g).Evaluations).To(BeNumerically(">", before.Evaluations))
		}).WithContext(ctx).WithTimeout(suite.Timeout).WithPolling(suite.AuditInterval).Should(Succeed())
		f.ExpectNoWrite(ctx, before.Writes)
		f.ExpectSelected(ctx, "p", suite.NotAllScheduled, "c003", "c004")

		f.EditCluster(ctx, "c003", suite.Tainted("key3", "", noSelect))
		f.ExpectSelected(ctx, "p", suite.NotAllScheduled, "c004")
	})

	It("D1: a cluster that is not preferred makes room for another, and comes back when it is needed", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Cluster(ctx, "set", "c001", suite.Tainted("key1", "", clusterv1.TaintEffectPreferNoSelect))
		f.Cluster(ctx, "set", "c002")
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](1)})
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c002")
		f.EditPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { s.NumberOfClusters = ptr.To[int32](2) })
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001", "c002")
		f.EditPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { s.NumberOfClusters = ptr.To[int32](1) })
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c002")
	})

	It("30: a cluster leaves when its toleration ends, with no other event", func(ctx SpecContext) {
		const long = time.Hour
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 2)
		f.Cluster(ctx, "set", "c003", suite.TaintedAt("key", "", noSelect, time.Now().Add(-2*long)))
		f.Cluster(ctx, "set", "c004")
		f.Placement(ctx, "p", tolerating(
			clusterv1beta1.Toleration{Key: "key", Operator: exists, TolerationSeconds: ptr.To(int64(long / time.Second))},
		))
		f.ExpectSelected(ctx, "p", suite.NotAllScheduled, "c001", "c002", "c004")

		first := inAWhile()
		second := first.Add(12 * time.Second) // A busy machine sees c002 without c001.
		f.EditCluster(ctx, "c002", suite.TaintedAt("key", "", noSelect, second.Add(-long)))
		f.EditCluster(ctx, "c001", suite.TaintedAt("key", "", noSelect, first.Add(-long)))
		f.ExpectSelected(ctx, "p", suite.NotAllScheduled, "c002", "c004")
		Expect(time.Now()).To(BeTemporally(">=", first.Time))

		f.ExpectSelected(ctx, "p", suite.NotAllScheduled, "c004")
		Expect(time.Now()).To(BeTemporally(">=", second))

		f.EditCluster(ctx, "c004", suite.Tainted("key3", "", noSelect))
		f.ExpectSelected(ctx, "p", suite.NothingMatched)
	})
})
