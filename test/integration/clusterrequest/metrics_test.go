package clusterrequest

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

var _ = Describe("metrics", func() {
	It("cluster-request 4.1.3: each request is counted by its status and reason until it is gone", func(ctx SpecContext) {
		w := newWorld(ctx)
		before := denied()
		expectDenied := func(more int) {
			GinkgoHelper()
			w.eventually(func(g Gomega) { g.Expect(denied()).To(BeNumerically("==", before+float64(more))) })
		}

		late, never := w.request(w.namespace+"-late", nil), w.request(w.namespace+"-never", nil)
		expectDenied(2)
		w.purpose(w.namespace+"-late", openmcpv1alpha1.PurposeSpec{})
		w.granted(late)
		expectDenied(1)
		w.remove(never)
		expectDenied(0)
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
