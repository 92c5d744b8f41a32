package integration

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/decision"
	"github.com/placement-hub/placement-hub/test/env/faults"
)

// oldView is a sequence of changes that keeps every cluster of the placement "p" selected, and of which the hub sees the last one only: the
// watch of an earlier one is broken.
type oldView struct {
	// prepare makes the placement, over the clusters of the bound set "a".
	prepare func(ctx context.Context, w *world, clusters []string)
	// unseen happens while the watch is broken, and then seen.
	unseen, seen func(ctx context.Context, w *world, clusters []string)
}

func relabel(key, value string) func(ctx context.Context, w *world, clusters []string) {
	return func(ctx context.Context, w *world, clusters []string) {
		GinkgoHelper()

		for _, cluster := range clusters {
			w.editCluster(ctx, cluster, func(c *clusterv1.ManagedCluster) { c.Labels[key] = value })
		}
	}
}

func selecting(ctx context.Context, w *world, predicates ...clusterv1beta1.ClusterPredicate) {
	GinkgoHelper()
	w.editPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { s.Predicates = predicates })
}

var oldViews = map[string]oldView{
	"label the clusters, then select by that label": {
		prepare: func(ctx context.Context, w *world, _ []string) { w.placement(ctx, "p", clusterv1beta1.PlacementSpec{}) },
		unseen:  relabel("tier", "gold"),
		seen:    func(ctx context.Context, w *world, _ []string) { selecting(ctx, w, byLabel("tier", "gold")) },
	},
	"widen the placement, then relabel the clusters": {
		prepare: func(ctx context.Context, w *world, clusters []string) {
			relabel("region", "eu")(ctx, w, clusters)
			w.placement(ctx, "p", clusterv1beta1.PlacementSpec{Predicates: []clusterv1beta1.ClusterPredicate{byLabel("region", "eu")}})
		},
		unseen: func(ctx context.Context, w *world, _ []string) {
			selecting(ctx, w, byLabel("region", "eu"), byLabel("region", "us"))
		},
		seen: relabel("region", "us"),
	},
	"bind another set, then move the clusters into it": {
		prepare: func(ctx context.Context, w *world, _ []string) { w.placement(ctx, "p", clusterv1beta1.PlacementSpec{}) },
		unseen:  func(ctx context.Context, w *world, _ []string) { w.bind(ctx, "b") },
		seen: func(ctx context.Context, w *world, clusters []string) {
			relabel(clusterv1beta2.ClusterSetLabel, w.name("b"))(ctx, w, clusters)
		},
	},
	"move the clusters into another bound set, then unbind the first one": {
		prepare: func(ctx context.Context, w *world, _ []string) {
			w.bind(ctx, "b")
			w.placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		},
		unseen: func(ctx context.Context, w *world, clusters []string) {
			relabel(clusterv1beta2.ClusterSetLabel, w.name("b"))(ctx, w, clusters)
		},
		seen: func(ctx context.Context, w *world, _ []string) {
			Expect(hub.Delete(ctx, &clusterv1beta2.ManagedClusterSetBinding{
				ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: w.name("a")},
			})).To(Succeed())
		},
	},
	"widen the set, then relabel the clusters": {
		prepare: func(ctx context.Context, w *world, clusters []string) {
			w.labelSet(ctx, "l", metav1.LabelSelector{MatchLabels: map[string]string{"region": "eu"}})
			relabel("region", "eu")(ctx, w, clusters)
			w.placement(ctx, "p", clusterv1beta1.PlacementSpec{ClusterSets: []string{w.name("l")}})
		},
		unseen: func(ctx context.Context, w *world, _ []string) {
			edit(ctx, &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: w.name("l")}}, func(s *clusterv1beta2.ManagedClusterSet) {
				s.Spec.ClusterSelector.LabelSelector = &metav1.LabelSelector{MatchLabels: map[string]string{worldLabel: w.namespace}}
			})
		},
		seen: relabel("region", "us"),
	},
	"raise the scores, then ask for the best": {
		prepare: func(ctx context.Context, w *world, clusters []string) {
			w.clusters(ctx, "a", 90, 91)
			w.score(ctx, "c090", 50, nil)
			w.score(ctx, "c091", 50, nil)
			w.placement(ctx, "p", clusterv1beta1.PlacementSpec{
				NumberOfClusters: ptr.To(int32(len(clusters))), PrioritizerPolicy: exactly(builtIn("Steady", 1)),
			})
		},
		unseen: func(ctx context.Context, w *world, clusters []string) {
			for _, cluster := range clusters {
				w.score(ctx, cluster, 100, nil)
			}
		},
		seen: func(ctx context.Context, w *world, _ []string) {
			w.editPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { s.PrioritizerPolicy = exactly(demoScore(1)) })
		},
	},
}

