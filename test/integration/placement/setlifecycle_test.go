// SPDX-License-Identifier: Apache-2.0

package placement

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("Life cycle of sets and bindings", func() {
	const empty = "True NoClusterMatched: No ManagedCluster selected"
	It("43: a set is empty until a cluster joins, and both sets follow a cluster that moves", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		set1, set2 := f.UnboundSet(ctx, "set1"), f.UnboundSet(ctx, "set2")
		suite.ExpectSetCondition(ctx, set1, empty)
		suite.ExpectSetCondition(ctx, set2, empty)

		f.Clusters(ctx, "set1", 1, 2)
		suite.ExpectSetCondition(ctx, set1, "False ClustersSelected: 2 ManagedClusters selected")

		f.EditCluster(ctx, "c002", func(c *clusterv1.ManagedCluster) { c.Labels[clusterv1beta2.ClusterSetLabel] = f.Name("set2") })
		suite.ExpectSetCondition(ctx, set1, "False ClustersSelected: 1 ManagedClusters selected")
		suite.ExpectSetCondition(ctx, set2, "False ClustersSelected: 1 ManagedClusters selected")

		f.DeleteCluster(ctx, "c001")
		suite.ExpectSetCondition(ctx, set1, empty)
	})

	It("44: an exclusive set counts terminating members", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		set := f.UnboundSet(ctx, "set")
		cluster := f.Cluster(ctx, "set", "c001", func(c *clusterv1.ManagedCluster) { c.Finalizers = []string{"example.com/hold"} })
		suite.ExpectSetCondition(ctx, set, "False ClustersSelected: 1 ManagedClusters selected")
		Expect(suite.Client.Delete(ctx, cluster)).To(Succeed())
		Consistently(func(g Gomega) string { return suite.SetCondition(ctx, g, set) }).WithContext(ctx).WithTimeout(suite.QuietPeriod).
			Should(Equal("False ClustersSelected: 1 ManagedClusters selected"))
		suite.DropFinalizers(ctx, cluster)
		suite.ExpectSetCondition(ctx, set, empty)
	})

	It("45: a set with a label selector follows the labels of clusters, and its own selector", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		set := f.LabelSet(ctx, "set", metav1.LabelSelector{MatchLabels: map[string]string{"stage": "production"}})
		f.Clusters(ctx, "", 1, 3)
		suite.ExpectSetCondition(ctx, set, empty)
		f.EditCluster(ctx, "c001", func(c *clusterv1.ManagedCluster) { c.Labels["stage"] = "production" })
		suite.ExpectSetCondition(ctx, set, "False ClustersSelected: 1 ManagedClusters selected")
		suite.Edit(ctx, set, func(s *clusterv1beta2.ManagedClusterSet) { s.Spec.ClusterSelector.LabelSelector.MatchLabels = nil })
		suite.ExpectSetCondition(ctx, set, "False ClustersSelected: 3 ManagedClusters selected")
		suite.Edit(ctx, set, func(s *clusterv1beta2.ManagedClusterSet) { s.Spec.ClusterSelector.LabelSelector = nil })
		suite.ExpectSetCondition(ctx, set, empty)
	})

	It("46, 48: global holds every cluster", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		global := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "global"}}
		count := func(g Gomega) int {
			clusters := &clusterv1.ManagedClusterList{}
			g.Expect(suite.Client.List(ctx, clusters)).To(Succeed())
			return len(clusters.Items)
		}

		f.Cluster(ctx, "", "c001")
		f.Cluster(ctx, "somewhere", "c002")
		Expect(count(Default)).To(BeNumerically(">=", 2))
		Eventually(func(g Gomega) {
			g.Expect(suite.SetCondition(ctx, g, global)).To(HavePrefix("False ClustersSelected: "))
			g.Expect(suite.SetCondition(ctx, g, global)).To(HaveSuffix(" selected"))
			g.Expect(suite.SetCondition(ctx, g, global)).To(ContainSubstring(": %d ManagedClusters", count(g)))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	})

	DescribeTable("47, 48: the sets every hub has",
		func(ctx SpecContext, name string, standard clusterv1beta2.ManagedClusterSelector) {
			set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: name}}
			read := func(g Gomega) *clusterv1beta2.ManagedClusterSet {
				fresh := &clusterv1beta2.ManagedClusterSet{}
				g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(set), fresh)).To(Succeed())
				return fresh
			}
			expectStandard := func() {
				GinkgoHelper()
				Eventually(func(g Gomega) clusterv1beta2.ManagedClusterSelector { return read(g).Spec.ClusterSelector }).
					WithContext(ctx).WithTimeout(suite.Timeout).Should(Equal(standard))
			}
			other := clusterv1beta2.ManagedClusterSelector{
				SelectorType: clusterv1beta2.LabelSelector, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}},
			}

			By("existing from the start")
			expectStandard()

			By("coming back when deleted")
			first := read(Default).UID
			Expect(suite.Client.Delete(ctx, set)).To(Succeed())
			Eventually(func(g Gomega) { g.Expect(read(g).UID).NotTo(Equal(first)) }).
				WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
			expectStandard()

			By("rolling back the selector and nothing else")
			suite.Edit(ctx, set, func(s *clusterv1beta2.ManagedClusterSet) {
				s.Spec.ClusterSelector = *other.DeepCopy()
				s.Labels = map[string]string{"example.com/team": "blue"}
				s.Annotations = map[string]string{"example.com/note": "kept"}
				s.Finalizers = []string{"example.com/hold"}
			})
			expectStandard()

			kept := read(Default)
			Expect(kept.Labels).To(Equal(map[string]string{"example.com/team": "blue"}))
			Expect(kept.Annotations).To(Equal(map[string]string{"example.com/note": "kept"}))
			Expect(kept.Finalizers).To(Equal([]string{"example.com/hold"}))

			By("opting out with autoupdate=false, and in again")
			suite.Edit(ctx, set, func(s *clusterv1beta2.ManagedClusterSet) {
				s.Spec.ClusterSelector = *other.DeepCopy()
				s.Annotations["cluster.open-cluster-management.io/autoupdate"] = "false"
			})
			Consistently(func(g Gomega) clusterv1beta2.ManagedClusterSelector { return read(g).Spec.ClusterSelector }).
				WithContext(ctx).WithTimeout(suite.QuietPeriod).Should(Equal(other))
			suite.Edit(ctx, set, func(s *clusterv1beta2.ManagedClusterSet) {
				s.Annotations["cluster.open-cluster-management.io/autoupdate"] = "true"
			})
			expectStandard()

			By("coming back when the finalizer of others goes")
			second := read(Default)
			Expect(suite.Client.Delete(ctx, set)).To(Succeed())
			Expect(read(Default).DeletionTimestamp).NotTo(BeNil())
			suite.DropFinalizers(ctx, second)
			Eventually(func(g Gomega) { g.Expect(read(g).UID).NotTo(Equal(second.UID)) }).
				WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
			expectStandard()
			Expect(read(Default).Finalizers).To(BeEmpty())
		},
		Entry("default", "default", clusterv1beta2.ManagedClusterSelector{SelectorType: clusterv1beta2.ExclusiveClusterSetLabel}),
		Entry("global", "global", clusterv1beta2.ManagedClusterSelector{
			SelectorType: clusterv1beta2.LabelSelector, LabelSelector: &metav1.LabelSelector{},
		}),
	)

	It("sets of other names are not made", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		set := f.UnboundSet(ctx, "set")
		suite.ExpectSetCondition(ctx, set, empty)
		Expect(suite.Client.Delete(ctx, set)).To(Succeed())
		Consistently(func() bool { return apierrors.IsNotFound(suite.Client.Get(ctx, client.ObjectKeyFromObject(set), set)) }).
			WithContext(ctx).WithTimeout(suite.QuietPeriod).Should(BeTrue())
	})

	It("38: a binding is Bound while its set exists", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		binding := f.Bind(ctx, "set")
		bound := func(want string) {
			GinkgoHelper()
			Eventually(func(g Gomega) {
				fresh := &clusterv1beta2.ManagedClusterSetBinding{}
				g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(binding), fresh)).To(Succeed())
				g.Expect(fresh.Status.Conditions).To(HaveLen(1))
				g.Expect(fresh.Status.Conditions[0].Type).To(Equal("Bound"))
				g.Expect(suite.ConditionText(fresh.Status.Conditions[0])).To(Equal(want))
				g.Expect(fresh.Status.Conditions[0].Message).To(BeEmpty())
			}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		}
		bound("False ClusterSetNotFound")

		set := f.UnboundSet(ctx, "set")
		bound("True ClusterSetBound")

		Expect(suite.Client.Delete(ctx, set)).To(Succeed())
		bound("False ClusterSetNotFound")
	})
})
