// SPDX-License-Identifier: Apache-2.0

package decisions

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/test/history"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("Decision groups", func() {
	grouping := func(length intstr.IntOrString, names ...string) clusterv1beta1.PlacementSpec {
		strategy := clusterv1beta1.GroupStrategy{ClustersPerDecisionGroup: length}
		for _, name := range names {
			strategy.DecisionGroups = append(strategy.DecisionGroups, clusterv1beta1.DecisionGroup{
				GroupName: name, ClusterSelector: clusterv1beta1.GroupClusterSelector{
					LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"group": name}},
				},
			})
		}
		return clusterv1beta1.PlacementSpec{DecisionStrategy: clusterv1beta1.DecisionStrategy{GroupStrategy: strategy}}
	}
	// sizes waits until the groups are "name size", in the order of their indexes.
	sizes := func(ctx SpecContext, f *suite.Fixture, want ...string) {
		GinkgoHelper()
		Eventually(func(g Gomega) {
			seen := []string{}
			for _, group := range f.Read(ctx, g, "p").Status.DecisionGroups {
				seen = append(seen, fmt.Sprintf("%s %d", group.DecisionGroupName, group.ClustersCount))
			}
			g.Expect(seen).To(HaveExactElements(want))
			f.Look(ctx, g, "p") // Last: surplus pages go after the status is written.
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	}

	It("11: a canary group and the rest in groups of two, as clusters come and go", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		set := f.LabelSet(ctx, "set", metav1.LabelSelector{})
		f.Clusters(ctx, "", 1, 2, suite.Labeled("group", "canary"))
		f.Clusters(ctx, "", 3, 5)
		f.AwaitClusters(ctx)
		f.Placement(ctx, "p", grouping(intstr.FromInt32(2), "canary"))
		f.Expect(ctx, "p", suite.Outcome{
			Selected: suite.Shorts(1, 5), Groups: []string{"0/canary: 2 [p-decision-1]", "1/: 2 [p-decision-2]", "2/: 1 [p-decision-3]"},
			Satisfied: suite.AllScheduled, Misconfigured: suite.Configured,
		})

		f.DeleteCluster(ctx, "c001")
		f.DeleteCluster(ctx, "c003")
		sizes(ctx, f, "canary 1", " 2")

		f.Cluster(ctx, "", "c006", suite.Labeled("group", "canary"))
		sizes(ctx, f, "canary 2", " 2")

		f.Cluster(ctx, "", "c007")
		sizes(ctx, f, "canary 2", " 2", " 1")
		for _, short := range []string{"c002", "c004", "c005", "c006", "c007"} {
			f.DeleteCluster(ctx, short)
		}
		Expect(suite.Client.Delete(ctx, set)).To(Succeed())
		sizes(ctx, f, " 0")
		Expect(f.Pages(ctx, Default, "p")).To(HaveLen(1))
	})

	It("B5, B8: indices follow the spec, and have one name each at every moment, whatever happens to the groups", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 2, suite.Labeled("group", "aa"))
		f.Clusters(ctx, "set", 3, 4, suite.Labeled("group", "bb"))
		f.Clusters(ctx, "set", 5, 7)
		recorded := f.RecordPages(ctx)
		f.AwaitClusters(ctx)
		f.Placement(ctx, "p", grouping(intstr.FromInt32(2), "aa", "bb"))
		sizes(ctx, f, "aa 2", "bb 2", " 2", " 1")

		f.Clusters(ctx, "set", 8, 9, suite.Labeled("group", "aa"))
		sizes(ctx, f, "aa 2", "aa 2", "bb 2", " 1", " 2")

		f.EditPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { *s = grouping(intstr.FromInt32(4), "bb", "aa") })
		sizes(ctx, f, "bb 2", "aa 4", " 3")

		f.EditCluster(ctx, "c003", func(c *clusterv1.ManagedCluster) { c.Labels["group"] = "aa" })
		f.EditCluster(ctx, "c004", func(c *clusterv1.ManagedCluster) { c.Labels["group"] = "aa" })
		sizes(ctx, f, "aa 2", "aa 4", " 3")

		recorded.PlayUntil(ctx, f.Pages(ctx, Default, "p"))
		Expect(recorded.Events()).NotTo(BeEmpty())
		Expect(history.Unsafe(nil, recorded.Events(), recorded.Current(), 0)).To(BeEmpty())
	})

	It("B1: a cluster that moves to another page is in a decision at every moment", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 105)
		recording := f.RecordPages(ctx)
		recording.Require(f.Names(suite.Shorts(6, 105)...)...)

		f.AwaitClusters(ctx)
		f.Placement(ctx, "p", grouping(intstr.FromInt32(0)))
		sizes(ctx, f, " 105")
		for i := 1; i <= 5; i++ {
			f.DeleteCluster(ctx, fmt.Sprintf("c%03d", i))
		}
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(6, 105)...)
		recording.PlayUntil(ctx, f.Pages(ctx, Default, "p"))
	})

	DescribeTable("A2: lengths of groups that upstream trips over",
		func(ctx SpecContext, length intstr.IntOrString, want ...string) {
			f := suite.NewFixture(ctx)
			f.Set(ctx, "set")
			f.Clusters(ctx, "set", 1, 5)
			f.AwaitClusters(ctx)
			f.Placement(ctx, "p", grouping(length))
			sizes(ctx, f, want...)
			f.EditPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) {
				s.Predicates = []clusterv1beta1.ClusterPredicate{suite.ByLabel(suite.FixtureLabel, f.Namespace)}
			})
			sizes(ctx, f, want...)
		},
		Entry(`a quoted "2" is 2`, intstr.FromString("2"), " 2", " 2", " 1"),
		Entry(`a quoted "25" is 25`, intstr.FromString("25"), " 5"),
		Entry("0 is 100 %", intstr.FromInt32(0), " 5"),
		Entry("30 % of five is two", intstr.FromString("30%"), " 2", " 2", " 1"),
	)

	It("A1: a bad group selector keeps the groups there are", func(ctx SpecContext) {
		f := suite.NewFixture(ctx, suite.WithoutAdmission)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 2, suite.Labeled("group", "canary"))
		f.Clusters(ctx, "set", 3, 5)
		f.AwaitClusters(ctx)
		f.Placement(ctx, "p", grouping(intstr.FromInt32(2), "canary"))
		sizes(ctx, f, "canary 2", " 2", " 1")

		f.EditPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) {
			s.DecisionStrategy.GroupStrategy.DecisionGroups[0].ClusterSelector.LabelSelector.MatchLabels = map[string]string{"group": "not a value!"}
		})
		f.ExpectMisconfigured(ctx, "p",
			"spec.decisionStrategy.groupStrategy.decisionGroups[0].groupClusterSelector.labelSelector", suite.Shorts(1, 5)...)
		sizes(ctx, f, "canary 2", " 2", " 1")
	})

	It("B1: a cluster that stays selected is in a decision at every moment while groups and pages are cut anew", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 110)
		recording := f.RecordPages(ctx)
		f.AwaitClusters(ctx)
		f.Placement(ctx, "p", grouping(intstr.FromInt32(0)))
		sizes(ctx, f, " 110")
		recording.Require(f.Names(suite.Shorts(12, 110)...)...)

		f.EditPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { *s = grouping(intstr.FromInt32(40)) })
		sizes(ctx, f, " 40", " 40", " 30")

		f.Cluster(ctx, "set", "c000", suite.Labeled("group", "aa"))
		f.EditPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { *s = grouping(intstr.FromInt32(60), "aa") })
		sizes(ctx, f, "aa 1", " 60", " 50")
		for i := 1; i <= 11; i++ {
			f.DeleteCluster(ctx, fmt.Sprintf("c%03d", i))
		}
		f.EditPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { *s = grouping(intstr.FromString("100%")) })
		sizes(ctx, f, " 100")

		recording.PlayUntil(ctx, f.Pages(ctx, Default, "p"))
	})
})
