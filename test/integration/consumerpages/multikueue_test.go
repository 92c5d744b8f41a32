// SPDX-License-Identifier: Apache-2.0

package consumerpages

import (
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// workers returns the list of the MultiKueueConfig.
func workers(ctx SpecContext) []string {
	GinkgoHelper()
	config := &unstructured.Unstructured{}
	config.SetGroupVersionKind(schema.GroupVersionKind{Group: "kueue.x-k8s.io", Version: "v1beta2", Kind: "MultiKueueConfig"})
	Expect(suite.Client.Get(ctx, client.ObjectKey{Name: "batch"}, config)).To(Succeed())
	names, _, err := unstructured.NestedStringSlice(config.Object, "spec", "clusters")
	Expect(err).NotTo(HaveOccurred())
	return names
}

var _ = Describe("the page about MultiKueue", Ordered, func() {
	var (
		s        *shell
		yaml, sh []string
	)

	cluster := func(ctx SpecContext, name, cpu string) {
		GinkgoHelper()
		managed := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: map[string]string{clusterv1beta2.ClusterSetLabel: "batch"},
		}}
		managed.Spec.HubAcceptsClient = true
		Expect(suite.Client.Create(ctx, managed)).To(Succeed())
		quantity := resource.MustParse(cpu)
		managed.Status.Allocatable = clusterv1.ResourceList{clusterv1.ResourceCPU: quantity}
		managed.Status.Capacity = managed.Status.Allocatable
		Expect(suite.Client.Status().Update(ctx, managed)).To(Succeed())
	}

	BeforeAll(func(ctx SpecContext) {
		yaml, sh = blocks("multikueue.md")
		Expect(yaml).To(HaveLen(2), "the decision and the check")
		Expect(sh).To(HaveLen(1), "from the decision to the MultiKueueConfig")
		s = newShell()
		Expect(suite.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kueue-system"}})).To(Succeed())
		set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "batch"}}
		set.Spec.ClusterSelector.SelectorType = clusterv1beta2.ExclusiveClusterSetLabel
		Expect(suite.Client.Create(ctx, set)).To(Succeed())
		cluster(ctx, "small", "4")
		cluster(ctx, "large", "64")
		cluster(ctx, "medium", "16")
	})

	It("lists the clusters of the decision in the order of their score, each with a ClusterProfile", func(ctx SpecContext) {
		s.apply(yaml[0])
		Eventually(func(g Gomega) {
			printed, err := s.run(sh[0])
			g.Expect(err).NotTo(HaveOccurred(), printed)
			g.Expect(workers(ctx)).To(Equal([]string{"large", "medium", "small"}))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		printed, err := s.run(`kubectl get multikueueclusters -o jsonpath='{.items[*].spec.clusterSource.clusterProfileRef.name}'
			for name in large medium small; do kubectl wait --for=create --timeout=30s clusterprofile/$name -n kueue-system; done`)
		Expect(err).NotTo(HaveOccurred(), printed)
		Expect(printed).To(HavePrefix("large medium small"))
		s.apply(yaml[1])
	})

	It("follows the decision when it is run again", func(ctx SpecContext) {
		small := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "small"}}
		Expect(suite.Client.Delete(ctx, small)).To(Succeed())
		Eventually(func(g Gomega) {
			printed, err := s.run(sh[0])
			g.Expect(err).NotTo(HaveOccurred(), printed)
			g.Expect(workers(ctx)).To(Equal([]string{"large", "medium"}))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	})

	It("keeps the workers of before where a decision is empty, or has more than Kueue takes", func(ctx SpecContext) {
		printed, err := s.run(`kubectl apply --server-side -f - <<EOF
apiVersion: kueue.x-k8s.io/v1beta2
kind: MultiKueueConfig
metadata:
  name: many
spec:
  clusters: [` + names(21) + `]
EOF`)
		Expect(err).To(HaveOccurred())
		Expect(printed).To(ContainSubstring("must have at most 20 items"))
		Expect(suite.Client.DeleteAllOf(ctx, &clusterv1.ManagedCluster{})).To(Succeed())
		Eventually(func() (string, error) {
			return s.run(`kubectl get placementdecisions -n kueue-system -o jsonpath='{.items[*].status.decisions[*].clusterName}'`)
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(BeEmpty())
		printed, err = s.run(sh[0])
		Expect(err).To(HaveOccurred(), printed)
		Expect(workers(ctx)).To(Equal([]string{"large", "medium"}))
	})
})

// names returns n names of clusters.
func names(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = "c" + strconv.Itoa(i)
	}
	return strings.Join(list, ", ")
}
