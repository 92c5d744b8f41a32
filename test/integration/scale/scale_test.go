// SPDX-License-Identifier: Apache-2.0

package scale

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// greatSettle is how long the great fleet may take to settle on a loaded machine.
const greatSettle = 4 * time.Minute

var _ = Describe("A great world", func() {
	It("settles where the plain engine says, for 1000 clusters and 100 placements, and again after a storm", func(ctx SpecContext) {
		another, err := suite.ControlPlane.AnotherAPIServer(ctx, "/great", localplane.Options{Log: GinkgoWriter})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { Expect(another.Stop()).To(Succeed()) })
		Expect(manifests.Install(ctx, another.AdminConfig())).To(Succeed())
		hub, err := client.New(another.AdminConfig(), client.Options{Scheme: system.Scheme()})
		Expect(err).NotTo(HaveOccurred())

		f := greatFleet{api: hub}
		Expect(suite.Each(ctx, greatExclusiveSets+2, f.set)).To(Succeed())
		Expect(suite.Each(ctx, greatNamespaces, f.namespace)).To(Succeed())
		Expect(suite.Each(ctx, greatClusters, f.cluster)).To(Succeed())
		Expect(suite.Each(ctx, greatPlacements/2, f.placement)).To(Succeed())

		DeferCleanup(suite.StartHub(suite.HubConfig(ctx, another)))

		Expect(suite.Each(ctx, greatPlacements/2, func(ctx context.Context, i int) error {
			return f.placement(ctx, greatPlacements/2+i)
		})).To(Succeed())
		settled := func(g Gomega) { f.expectSettled(ctx, g) }
		By("settling at first")
		Eventually(settled).WithContext(ctx).WithTimeout(greatSettle).WithPolling(time.Second).Should(Succeed())

		By("settling after a storm")
		Expect(suite.Each(ctx, greatClusters/5, f.disturb)).To(Succeed())
		Eventually(settled).WithContext(ctx).WithTimeout(greatSettle).WithPolling(time.Second).Should(Succeed())

		By("following the engine where the answer depends on the decisions of others")
		for i := range 5 {
			f.expectFollows(ctx, client.ObjectKey{Namespace: greatNamespace(4 * i), Name: greatDefault})
		}
	})
})

// disturb does something to a cluster: another label, a taint, another score, a claim, or its end.
func (f greatFleet) disturb(ctx context.Context, i int) error {
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: greatCluster(5 * i)}}

	patch := func(body string) error {
		return f.api.Patch(ctx, cluster, client.RawPatch(types.MergePatchType, []byte(body)))
	}
	switch i % 5 {
	case 0:
		return patch(`{"metadata":{"labels":{"region":"eu","tier":"3"}}}`)
	case 1:
		return patch(`{"metadata":{"labels":{"cluster.open-cluster-management.io/clusterset":"set2"}}}`)
	case 2:
		return patch(`{"spec":{"taints":[{"key":"gpu","value":"a100","effect":"NoSelect"}]}}`)
	case 3:
		return f.api.Status().Patch(ctx, cluster, client.RawPatch(types.MergePatchType,
			[]byte(`{"status":{"clusterClaims":[{"name":"zone","value":"z1"}],"allocatable":{"cpu":"99","memory":"1Gi"}}}`)))
	default:
		return f.api.Delete(ctx, cluster)
	}
}

// expectSettled compares every placement with the plain engine.
func (f greatFleet) expectSettled(ctx context.Context, g Gomega) {
	r, err := newReference(ctx, f.api)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.placements).To(HaveLen(greatPlacements))
	empty := 0

	for i := range r.placements {
		p := &r.placements[i]
		name := p.Namespace + "/" + p.Name
		selected := r.selected(p)

		pages := []clusterv1beta1.PlacementDecision{}
		for _, page := range r.pages[api.V1beta1.Read(p).Key()] {
			written, ok := api.V1beta1.Codec().Write(page).(*clusterv1beta1.PlacementDecision)
			g.Expect(ok).To(BeTrue(), name)
			pages = append(pages, *written)
		}
		suite.ExpectConsumable(g, p, pages)
		g.Expect(p.Status.NumberOfSelectedClusters).To(BeEquivalentTo(len(selected)), name)

		if len(selected) == 0 {
			empty++
		}
		result, existing := r.result(p, false)

		if p.Name == greatDefault {
			// Others have moved since it was evaluated, which wakes nobody: it has as many as it can, and all of them fit.
			g.Expect(selected).To(HaveLen(len(result.Selected)), name)
			fit := feasible(result)
			for _, cluster := range selected {
				g.Expect(fit).To(HaveKey(cluster), name)
			}
			continue
		}

		g.Expect(selected).To(Equal(chosen(result)), name)
		plan := placement.NewPlan(result, existing, metav1.NewTime(r.now))
		g.Expect(plan.Empty()).To(BeTrue(), "%s: a settled placement leaves nothing to write", name)
		if p.Name != greatSteady {
			afresh, _ := r.result(p, true)
			g.Expect(selected).To(Equal(chosen(afresh)), "%s: the way here does not matter", name)
		}
	}

	g.Expect(empty).To(BeZero(), "placements that select nothing show nothing")
}

// expectFollows has one placement evaluated and compares it with what the plain engine said just before.
func (f greatFleet) expectFollows(ctx context.Context, key client.ObjectKey) {
	GinkgoHelper()
	r, err := newReference(ctx, f.api)
	Expect(err).NotTo(HaveOccurred())
	placement := &clusterv1beta1.Placement{}
	Expect(f.api.Get(ctx, key, placement)).To(Succeed())
	result, _ := r.result(placement, false)
	want := chosen(result)
	touch := client.RawPatch(types.MergePatchType, []byte(fmt.Sprintf(`{"metadata":{"annotations":{"example.com/touched":%q}}}`, key)))
	Expect(f.api.Patch(ctx, placement, touch)).To(Succeed())

	Eventually(func(g Gomega) {
		now, err := newReference(ctx, f.api)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(now.selected(placement)).To(Equal(want))
	}).WithContext(ctx).WithTimeout(suite.Timeout).WithPolling(500 * time.Millisecond).Should(Succeed())
}