var _ = Describe("A view of which one kind is old", Ordered, ContinueOnFailure, Serial, func() {
	var proxy *faults.Proxy

	BeforeAll(func(ctx SpecContext) { proxy = throughProxy(ctx, manyHands) })

	It("B10: a new leader takes no cluster away before it has compared every kind once", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "a")
		w.clusters(ctx, "a", 1, 3)
		w.score(ctx, "c003", 1, nil)
		w.placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		w.expectSelected(ctx, "p", allScheduled, shorts(1, 3)...)

		// No placement reads scores.
		mend := proxy.Break(faults.Rule{
			Match: faults.Match{Verbs: []string{"watch"}, Resources: []string{"addonplacementscores"}}, Fault: faults.Reset,
		})
		DeferCleanup(mend)
		w.score(ctx, "c003", 2, nil)
		w.deleteCluster(ctx, "c001")

		Eventually(func(g Gomega) *metav1.Condition {
			return meta.FindStatusCondition(w.read(ctx, g, "p").Status.Conditions, decision.ConditionRemovalPostponed)
		}).WithContext(ctx).WithTimeout(settle).Should(HaveField("Message", ContainSubstring("addonplacementscores")))
		Expect(w.selected(w.pages(ctx, Default, "p"))).To(Equal(shorts(1, 3)))

		mend()
		w.expectSelected(ctx, "p", allScheduled, shorts(2, 3)...)

		// From then on a kind that does not decide holds nothing up.
		DeferCleanup(proxy.Break(faults.Rule{
			Match: faults.Match{Verbs: []string{"list", "watch"}, Resources: []string{"addonplacementscores"}}, Fault: faults.Reset,
		}))
		w.deleteCluster(ctx, "c002")
		w.expectSelected(ctx, "p", allScheduled, "c003")
	})

	DescribeTable("B10: takes no cluster away, says so, and catches up",
		func(ctx SpecContext, order, resource string, clusters int, reason string, verbs ...string) {
			w := newWorld(ctx)
			w.set(ctx, "a")
			w.unboundSet(ctx, "b")
			w.clusters(ctx, "a", 1, clusters)

			view, all := oldViews[order], shorts(1, clusters)
			view.prepare(ctx, w, all)
			w.expectSelected(ctx, "p", allScheduled, all...)

			film := w.watchPages(ctx)
			film.stays(w.names(all...)...)

			broken := faults.Match{Verbs: verbs, Resources: []string{resource}}
			mend := proxy.Break(faults.Rule{Match: broken, Fault: faults.Reset})
			DeferCleanup(mend)

			view.unseen(ctx, w, all)
			view.seen(ctx, w, all)

			if resource == "placements" { // The status of an old version cannot be written.
				Consistently(func(g Gomega) { g.Expect(film.Seen()).To(Succeed()) }).WithContext(ctx).WithTimeout(quiet).Should(Succeed())
			} else {
				Eventually(func(g Gomega) *metav1.Condition {
					g.Expect(film.Seen()).To(Succeed())

					return meta.FindStatusCondition(w.read(ctx, g, "p").Status.Conditions, decision.ConditionRemovalPostponed)
				}).WithContext(ctx).WithTimeout(settle).Should(And(HaveField("Status", metav1.ConditionTrue), HaveField("Reason", reason)))
			}

			film.expectStays()

			mend()
			Eventually(func(g Gomega) {
				g.Expect(w.look(ctx, g, "p").Satisfied).To(Equal(allScheduled))
				g.Expect(meta.FindStatusCondition(w.read(ctx, g, "p").Status.Conditions, decision.ConditionRemovalPostponed)).To(BeNil())
			}).WithContext(ctx).WithTimeout(2 * settle).Should(Succeed())
			w.expectSelected(ctx, "p", allScheduled, all...)
			film.until(ctx, allPages(ctx, w))
		},
		Entry("clusters", "label the clusters, then select by that label", "managedclusters", 5, decision.ReasonWatchBehind, "list", "watch"),
		Entry("many clusters, which are compared with a list", "label the clusters, then select by that label", "managedclusters", 20,
			decision.ReasonWatchBehind, "watch"),
		Entry("many clusters, which cannot be listed", "label the clusters, then select by that label", "managedclusters", 20,
			decision.ReasonReadFailed, "list", "watch"),
		Entry("placements", "widen the placement, then relabel the clusters", "placements", 5, "", "list", "watch"),
		Entry("bindings", "bind another set, then move the clusters into it", "managedclustersetbindings", 5, decision.ReasonWatchBehind, "watch"),
		Entry("bindings, which cannot be listed", "bind another set, then move the clusters into it", "managedclustersetbindings", 5,
			decision.ReasonReadFailed, "list", "watch"),
		Entry("clusters, and bindings that end", "move the clusters into another bound set, then unbind the first one", "managedclusters", 5,
			decision.ReasonWatchBehind, "list", "watch"),
		Entry("sets", "widen the set, then relabel the clusters", "managedclustersets", 5, decision.ReasonWatchBehind, "list", "watch"),
		Entry("scores", "raise the scores, then ask for the best", "addonplacementscores", 5, decision.ReasonWatchBehind, "watch"),
	)
})
