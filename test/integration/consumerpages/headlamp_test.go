// SPDX-License-Identifier: Apache-2.0

package consumerpages

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("the page about Headlamp", Ordered, func() {
	var (
		s     *shell
		token string
	)

	// asHeadlamp sends a request with the token alone, as Headlamp does for who has logged in.
	asHeadlamp := func(path string) string {
		GinkgoHelper()
		printed, err := s.run(`kubectl config set-credentials headlamp --token="` + token + `" >/dev/null && ` +
			"kubectl config set-context headlamp --cluster=$(kubectl config view -o jsonpath='{.clusters[0].name}') --user=headlamp >/dev/null && " +
			"{ kubectl --context=headlamp get --raw '" + path + "' || true; }")
		Expect(err).NotTo(HaveOccurred(), printed)
		return printed
	}

	BeforeAll(func(ctx SpecContext) {
		yaml, sh := blocks("headlamp.md")
		Expect(yaml).To(HaveLen(2), "the binding, and the account of who looks")
		Expect(sh).To(HaveLen(2), "the token, and the kubeconfig of a cluster")
		s = newShell()
		for _, name := range []string{"team-a", "team-b"} {
			Expect(suite.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})).To(Succeed())
		}
		set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "shown"}}
		set.Spec.ClusterSelector.SelectorType = clusterv1beta2.ExclusiveClusterSetLabel
		Expect(suite.Client.Create(ctx, set)).To(Succeed())
		cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
			Name: "shown-1", Labels: map[string]string{clusterv1beta2.ClusterSetLabel: "shown"},
		}}
		cluster.Spec.HubAcceptsClient = true
		Expect(suite.Client.Create(ctx, cluster)).To(Succeed())
		for _, objects := range yaml {
			s.apply(objects)
		}
		printed, err := s.run(sh[0])
		Expect(err).NotTo(HaveOccurred(), printed)
		token = strings.TrimSpace(printed)
	})

	It("has what the pages of custom resources read", func(ctx SpecContext) {
		Expect(asHeadlamp("/apis/apiextensions.k8s.io/v1/customresourcedefinitions")).To(ContainSubstring("clusterprofiles.multicluster.x-k8s.io"))
		Eventually(func() string {
			return asHeadlamp("/apis/multicluster.x-k8s.io/v1alpha1/namespaces/team-a/clusterprofiles")
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(ContainSubstring(`"shown-1"`))
		for _, path := range []string{
			"/apis/cluster.open-cluster-management.io/v1beta1/namespaces/team-a/placements",
			"/apis/cluster.open-cluster-management.io/v1beta1/namespaces/team-a/placementdecisions",
			"/apis/cluster.open-cluster-management.io/v1beta2/namespaces/team-a/managedclustersetbindings",
			"/apis/multicluster.x-k8s.io/v1alpha1/namespaces/team-a/placementdecisions",
			"/apis/multicluster.x-k8s.io/v1alpha1/namespaces/team-a/clusterprofiles/shown-1",
		} {
			Expect(asHeadlamp(path)).To(ContainSubstring(`"apiVersion"`), path)
		}
	})

	It("has nothing else", func() {
		for _, path := range []string{
			"/api/v1/namespaces/team-a/secrets", "/api/v1/namespaces",
			"/apis/multicluster.x-k8s.io/v1alpha1/namespaces/team-b/clusterprofiles", "/apis/multicluster.x-k8s.io/v1alpha1/clusterprofiles",
			"/apis/cluster.open-cluster-management.io/v1/managedclusters",
		} {
			Expect(asHeadlamp(path)).To(ContainSubstring("Forbidden"), path)
		}
		printed, err := s.run("kubectl --context=headlamp delete clusterprofile shown-1 -n team-a")
		Expect(err).To(HaveOccurred())
		Expect(printed).To(ContainSubstring("Forbidden"))
	})
})
