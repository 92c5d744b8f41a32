// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"fmt"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// promptly is how soon a consumer may expect to read that a cluster has become unavailable.
const promptly = 10 * time.Second

var _ = Describe("P13, P14, P15: the PlacementDecisions", func() {
	It("say in available what each cluster reports, by one write of each page concerned (B6)", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.AwaitNoOtherDecisions(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 1, reachable)
		f.Clusters(ctx, "set", 2, 101)
		f.Cluster(ctx, "set", "c102", reachable)
		f.AlphaPlacement(ctx, "p", placementv1alpha1.PlacementSpec{})
		f.ExpectAlpha(ctx, "p", suite.AllScheduled, suite.Shorts(1, 102)...)
		f.ExpectAvailable(ctx, "c001", "c102")
		Expect(f.LookAlpha(ctx, Default, "p").Pages).To(HaveExactElements("p-decision-1: 100", "p-decision-2: 2"))

		f.AwaitIdle(ctx)
		const first, second = "patch placementdecisions/p-decision-1", "patch placementdecisions/p-decision-2"
		// follows demands that the decisions follow, and that these writes and no others are made.
		follows := func(available []string, writes ...string) {
			GinkgoHelper()
			Eventually(func(g Gomega) []string { return f.LookAlpha(ctx, g, "p").Available }).
				WithContext(ctx).WithTimeout(promptly).Should(HaveExactElements(available))
			Expect(suite.AwaitUnchanged(ctx, func(g Gomega) []string { return alphaWrites(f, g) })).To(HaveExactElements(writes))
		}
		writes := alphaWrites(f, Default)
		reach(ctx, f, "c001", metav1.ConditionFalse, "it is out of reach")
		writes = append(writes, first)
		follows([]string{"c102"}, writes...)

		reach(ctx, f, "c102", metav1.ConditionUnknown, "its lease is not renewed")
		writes = append(writes, second)
		follows(nil, writes...)

		reach(ctx, f, "c101", metav1.ConditionTrue, "it is back")
		writes = append(writes, second)
		follows([]string{"c101"}, writes...)

		By("a heartbeat, an unread label and a condition that stays not True write nothing (B6)")
		before := f.AwaitIdle(ctx)
		reach(ctx, f, "c101", metav1.ConditionTrue, "it is still there")
		reach(ctx, f, "c102", metav1.ConditionFalse, "it is gone for good")
		f.EditCluster(ctx, "c001", func(c *clusterv1.ManagedCluster) { c.Labels["unread"] = "true" })
		Consistently(func(g Gomega) suite.Activity { return f.Activity(g) }).
			WithContext(ctx).WithTimeout(suite.QuietPeriod).WithPolling(suite.AuditInterval).Should(Equal(before))
	})

	It("keep their clusters where they are, and lose none of those that stay, not for a moment (B1, B2, B3)", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 102)
		recording := f.RecordAlphaPages(ctx)
		recording.Require(f.Names(append(suite.Shorts(3, 49), suite.Shorts(52, 102)...)...)...)
		f.AlphaPlacement(ctx, "p", placementv1alpha1.PlacementSpec{})
		f.ExpectAlpha(ctx, "p", suite.AllScheduled, suite.Shorts(1, 102)...)

		// pages waits until the pages have these clusters.
		pages := func(want ...[]string) []placementv1alpha1.PlacementDecision {
			GinkgoHelper()
			var now []placementv1alpha1.PlacementDecision
			Eventually(func(g Gomega) {
				f.LookAlpha(ctx, g, "p")
				now = f.AlphaPages(ctx, g, "p")
				g.Expect(now).To(HaveLen(len(want)))
				for i, page := range now {
					g.Expect(page.Name).To(Equal(fmt.Sprintf("p-decision-%d", i+1)))
					g.Expect(f.Selected([]clusterv1beta1.PlacementDecision{suite.AsV1beta1(&page)})).To(Equal(want[i]))
				}
			}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())

			return now
		}
		first := pages(suite.Shorts(1, 100), suite.Shorts(101, 102))

		By("a newcomer takes the free place, and nobody else moves")
		f.DeleteCluster(ctx, "c050")
		second := pages(slices.Concat(suite.Shorts(1, 49), suite.Shorts(51, 100)), suite.Shorts(101, 102))
		f.Cluster(ctx, "set", "c103")
		third := pages(slices.Concat(suite.Shorts(1, 49), suite.Shorts(51, 100), suite.Shorts(103, 103)), suite.Shorts(101, 102))
		Expect([]types.UID{third[0].UID, third[1].UID}).To(Equal([]types.UID{first[0].UID, first[1].UID}))
		Expect(third[1].ResourceVersion).To(Equal(second[1].ResourceVersion), "the other page is not written")

		By("a page too many is drained into the other one and dropped")
		for _, short := range []string{"c001", "c002", "c051"} {
			f.EditCluster(ctx, short, suite.Tainted("out", "", clusterv1.TaintEffectNoSelect))
		}
		last := pages(slices.Concat(suite.Shorts(3, 49), suite.Shorts(52, 103)))
		recording.PlayUntil(ctx, []clusterv1beta1.PlacementDecision{suite.AsV1beta1(&last[0])})
	})
})
