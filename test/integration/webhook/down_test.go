// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/clustersets/webhook"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("The webhook for ManagedClusters, when nobody answers", func() {
	It("refuses what would go wrong without a word, and lets everything else pass", func(ctx SpecContext) {
		separateAPIServer(ctx)
		url, stop := startWebhook(ctx)
		older := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "older"}}
		Expect(suite.Client.Create(ctx, older)).To(Succeed(), "it names no set")
		install(ctx, url)

		inSet := map[string]string{clusterv1beta2.ClusterSetLabel: "blue"}
		cluster := &clusterv1.ManagedCluster{
			ObjectMeta: metav1.ObjectMeta{Name: "before", Finalizers: []string{"example.com/f"}},
			Spec:       clusterv1.ManagedClusterSpec{Taints: []clusterv1.Taint{{Key: "k", Effect: clusterv1.TaintEffectNoSelect}}},
		}
		Expect(suite.Client.Create(ctx, cluster)).To(Succeed())
		stop()

		refused := func(err error) {
			GinkgoHelper()
			Expect(err).To(refusedWith(http.StatusInternalServerError,
				"failed calling webhook", "managedclusters.placement-hub.open-cluster-management.io", "connection refused"))
		}
		By("refusing")

		refused(suite.Client.Create(ctx, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "new"}}))
		refused(suite.Client.Create(ctx, &clusterv1.ManagedCluster{
			ObjectMeta: metav1.ObjectMeta{Name: "new", Labels: inSet},
			Spec:       clusterv1.ManagedClusterSpec{Taints: []clusterv1.Taint{{Key: "k", Effect: clusterv1.TaintEffectNoSelect}}},
		}))
		changed := cluster.DeepCopy()
		changed.Spec.Taints[0].Value = "v"
		refused(suite.Client.Update(ctx, changed))

		changed = cluster.DeepCopy()
		delete(changed.Labels, clusterv1beta2.ClusterSetLabel)
		refused(suite.Client.Update(ctx, changed))
		changed = cluster.DeepCopy()
		changed.Spec.HubAcceptsClient = true
		refused(suite.Client.Update(ctx, changed))

		By("refusing every update of a cluster that names no set yet")
		for _, update := range []func(*clusterv1.ManagedCluster){
			func(c *clusterv1.ManagedCluster) { c.Labels = map[string]string{"region": "eu"} },
			func(c *clusterv1.ManagedCluster) { c.Spec.LeaseDurationSeconds = 30 },
			func(c *clusterv1.ManagedCluster) { c.Finalizers = []string{"example.com/f"} },
		} {
			changed = older.DeepCopy()
			update(changed)
			refused(suite.Client.Update(ctx, changed))
		}

		By("going on")
		beating := []metav1.Condition{{
			Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue, Reason: "Beat", LastTransitionTime: metav1.Now(),
		}}
		older.Status.Conditions = beating
		Expect(suite.Client.Status().Update(ctx, older)).To(Succeed())
		Expect(suite.Client.Delete(ctx, older)).To(Succeed())
		fresh := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "new", Labels: inSet}}
		Expect(suite.Client.Create(ctx, fresh)).To(Succeed(), "it needs nothing")
		Expect(suite.Client.Delete(ctx, fresh)).To(Succeed())

		cluster.Status.Conditions = beating
		Expect(suite.Client.Status().Update(ctx, cluster)).To(Succeed())
		cluster.Labels["region"] = "eu"
		cluster.Annotations = map[string]string{"a": "b"}
		cluster.Spec.LeaseDurationSeconds = 30
		Expect(suite.Client.Update(ctx, cluster)).To(Succeed())

		delete(cluster.Labels, "region")
		cluster.Labels[clusterv1beta2.ClusterSetLabel] = "green"
		Expect(suite.Client.Update(ctx, cluster)).To(Succeed())

		Expect(suite.Client.Delete(ctx, cluster)).To(Succeed())
		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(cluster), cluster)).To(Succeed())
		cluster.Labels = nil
		Expect(suite.Client.Update(ctx, cluster)).To(Succeed(), "a cluster that is being deleted needs no set")
		suite.DropFinalizers(ctx, cluster)
		suite.ExpectGone(ctx, cluster)

		By("asking nobody any more, as docs/webhook.md says")

		suite.Kubectl(ctx, "default")("delete", "mutatingwebhookconfigurations,validatingwebhookconfigurations", webhook.Configuration)
		Eventually(func(g Gomega) { g.Expect(tried(ctx, g).Labels).To(BeEmpty()) }).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	})
})
