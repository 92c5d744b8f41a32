// SPDX-License-Identifier: Apache-2.0

package placement

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("A set with a broken selector", func() {
	It("A4: holds only the placements that use it, which say so, and recover when it is mended", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.AwaitNoOtherDecisions(ctx)
		f.Set(ctx, "sound")
		set := f.LabelSet(ctx, "broken", metav1.LabelSelector{MatchLabels: map[string]string{"in": "broken"}})
		f.Clusters(ctx, "sound", 1, 2)
		f.Clusters(ctx, "", 3, 4, suite.Labeled("in", "broken"))

		f.Placement(ctx, "user", clusterv1beta1.PlacementSpec{})
		f.Placement(ctx, "narrow", clusterv1beta1.PlacementSpec{ClusterSets: f.Names("broken")})
		f.Placement(ctx, "other", clusterv1beta1.PlacementSpec{ClusterSets: f.Names("sound")})
		f.ExpectSelected(ctx, "user", suite.AllScheduled, suite.Shorts(1, 4)...)
		f.ExpectSelected(ctx, "narrow", suite.AllScheduled, suite.Shorts(3, 4)...)
		f.ExpectSelected(ctx, "other", suite.AllScheduled, suite.Shorts(1, 2)...)

		errors := f.Activity(Default).Errors
		operator := func(o metav1.LabelSelectorOperator) {
			GinkgoHelper()
			suite.Edit(ctx, set, func(s *clusterv1beta2.ManagedClusterSet) {
				s.Spec.ClusterSelector.LabelSelector.MatchExpressions[0].Operator = o
			})
		}
		operator("Resembles")

		held := func(name string, shorts ...string) {
			GinkgoHelper()
			Eventually(func(g Gomega) {
				seen := f.Look(ctx, g, name)
				g.Expect(seen.Selected).To(HaveExactElements(shorts))
				g.Expect(seen.Satisfied).To(Equal(suite.NotAllScheduled))
				g.Expect(seen.Misconfigured).To(Equal(suite.Configured))
				g.Expect(f.Message(ctx, g, name, clusterv1beta1.PlacementConditionSatisfied)).To(And(
					ContainSubstring("ManagedClusterSet "+f.Name("broken")+": spec.clusterSelector.labelSelector.matchExpressions[0].operator"),
					ContainSubstring("Resembles")))
			}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		}
		held("user", suite.Shorts(1, 4)...)
		held("narrow", suite.Shorts(3, 4)...)

		f.Clusters(ctx, "sound", 5, 5)
		f.DeleteCluster(ctx, "c001")
		f.ExpectSelected(ctx, "other", suite.AllScheduled, "c002", "c005")
		f.Placement(ctx, "late", clusterv1beta1.PlacementSpec{ClusterSets: f.Names("broken")})
		held("late")
		f.ExpectSilence(ctx)
		held("user", suite.Shorts(1, 4)...)
		held("narrow", suite.Shorts(3, 4)...)
		Expect(f.Activity(Default).Errors).To(Equal(errors))

		operator(metav1.LabelSelectorOpIn)
		f.ExpectSelected(ctx, "user", suite.AllScheduled, suite.Shorts(2, 5)...)
		f.ExpectSelected(ctx, "narrow", suite.AllScheduled, suite.Shorts(3, 4)...)
		f.ExpectSelected(ctx, "late", suite.AllScheduled, suite.Shorts(3, 4)...)
	})

	It("A4: does not keep other sets from counting their members", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		broken := f.LabelSet(ctx, "broken", metav1.LabelSelector{})
		suite.Edit(ctx, broken, func(s *clusterv1beta2.ManagedClusterSet) {
			s.Spec.ClusterSelector.LabelSelector.MatchExpressions[0].Operator = "Resembles"
		})

		sound := f.UnboundSet(ctx, "sound")
		f.Clusters(ctx, "sound", 1, 2)
		suite.ExpectSetCondition(ctx, sound, "False ClustersSelected: 2 ManagedClusters selected")
		Consistently(func(g Gomega) {
			g.Expect(suite.SetCondition(ctx, g, broken)).NotTo(ContainSubstring("2 ManagedClusters"))
		}).
			WithContext(ctx).WithTimeout(suite.QuietPeriod).Should(Succeed())
	})
})
