// SPDX-License-Identifier: Apache-2.0

package scale

import (
	"context"
	"fmt"
	"maps"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("What the hub writes itself", func() {
	It("wakes no placement, however many pages are written", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.ManyClusters(ctx, "set", 1, 330, func(int, *clusterv1.ManagedCluster) {})
		f.ExpectOwnWritesKnown(ctx, slices.Concat([]func(){func() {
			f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{DecisionStrategy: suite.CanaryStrategy(50, true)})
			f.Placement(ctx, "q", clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](250)})
			f.Placement(ctx, "r", clusterv1beta1.PlacementSpec{
				NumberOfClusters: ptr.To[int32](250),
				DecisionStrategy: clusterv1beta1.DecisionStrategy{
					GroupStrategy: clusterv1beta1.GroupStrategy{ClustersPerDecisionGroup: intstr.FromString("10%")},
				},
			})
			f.AlphaPlacement(ctx, "p", placementv1alpha1.PlacementSpec{})
		}}, f.Regroupings(ctx))...)
	})

	It("B9: is seen by placements that decide at the same time, so that they spread out, and nothing moves later", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.AwaitNoOtherDecisions(ctx)
		f.Set(ctx, "fleet")
		f.ManyClusters(ctx, "fleet", 1, 151, func(int, *clusterv1.ManagedCluster) {})
		f.AwaitClusters(ctx)

		names := []string{"p1", "p2", "p3", "p4"}
		decided := func(g Gomega) map[string][]string {
			all := map[string][]string{}
			for _, name := range names {
				for _, page := range f.Pages(ctx, g, name) {
					for _, decision := range page.Status.Decisions {
						all[name] = append(all[name], decision.ClusterName)
					}
				}
				slices.Sort(all[name])
			}
			return all
		}
		settled := func(want int) map[string][]string {
			GinkgoHelper()
			Eventually(func(g Gomega) {
				for _, clusters := range decided(g) {
					g.Expect(clusters).To(HaveLen(want))
				}
			}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
			f.AwaitIdle(ctx)
			return decided(Default)
		}
		for _, name := range names {
			f.Placement(ctx, name, clusterv1beta1.PlacementSpec{})
		}

		settled(151)

		Expect(suite.Each(ctx, len(names), func(ctx context.Context, i int) error {
			placement := &clusterv1beta1.Placement{}
			placement.Namespace, placement.Name = f.Namespace, names[i]
			return suite.Client.Patch(ctx, placement, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"numberOfClusters":100}}`)))
		})).To(Succeed())
		before, counts := settled(100), map[string]int{}
		for _, clusters := range before {
			for _, cluster := range clusters {
				counts[cluster]++
			}
		}

		Expect(counts).To(HaveLen(151), "400 decisions on 151 clusters")
		Expect(slices.Collect(maps.Values(counts))).To(HaveEach(BeNumerically("~", 2.5, 0.5)))

		By("having clusters come and go")
		for n := range 3 {
			short := fmt.Sprintf("c%03d", 900+n)
			f.Cluster(ctx, "", short)
			f.EditCluster(ctx, "c001", func(c *clusterv1.ManagedCluster) { c.Labels["turn"] = short })
			f.DeleteCluster(ctx, short)
		}
		for _, name := range names {
			f.Annotate(ctx, name, "turn", "1")
		}

		Expect(settled(100)).To(Equal(before))
	})
})
