package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var _ = Describe("Life cycle of sets and bindings", func() {
	const empty = "True NoClusterMatched: No ManagedCluster selected"

	It("43: a set is empty until a cluster joins, and both sets follow a cluster that moves", func(ctx SpecContext) {
		w := newWorld(ctx)
		set1, set2 := w.unboundSet(ctx, "set1"), w.unboundSet(ctx, "set2")
		expectSetCondition(ctx, set1, empty)
		expectSetCondition(ctx, set2, empty)

		w.clusters(ctx, "set1", 1, 2)
		expectSetCondition(ctx, set1, "False ClustersSelected: 2 ManagedClusters selected")

		w.editCluster(ctx, "c002", func(c *clusterv1.ManagedCluster) { c.Labels[clusterv1beta2.ClusterSetLabel] = w.name("set2") })
		expectSetCondition(ctx, set1, "False ClustersSelected: 1 ManagedClusters selected")
		expectSetCondition(ctx, set2, "False ClustersSelected: 1 ManagedClusters selected")

		w.deleteCluster(ctx, "c001")
		expectSetCondition(ctx, set1, empty)
	})

	It("44: an exclusive set counts terminating members", func(ctx SpecContext) {
		w := newWorld(ctx)
		set := w.unboundSet(ctx, "set")
		cluster := w.cluster(ctx, "set", "c001", func(c *clusterv1.ManagedCluster) { c.Finalizers = []string{"example.com/hold"} })
		expectSetCondition(ctx, set, "False ClustersSelected: 1 ManagedClusters selected")

		Expect(hub.Delete(ctx, cluster)).To(Succeed())
		Consistently(func(g Gomega) string { return setCondition(ctx, g, set) }).WithContext(ctx).WithTimeout(quiet).
			Should(Equal("False ClustersSelected: 1 ManagedClusters selected"))

		finish(ctx, cluster)
		expectSetCondition(ctx, set, empty)
	})

	It("45: a set with a label selector follows the labels of clusters, and its own selector", func(ctx SpecContext) {
		w := newWorld(ctx)
		set := w.labelSet(ctx, "set", metav1.LabelSelector{MatchLabels: map[string]string{"stage": "production"}})
		w.clusters(ctx, "", 1, 3)
		expectSetCondition(ctx, set, empty)

		w.editCluster(ctx, "c001", func(c *clusterv1.ManagedCluster) { c.Labels["stage"] = "production" })
		expectSetCondition(ctx, set, "False ClustersSelected: 1 ManagedClusters selected")

		edit(ctx, set, func(s *clusterv1beta2.ManagedClusterSet) { s.Spec.ClusterSelector.LabelSelector.MatchLabels = nil })
		expectSetCondition(ctx, set, "False ClustersSelected: 3 ManagedClusters selected")

		edit(ctx, set, func(s *clusterv1beta2.ManagedClusterSet) { s.Spec.ClusterSelector.LabelSelector = nil })
		expectSetCondition(ctx, set, empty)
	})

	It("46, 48: global holds every cluster", Serial, func(ctx SpecContext) {
		w := newWorld(ctx)
		global := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "global"}}
		count := func(g Gomega) int {
			clusters := &clusterv1.ManagedClusterList{}
			g.Expect(hub.List(ctx, clusters)).To(Succeed())

			return len(clusters.Items)
		}

		w.cluster(ctx, "", "c001")
		w.cluster(ctx, "somewhere", "c002")
		Expect(count(Default)).To(BeNumerically(">=", 2))
		Eventually(func(g Gomega) {
			g.Expect(setCondition(ctx, g, global)).To(HavePrefix("False ClustersSelected: "))
			g.Expect(setCondition(ctx, g, global)).To(HaveSuffix(" selected"))
			g.Expect(setCondition(ctx, g, global)).To(ContainSubstring(": %d ManagedClusters", count(g)))
		}).WithContext(ctx).WithTimeout(settle).Should(Succeed())
	})

	DescribeTable("47, 48: the sets every hub has", Serial,
		func(ctx SpecContext, name string, standard clusterv1beta2.ManagedClusterSelector) {
			set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: name}}
			read := func(g Gomega) *clusterv1beta2.ManagedClusterSet {
				fresh := &clusterv1beta2.ManagedClusterSet{}
				g.Expect(hub.Get(ctx, client.ObjectKeyFromObject(set), fresh)).To(Succeed())

				return fresh
			}
			expectStandard := func() {
				GinkgoHelper()
				Eventually(func(g Gomega) clusterv1beta2.ManagedClusterSelector { return read(g).Spec.ClusterSelector }).
					WithContext(ctx).WithTimeout(settle).Should(Equal(standard))
			}
			other := clusterv1beta2.ManagedClusterSelector{
				SelectorType: clusterv1beta2.LabelSelector, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}},
			}

			By("existing from the start")
			expectStandard()

			By("coming back when deleted")

			first := read(Default).UID
			Expect(hub.Delete(ctx, set)).To(Succeed())
			Eventually(func(g Gomega) { g.Expect(read(g).UID).NotTo(Equal(first)) }).
				WithContext(ctx).WithTimeout(settle).Should(Succeed())
			expectStandard()

			By("rolling back the selector and nothing else")
			edit(ctx, set, func(s *clusterv1beta2.ManagedClusterSet) {
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
			edit(ctx, set, func(s *clusterv1beta2.ManagedClusterSet) {
				s.Spec.ClusterSelector = *other.DeepCopy()
				s.Annotations["cluster.open-cluster-management.io/autoupdate"] = "false"
			})
			Consistently(func(g Gomega) clusterv1beta2.ManagedClusterSelector { return read(g).Spec.ClusterSelector }).
				WithContext(ctx).WithTimeout(quiet).Should(Equal(other))
			edit(ctx, set, func(s *clusterv1beta2.ManagedClusterSet) {
				s.Annotations["cluster.open-cluster-management.io/autoupdate"] = "true"
			})
			expectStandard()

			By("coming back when the finalizer of others goes")

			second := read(Default)
			Expect(hub.Delete(ctx, set)).To(Succeed())
			Expect(read(Default).DeletionTimestamp).NotTo(BeNil())
			finish(ctx, second)
			Eventually(func(g Gomega) { g.Expect(read(g).UID).NotTo(Equal(second.UID)) }).
				WithContext(ctx).WithTimeout(settle).Should(Succeed())
			expectStandard()
			Expect(read(Default).Finalizers).To(BeEmpty())
		},
		Entry("default", "default", clusterv1beta2.ManagedClusterSelector{SelectorType: clusterv1beta2.ExclusiveClusterSetLabel}),
		Entry("global", "global", clusterv1beta2.ManagedClusterSelector{
			SelectorType: clusterv1beta2.LabelSelector, LabelSelector: &metav1.LabelSelector{},
		}),
	)

	It("sets of other names are not made", func(ctx SpecContext) {
		w := newWorld(ctx)
		set := w.unboundSet(ctx, "set")
		expectSetCondition(ctx, set, empty)
		Expect(hub.Delete(ctx, set)).To(Succeed())
		Consistently(func() bool { return apierrors.IsNotFound(hub.Get(ctx, client.ObjectKeyFromObject(set), set)) }).
			WithContext(ctx).WithTimeout(quiet).Should(BeTrue())
	})

	It("38: a binding is Bound while its set exists", func(ctx SpecContext) {
		w := newWorld(ctx)
		binding := w.bind(ctx, "set")
		bound := func(want string) {
			GinkgoHelper()
			Eventually(func(g Gomega) {
				fresh := &clusterv1beta2.ManagedClusterSetBinding{}
				g.Expect(hub.Get(ctx, client.ObjectKeyFromObject(binding), fresh)).To(Succeed())
				g.Expect(fresh.Status.Conditions).To(HaveLen(1))
				g.Expect(fresh.Status.Conditions[0].Type).To(Equal("Bound"))
				g.Expect(conditionText(fresh.Status.Conditions[0])).To(Equal(want))
				g.Expect(fresh.Status.Conditions[0].Message).To(BeEmpty())
			}).WithContext(ctx).WithTimeout(settle).Should(Succeed())
		}
		bound("False ClusterSetNotFound")

		set := w.unboundSet(ctx, "set")
		bound("True ClusterSetBound")

		Expect(hub.Delete(ctx, set)).To(Succeed())
		bound("False ClusterSetNotFound")
	})
})
