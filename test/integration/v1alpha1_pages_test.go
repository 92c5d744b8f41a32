package integration

import (
	"context"
	"fmt"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/test/film"
)

// promptly is how soon a consumer may expect to read that a cluster has become unavailable.
const promptly = 10 * time.Second

var _ = Describe("P13, P14, P15: the PlacementDecisions", func() {
	It("say in available what each cluster reports, by one write of each page concerned (B6)", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.alone(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 1, reachable)
		w.clusters(ctx, "set", 2, 101)
		w.cluster(ctx, "set", "c102", reachable)
		w.alpha(ctx, "p", placementv1alpha1.PlacementSpec{})
		w.expectAlpha(ctx, "p", allScheduled, shorts(1, 102)...)
		w.expectAvailable(ctx, "c001", "c102")
		Expect(w.lookAlpha(ctx, Default, "p").Pages).To(HaveExactElements("p-decision-1: 100", "p-decision-2: 2"))

		w.idle(ctx)

		const first, second = "patch placementdecisions/p-decision-1", "patch placementdecisions/p-decision-2"
		// follows demands that the decisions follow, and that these writes and no others are made.
		follows := func(available []string, writes ...string) {
			GinkgoHelper()
			Eventually(func(g Gomega) []string { return w.lookAlpha(ctx, g, "p").Available }).
				WithContext(ctx).WithTimeout(promptly).Should(HaveExactElements(available))
			Expect(unchanging(ctx, w.alphaWrites)).To(HaveExactElements(writes))
		}
		writes := w.alphaWrites(Default)
		w.reach(ctx, "c001", metav1.ConditionFalse, "it is out of reach")
		writes = append(writes, first)
		follows([]string{"c102"}, writes...)

		w.reach(ctx, "c102", metav1.ConditionUnknown, "its lease is not renewed")
		writes = append(writes, second)
		follows(nil, writes...)

		w.reach(ctx, "c101", metav1.ConditionTrue, "it is back")
		writes = append(writes, second)
		follows([]string{"c101"}, writes...)

		By("a heartbeat, an unread label and a condition that stays not True write nothing (B6)")

		before := w.idle(ctx)
		w.reach(ctx, "c101", metav1.ConditionTrue, "it is still there")
		w.reach(ctx, "c102", metav1.ConditionFalse, "it is gone for good")
		w.editCluster(ctx, "c001", func(c *clusterv1.ManagedCluster) { c.Labels["unread"] = "true" })
		Consistently(func(g Gomega) activity { return w.activity(g) }).
			WithContext(ctx).WithTimeout(quiet).WithPolling(auditEvery).Should(Equal(before))
	})

	It("keep their clusters where they are, and lose none of those that stay, not for a moment (B1, B2, B3)", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 102)

		film := w.watchAlphaPages(ctx)
		film.stays(w.names(append(shorts(3, 49), shorts(52, 102)...)...)...)
		w.alpha(ctx, "p", placementv1alpha1.PlacementSpec{})
		w.expectAlpha(ctx, "p", allScheduled, shorts(1, 102)...)

		// pages waits until the pages have these clusters.
		pages := func(want ...[]string) []placementv1alpha1.PlacementDecision {
			GinkgoHelper()

			var now []placementv1alpha1.PlacementDecision

			Eventually(func(g Gomega) {
				w.lookAlpha(ctx, g, "p")
				now = w.alphaPages(ctx, g, "p")
				g.Expect(now).To(HaveLen(len(want)))

				for i, page := range now {
					g.Expect(page.Name).To(Equal(fmt.Sprintf("p-decision-%d", i+1)))
					g.Expect(w.selected([]clusterv1beta1.PlacementDecision{asV1beta1(&page)})).To(Equal(want[i]))
				}
			}).WithContext(ctx).WithTimeout(settle).Should(Succeed())

			return now
		}
		first := pages(shorts(1, 100), shorts(101, 102))

		By("a newcomer takes the free place, and nobody else moves")
		w.deleteCluster(ctx, "c050")
		second := pages(slices.Concat(shorts(1, 49), shorts(51, 100)), shorts(101, 102))
		w.cluster(ctx, "set", "c103")
		third := pages(slices.Concat(shorts(1, 49), shorts(51, 100), shorts(103, 103)), shorts(101, 102))
		Expect([]types.UID{third[0].UID, third[1].UID}).To(Equal([]types.UID{first[0].UID, first[1].UID}))
		Expect(third[1].ResourceVersion).To(Equal(second[1].ResourceVersion), "the other page is not written")

		By("a page too many is drained into the other one and dropped")

		for _, short := range []string{"c001", "c002", "c051"} {
			w.editCluster(ctx, short, tainted("out", "", clusterv1.TaintEffectNoSelect))
		}

		last := pages(slices.Concat(shorts(3, 49), shorts(52, 103)))
		film.until(ctx, []clusterv1beta1.PlacementDecision{asV1beta1(&last[0])})
	})
})

// watchAlphaPages records the pages of v1alpha1 in the form of v1beta1.
func (w *world) watchAlphaPages(ctx context.Context) *recording {
	GinkgoHelper()

	return w.watchThrough(ctx, film.Lens{
		List: &placementv1alpha1.PlacementDecisionList{}, Show: func(object runtime.Object) *clusterv1beta1.PlacementDecision {
			page, ok := object.(*placementv1alpha1.PlacementDecision)
			if !ok {
				return nil
			}

			return ptr.To(asV1beta1(page))
		},
	})
}

// asV1beta1 has the clusters of a page.
func asV1beta1(page *placementv1alpha1.PlacementDecision) clusterv1beta1.PlacementDecision {
	clusters := []string{}
	for _, decision := range page.Decisions {
		clusters = append(clusters, decision.ClusterName)
	}

	return *shown(page.ObjectMeta, clusters)
}
