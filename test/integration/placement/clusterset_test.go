// SPDX-License-Identifier: Apache-2.0

package placement

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("Cluster sets of a placement", func() {
	wanting := func(n int32) clusterv1beta1.PlacementSpec {
		return clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To(n)}
	}
	production := func() metav1.LabelSelector {
		return metav1.LabelSelector{MatchLabels: map[string]string{"stage": "production"}}
	}

	It("10: the members of a set with a label selector come and go", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.LabelSet(ctx, "set", production())
		f.Cluster(ctx, "", "c001", suite.Labeled("stage", "production"))
		f.Cluster(ctx, "", "c002", suite.Labeled("stage", "test"))
		f.Placement(ctx, "p", wanting(2))
		f.ExpectSelected(ctx, "p", suite.NotAllScheduled, "c001")

		f.Cluster(ctx, "", "c003", suite.Labeled("stage", "production"))
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001", "c003")

		f.DeleteCluster(ctx, "c001")
		f.ExpectSelected(ctx, "p", suite.NotAllScheduled, "c003")

		f.DeleteCluster(ctx, "c003")
		f.ExpectSelected(ctx, "p", suite.AllSetsEmpty)
		Expect(f.Message(ctx, Default, "p", clusterv1beta1.PlacementConditionSatisfied)).
			To(HavePrefix("All ManagedClusterSets [" + f.Name("set") + "] have no member ManagedCluster"))
	})

	It("12: the set global holds every cluster that comes", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.BindAny(ctx, "global")
		f.Cluster(ctx, "", "other", suite.Labeled("kind", "other"))
		spec := wanting(10)
		spec.Predicates = []clusterv1beta1.ClusterPredicate{suite.ByLabel("mine", f.Namespace)}
		f.Placement(ctx, "p", spec)
		f.ExpectSelected(ctx, "p", suite.NothingMatched)

		f.Clusters(ctx, "", 1, 3, suite.Labeled("mine", f.Namespace))
		f.ExpectSelected(ctx, "p", suite.NotAllScheduled, suite.Shorts(1, 3)...)

		f.DeleteCluster(ctx, "c002")
		f.ExpectSelected(ctx, "p", suite.NotAllScheduled, "c001", "c003")
	})

	It("13: a second exclusive set is bound later", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set1")
		f.Clusters(ctx, "set1", 1, 5)
		f.Placement(ctx, "p", wanting(10))
		f.ExpectSelected(ctx, "p", suite.NotAllScheduled, suite.Shorts(1, 5)...)
		f.UnboundSet(ctx, "set2")
		f.Clusters(ctx, "set2", 6, 8)
		f.Bind(ctx, "set2")
		f.ExpectSelected(ctx, "p", suite.NotAllScheduled, suite.Shorts(1, 8)...)
	})

	It("14: a second set with a label selector is bound later; a cluster in both counts once", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.LabelSet(ctx, "set1", production())
		f.Cluster(ctx, "", "c001", suite.Labeled("stage", "production"))
		f.Cluster(ctx, "", "c002", suite.Labeled("stage", "test"))
		f.Placement(ctx, "p", wanting(2))
		f.ExpectSelected(ctx, "p", suite.NotAllScheduled, "c001")
		f.LabelSet(ctx, "set2", metav1.LabelSelector{})
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001", "c002")
	})

	It("15: an exclusive set is deleted and made again", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		set := f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 5)
		f.Placement(ctx, "p", wanting(10))
		f.ExpectSelected(ctx, "p", suite.NotAllScheduled, suite.Shorts(1, 5)...)
		Expect(suite.Client.Delete(ctx, set)).To(Succeed())
		f.ExpectSelected(ctx, "p", suite.NoBindings)
		f.UnboundSet(ctx, "set")
		f.ExpectSelected(ctx, "p", suite.NotAllScheduled, suite.Shorts(1, 5)...)
	})

	It("16: a set with a label selector is deleted and made again", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		set := f.LabelSet(ctx, "set", production())
		f.Cluster(ctx, "", "c001", suite.Labeled("stage", "production"))
		f.Placement(ctx, "p", wanting(2))
		f.ExpectSelected(ctx, "p", suite.NotAllScheduled, "c001")

		Expect(suite.Client.Delete(ctx, set)).To(Succeed())
		f.ExpectSelected(ctx, "p", suite.NoBindings)
		set.ResourceVersion = ""
		f.Create(ctx, set)
		f.ExpectSelected(ctx, "p", suite.NotAllScheduled, "c001")

		f.DeleteCluster(ctx, "c001")
		f.ExpectSelected(ctx, "p", suite.AllSetsEmpty)
	})

	It("17: a binding is deleted and made again", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.UnboundSet(ctx, "set")
		binding := f.Bind(ctx, "set")
		f.Clusters(ctx, "set", 1, 5)
		f.Placement(ctx, "p", wanting(10))
		f.ExpectSelected(ctx, "p", suite.NotAllScheduled, suite.Shorts(1, 5)...)
		Expect(suite.Client.Delete(ctx, binding)).To(Succeed())
		f.ExpectSelected(ctx, "p", suite.NoBindings)
		f.Bind(ctx, "set")
		f.ExpectSelected(ctx, "p", suite.NotAllScheduled, suite.Shorts(1, 5)...)
	})
})
