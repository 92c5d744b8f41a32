package integration

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/test/film"
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
	sizes := func(ctx SpecContext, w *world, want ...string) {
		GinkgoHelper()
		Eventually(func(g Gomega) {
			seen := []string{}
			for _, group := range w.read(ctx, g, "p").Status.DecisionGroups {
				seen = append(seen, fmt.Sprintf("%s %d", group.DecisionGroupName, group.ClustersCount))
			}

			g.Expect(seen).To(HaveExactElements(want))
			w.look(ctx, g, "p") // Last: surplus pages go after the status is written.
		}).WithContext(ctx).WithTimeout(settle).Should(Succeed())
	}

	It("11: a canary group and the rest in groups of two, as clusters come and go", func(ctx SpecContext) {
		w := newWorld(ctx)
		set := w.labelSet(ctx, "set", metav1.LabelSelector{})
		w.clusters(ctx, "", 1, 2, labeled("group", "canary"))
		w.clusters(ctx, "", 3, 5)
		w.seen(ctx)
		w.placement(ctx, "p", grouping(intstr.FromInt32(2), "canary"))
		w.expect(ctx, "p", outcome{
			Selected: shorts(1, 5), Groups: []string{"0/canary: 2 [p-decision-1]", "1/: 2 [p-decision-2]", "2/: 1 [p-decision-3]"},
			Satisfied: allScheduled, Misconfigured: configured,
		})

		w.deleteCluster(ctx, "c001")
		w.deleteCluster(ctx, "c003")
		sizes(ctx, w, "canary 1", " 2")

		w.cluster(ctx, "", "c006", labeled("group", "canary"))
		sizes(ctx, w, "canary 2", " 2")

		w.cluster(ctx, "", "c007")
		sizes(ctx, w, "canary 2", " 2", " 1")

		for _, short := range []string{"c002", "c004", "c005", "c006", "c007"} {
			w.deleteCluster(ctx, short)
		}

		Expect(hub.Delete(ctx, set)).To(Succeed())
		sizes(ctx, w, " 0")
		Expect(w.pages(ctx, Default, "p")).To(HaveLen(1))
	})

	It("B5, B8: indices follow the spec, and have one name each at every moment, whatever happens to the groups", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 2, labeled("group", "aa"))
		w.clusters(ctx, "set", 3, 4, labeled("group", "bb"))
		w.clusters(ctx, "set", 5, 7)
		recorded := w.watchPages(ctx)

		w.seen(ctx)
		w.placement(ctx, "p", grouping(intstr.FromInt32(2), "aa", "bb"))
		sizes(ctx, w, "aa 2", "bb 2", " 2", " 1")

		w.clusters(ctx, "set", 8, 9, labeled("group", "aa"))
		sizes(ctx, w, "aa 2", "aa 2", "bb 2", " 1", " 2")

		w.editPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { *s = grouping(intstr.FromInt32(4), "bb", "aa") })
		sizes(ctx, w, "bb 2", "aa 4", " 3")

		w.editCluster(ctx, "c003", func(c *clusterv1.ManagedCluster) { c.Labels["group"] = "aa" })
		w.editCluster(ctx, "c004", func(c *clusterv1.ManagedCluster) { c.Labels["group"] = "aa" })
		sizes(ctx, w, "aa 2", "aa 4", " 3")

		recorded.until(ctx, w.pages(ctx, Default, "p"))
		Expect(recorded.Frames()).NotTo(BeEmpty())
		Expect(film.Unsafe(nil, recorded.Frames(), recorded.Now(), 0)).To(BeEmpty())
	})

	It("B1: a cluster that moves to another page is in a decision at every moment", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 105)
		film := w.watchPages(ctx)
		film.stays(w.names(shorts(6, 105)...)...)

		w.seen(ctx)
		w.placement(ctx, "p", grouping(intstr.FromInt32(0)))
		sizes(ctx, w, " 105")

		for i := 1; i <= 5; i++ {
			w.deleteCluster(ctx, fmt.Sprintf("c%03d", i))
		}

		w.expectSelected(ctx, "p", allScheduled, shorts(6, 105)...)
		film.until(ctx, w.pages(ctx, Default, "p"))
	})

	DescribeTable("A2: lengths of groups that upstream trips over",
		func(ctx SpecContext, length intstr.IntOrString, want ...string) {
			w := newWorld(ctx)
			w.set(ctx, "set")
			w.clusters(ctx, "set", 1, 5)
			w.seen(ctx)
			w.placement(ctx, "p", grouping(length))
			sizes(ctx, w, want...)
			w.editPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) {
				s.Predicates = []clusterv1beta1.ClusterPredicate{byLabel(worldLabel, w.namespace)}
			})
			sizes(ctx, w, want...)
		},
		Entry(`a quoted "2" is 2`, intstr.FromString("2"), " 2", " 2", " 1"),
		Entry(`a quoted "25" is 25`, intstr.FromString("25"), " 5"),
		Entry("0 is 100 %", intstr.FromInt32(0), " 5"),
		Entry("30 % of five is two", intstr.FromString("30%"), " 2", " 2", " 1"),
	)

	It("A1: a bad group selector keeps the groups there are", func(ctx SpecContext) {
		w := newWorld(ctx, withoutAdmission)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 2, labeled("group", "canary"))
		w.clusters(ctx, "set", 3, 5)
		w.seen(ctx)
		w.placement(ctx, "p", grouping(intstr.FromInt32(2), "canary"))
		sizes(ctx, w, "canary 2", " 2", " 1")

		w.editPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) {
			s.DecisionStrategy.GroupStrategy.DecisionGroups[0].ClusterSelector.LabelSelector.MatchLabels = map[string]string{"group": "not a value!"}
		})
		w.expectMisconfigured(ctx, "p", "spec.decisionStrategy.groupStrategy.decisionGroups[0].groupClusterSelector.labelSelector", shorts(1, 5)...)
		sizes(ctx, w, "canary 2", " 2", " 1")
	})

	It("B1: a cluster that stays selected is in a decision at every moment while groups and pages are cut anew", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 110)
		film := w.watchPages(ctx)

		w.seen(ctx)
		w.placement(ctx, "p", grouping(intstr.FromInt32(0)))
		sizes(ctx, w, " 110")
		film.stays(w.names(shorts(12, 110)...)...)

		w.editPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { *s = grouping(intstr.FromInt32(40)) })
		sizes(ctx, w, " 40", " 40", " 30")

		w.cluster(ctx, "set", "c000", labeled("group", "aa"))
		w.editPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { *s = grouping(intstr.FromInt32(60), "aa") })
		sizes(ctx, w, "aa 1", " 60", " 50")

		for i := 1; i <= 11; i++ {
			w.deleteCluster(ctx, fmt.Sprintf("c%03d", i))
		}

		w.editPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { *s = grouping(intstr.FromString("100%")) })
		sizes(ctx, w, " 100")

		film.until(ctx, w.pages(ctx, Default, "p"))
	})
})
