// SPDX-License-Identifier: Apache-2.0

package clustersinventory

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest/publish"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// setDiffers returns the metric that says whether admission and the hub differ about the set of Clusters that name none; -1 if it is missing.
func setDiffers(g Gomega) float64 {
	families, err := metrics.Registry.Gather()
	g.Expect(err).NotTo(HaveOccurred())
	for _, family := range families {
		if family.GetName() == "placement_hub_clusters_inventory_set_differs" {
			return family.GetMetric()[0].GetGauge().GetValue()
		}
	}
	return -1
}

var _ = Describe("the set of Clusters that name none", Serial, func() {
	It("cluster-request 4.6: a ConfigMap that names another set than the hub, or is missing, is reported", func(ctx SpecContext) {
		w := newWorld(ctx)
		differs := func(want float64) {
			GinkgoHelper()
			w.eventually(func(g Gomega) { g.Expect(setDiffers(g)).To(Equal(want)) })
		}

		parameter := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: manifests.Namespace, Name: publish.SetConfigMap}}
		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(parameter), parameter)).To(Succeed())
		shipped := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: parameter.Namespace, Name: parameter.Name}, Data: parameter.Data}
		DeferCleanup(func(ctx SpecContext) {
			Expect(client.IgnoreNotFound(suite.Client.Delete(ctx, parameter))).To(Succeed())
			Expect(suite.Client.Create(ctx, shipped.DeepCopy())).To(Succeed())
		})

		differs(0)
		suite.Edit(ctx, parameter, func(c *corev1.ConfigMap) { c.Data = map[string]string{"set": "another"} })
		differs(1)
		suite.Edit(ctx, parameter, func(c *corev1.ConfigMap) { c.Data = map[string]string{"set": clusterrequest.DefaultClusterSet} })
		differs(0)
		Expect(suite.Client.Delete(ctx, parameter)).To(Succeed())
		differs(1)
		Expect(suite.Client.Create(ctx, shipped.DeepCopy())).To(Succeed())
		differs(0)
	})
})
