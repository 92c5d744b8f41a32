package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

var _ = Describe("Placement", func() {
	It("1: selects five of five with ten wanted, and makes deleted decisions again", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 5)
		w.placement(ctx, "p", clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](10)})

		settled := func(g Gomega) {
			seen := w.look(ctx, g, "p")
			g.Expect(seen.Selected).To(HaveExactElements(w.names("c001", "c002", "c003", "c004", "c005")))
			g.Expect(seen.Groups).To(HaveExactElements("0/: 5 [p-decision-1]"))
			g.Expect(seen.Satisfied).To(Equal("False NotAllDecisionsScheduled"))
			g.Expect(seen.Misconfigured).To(Equal("False Succeedconfigured"))
		}
		Eventually(settled).WithContext(ctx).WithTimeout(settle).Should(Succeed())

		for _, page := range w.pages(ctx, Default, "p") {
			Expect(hub.Delete(ctx, &page)).To(Succeed())
		}

		Eventually(settled).WithContext(ctx).WithTimeout(settle).Should(Succeed())
	})
})
