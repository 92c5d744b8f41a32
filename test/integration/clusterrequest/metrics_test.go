// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("metrics", func() {
	It("cluster-request 4.1.3: each request is counted by its status and reason until it is gone", func(ctx SpecContext) {
		w := newWorld(ctx)
		// The requests of other specs are counted too.
		expectCounted := func(request *openmcpv1alpha1.ClusterRequest, isDenied bool) {
			GinkgoHelper()
			w.eventually(func(g Gomega) {
				list := &openmcpv1alpha1.ClusterRequestList{}
				g.Expect(suite.Client.List(ctx, list)).To(Succeed())
				all, one := 0, false
				for i := range list.Items {
					status := list.Items[i].Status
					if status.Status == openmcpv1alpha1.RequestDenied && status.Reason == openmcpv1alpha1.ReasonPurposeNotFound {
						all++
						one = one || list.Items[i].UID == request.UID
					}
				}

				g.Expect(one).To(Equal(isDenied))
				g.Expect(denied()).To(BeNumerically("==", all))
			})
		}

		late, never := w.request(w.namespace+"-late", nil), w.request(w.namespace+"-never", nil)
		expectCounted(late, true)
		expectCounted(never, true)
		w.purpose(w.namespace+"-late", openmcpv1alpha1.PurposeSpec{})
		w.granted(late)
		expectCounted(late, false)
		w.remove(never)
		expectCounted(never, false)
	})
})

// denied returns the gauge of requests that are denied because a Purpose does not exist.
func denied() float64 {
	GinkgoHelper()
	families, err := metrics.Registry.Gather()
	Expect(err).NotTo(HaveOccurred())
	for _, family := range families {
		if family.GetName() != "placement_hub_clusterrequests" {
			continue
		}
		for _, metric := range family.GetMetric() {
			values := map[string]string{}
			for _, label := range metric.GetLabel() {
				values[label.GetName()] = label.GetValue()
			}
			if values["status"] == "Denied" && values["reason"] == openmcpv1alpha1.ReasonPurposeNotFound {
				return metric.GetGauge().GetValue()
			}
		}
	}

	return 0
}
