// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/integration/suite"
	"github.com/placement-hub/placement-hub/test/integration/suite/matrix"
)

// oldView is a sequence of changes that keeps every cluster of the placement "p" selected, and of which the hub sees the last one only: the
// watch of an earlier one is broken.
type oldView struct {
	// prepare makes the placement, over the clusters of the bound set "a".
	prepare func(ctx context.Context, f *suite.Fixture, clusters []string)
	// unseen happens while the watch is broken, and then seen.
	unseen, seen func(ctx context.Context, f *suite.Fixture, clusters []string)
}

func relabel(key, value string) func(ctx context.Context, f *suite.Fixture, clusters []string) {
	return func(ctx context.Context, f *suite.Fixture, clusters []string) {
		GinkgoHelper()
		f.LabelClusters(ctx, key, value, clusters...)
	}
}

func selecting(ctx context.Context, f *suite.Fixture, predicates ...clusterv1beta1.ClusterPredicate) {
	GinkgoHelper()
	f.EditPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { s.Predicates = predicates })
}

// byRack are the racks of four clusters: three in one, and one in another.
var byRack = []string{"r1", "r1", "r1", "r4"}

var oldViews = map[string]oldView{
	"label the clusters, then select by that label": {
		prepare: func(ctx context.Context, f *suite.Fixture, _ []string) {
			f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		},
		unseen: relabel("tier", "gold"),
		seen: func(ctx context.Context, f *suite.Fixture, _ []string) {
			selecting(ctx, f, suite.ByLabel("tier", "gold"))
		},
	},
	"widen the placement, then relabel the clusters": {
		prepare: func(ctx context.Context, f *suite.Fixture, clusters []string) {
			relabel("region", "eu")(ctx, f, clusters)
			f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{Predicates: []clusterv1beta1.ClusterPredicate{suite.ByLabel("region", "eu")}})
		},
		unseen: func(ctx context.Context, f *suite.Fixture, _ []string) {
			selecting(ctx, f, suite.ByLabel("region", "eu"), suite.ByLabel("region", "us"))
		},
		seen: relabel("region", "us"),
	},
	"bind another set, then move the clusters into it": {
		prepare: func(ctx context.Context, f *suite.Fixture, _ []string) {
			f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		},
		unseen: func(ctx context.Context, f *suite.Fixture, _ []string) { f.Bind(ctx, "b") },
		seen: func(ctx context.Context, f *suite.Fixture, clusters []string) {
			relabel(clusterv1beta2.ClusterSetLabel, f.Name("b"))(ctx, f, clusters)
		},
	},
	"move the clusters into another bound set, then unbind the first one": {
		prepare: func(ctx context.Context, f *suite.Fixture, _ []string) {
			f.Bind(ctx, "b")
			f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		},
		unseen: func(ctx context.Context, f *suite.Fixture, clusters []string) {
			relabel(clusterv1beta2.ClusterSetLabel, f.Name("b"))(ctx, f, clusters)
		},
		seen: func(ctx context.Context, f *suite.Fixture, _ []string) {
			Expect(suite.Client.Delete(ctx, &clusterv1beta2.ManagedClusterSetBinding{
				ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: f.Name("a")},
			})).To(Succeed())
		},
	},
	"widen the set, then relabel the clusters": {
		prepare: func(ctx context.Context, f *suite.Fixture, clusters []string) {
			f.LabelSet(ctx, "l", metav1.LabelSelector{MatchLabels: map[string]string{"region": "eu"}})
			relabel("region", "eu")(ctx, f, clusters)
			f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{ClusterSets: []string{f.Name("l")}})
		},
		unseen: func(ctx context.Context, f *suite.Fixture, _ []string) {
			set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: f.Name("l")}}
			suite.Edit(ctx, set, func(s *clusterv1beta2.ManagedClusterSet) {
				s.Spec.ClusterSelector.LabelSelector = &metav1.LabelSelector{MatchLabels: map[string]string{suite.FixtureLabel: f.Namespace}}
			})
		},
		seen: relabel("region", "us"),
	},
	"move a cluster to another rack, then spread over the racks": {
		prepare: func(ctx context.Context, f *suite.Fixture, clusters []string) {
			for i, cluster := range clusters {
				relabel("rack", byRack[i])(ctx, f, []string{cluster})
			}
			f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		},
		unseen: func(ctx context.Context, f *suite.Fixture, clusters []string) {
			relabel("rack", "r4")(ctx, f, clusters[:1])
		},
		seen: func(ctx context.Context, f *suite.Fixture, _ []string) {
			f.EditPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) {
				s.SpreadPolicy = clusterv1beta1.SpreadPolicy{SpreadConstraints: []clusterv1beta1.SpreadConstraintsTerm{{
					TopologyKey: "rack", TopologyKeyType: clusterv1beta1.TopologyKeyTypeLabel, MaxSkew: 1,
					WhenUnsatisfiable: clusterv1beta1.DoNotSchedule,
				}}}
			})
		},
	},
	"raise the scores, then ask for the best": {
		prepare: func(ctx context.Context, f *suite.Fixture, clusters []string) {
			f.Clusters(ctx, "a", 90, 91)
			f.Score(ctx, "c090", 50, nil)
			f.Score(ctx, "c091", 50, nil)
			f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{
				NumberOfClusters: ptr.To(int32(len(clusters))), PrioritizerPolicy: suite.Exactly(suite.BuiltIn("Steady", 1)),
			})
		},
		unseen: func(ctx context.Context, f *suite.Fixture, clusters []string) {
			for _, cluster := range clusters {
				f.Score(ctx, cluster, 100, nil)
			}
		},
		seen: func(ctx context.Context, f *suite.Fixture, _ []string) {
			f.EditPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { s.PrioritizerPolicy = suite.Exactly(suite.DemoScore(1)) })
		},
	},
}

var _ = Describe("A view of which one kind is old", Ordered, ContinueOnFailure, func() {
	underTest.Behind()

	It("B10: a new leader takes no cluster away before it has compared every kind once", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "a")
		f.Clusters(ctx, "a", 1, 3)
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(1, 3)...)

		// No placement reads scores. The new hub gets them by a watch, and cannot compare them with a list.
		suite.StopHub()
		mend := underTest.Proxy.Break(faults.Rule{
			Match: faults.Match{Verbs: []string{"list"}, Resources: []string{"addonplacementscores"}}, Fault: faults.Reset,
		})
		DeferCleanup(mend)

		underTest.Start()
		f.DeleteCluster(ctx, "c001")

		Eventually(func(g Gomega) *metav1.Condition {
			return meta.FindStatusCondition(f.Read(ctx, g, "p").Status.Conditions, placement.ConditionRemovalPostponed)
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(HaveField("Reason", placement.ReasonReadFailed))
		Expect(f.Selected(f.Pages(ctx, Default, "p"))).To(Equal(suite.Shorts(1, 3)))

		mend()
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(2, 3)...)

		// From then on a kind that does not decide holds nothing up.
		DeferCleanup(underTest.Proxy.Break(faults.Rule{
			Match: faults.Match{Verbs: []string{"list", "watch"}, Resources: []string{"addonplacementscores"}}, Fault: faults.Reset,
		}))
		f.DeleteCluster(ctx, "c002")
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c003")
	})

	It("B11: an agent that writes all the time keeps its cluster selected neither with its watch nor without", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "a")
		f.Clusters(ctx, "a", 1, 3)
		relabel("quiet", "yes")(ctx, f, []string{"c002", "c003"})
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(1, 3)...)
		beats, written := 0, make(chan struct{})
		beating, stop := context.WithCancel(ctx)

		go func() {
			defer GinkgoRecover()
			defer close(written)
			for beating.Err() == nil {
				cluster := f.ReadCluster(ctx, Default, "c001")
				beats++
				f.WriteStatus(ctx, cluster, clusterv1.ManagedClusterStatus{Version: clusterv1.ManagedClusterVersion{
					Kubernetes: fmt.Sprintf("v1.35.%d", beats),
				}})
			}
		}()

		selecting(ctx, f, suite.ByLabel("quiet", "yes"))
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c002", "c003")
		selecting(ctx, f)
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(1, 3)...)

		DeferCleanup(underTest.Proxy.Break(faults.Rule{
			Match: faults.Match{Verbs: []string{"list", "watch"}, Resources: []string{"managedclusters"}}, Fault: faults.Reset,
		}))
		selecting(ctx, f, suite.ByLabel("quiet", "yes"))
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c002", "c003")

		stop()
		Eventually(written).WithContext(ctx).WithTimeout(suite.Timeout).Should(BeClosed())
	})
})

// view is the view in which the first of two changes is not seen. The condition RemovalPostponed has a reason, unless it cannot be written.
func view(name, order string, reads faults.Match, clusters int, reason string) matrix.View {
	return matrix.View{Name: name, Reads: reads, Fault: faults.Reset, New: func(ctx context.Context) *matrix.Subject {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "a")
		f.UnboundSet(ctx, "b")
		f.Clusters(ctx, "a", 1, clusters)
		changes, all := oldViews[order], suite.Shorts(1, clusters)
		changes.prepare(ctx, f, all)
		var recording *suite.Recording

		subject := &matrix.Subject{
			Settle: func(ctx context.Context) {
				f.ExpectSelected(ctx, "p", suite.AllScheduled, all...)
				recording = f.RecordPages(ctx)
				recording.Require(f.Names(all...)...)
			},
			Change: func(ctx context.Context) {
				changes.unseen(ctx, f, all)
				changes.seen(ctx, f, all)
			},
			Holds: func(_ context.Context, g Gomega) {
				g.Expect(recording.Drain()).To(Succeed())
				recording.ExpectRequired()
			},
			Arrives: func(ctx context.Context) {
				Eventually(func(g Gomega) {
					g.Expect(f.Look(ctx, g, "p").Satisfied).To(Equal(suite.AllScheduled))
					g.Expect(postponed(ctx, g, f)).To(BeNil())
				}).WithContext(ctx).WithTimeout(2 * suite.Timeout).Should(Succeed())
				f.ExpectSelected(ctx, "p", suite.AllScheduled, all...)
				recording.PlayUntil(ctx, suite.AllPages(ctx, f))
			},
		}

		if reason != "" {
			subject.Told = func(ctx context.Context, g Gomega) {
				g.Expect(postponed(ctx, g, f)).To(And(HaveField("Status", metav1.ConditionTrue), HaveField("Reason", reason)))
			}
		}
		return subject
	}}
}

// postponed returns the condition RemovalPostponed of "p"; nil if there is none.
func postponed(ctx context.Context, g Gomega, f *suite.Fixture) *metav1.Condition {
	return meta.FindStatusCondition(f.Read(ctx, g, "p").Status.Conditions, placement.ConditionRemovalPostponed)
}

// oldViewSpecs registers the specs of views that see the last of several changes only.
func oldViewSpecs() {
	const (
		labelled = "label the clusters, then select by that label"
		widened  = "widen the placement, then relabel the clusters"
		bound    = "bind another set, then move the clusters into it"
		moved    = "move the clusters into another bound set, then unbind the first one"
		set      = "widen the set, then relabel the clusters"
		spread   = "move a cluster to another rack, then spread over the racks"
		scored   = "raise the scores, then ask for the best"
		behind   = placement.ReasonWatchBehind
	)

	clusters, bindings := "managedclusters", "managedclustersetbindings"
	underTest.Views("B10: a view of which one kind is old takes no cluster away, says so, and catches up",
		view("clusters", labelled, faults.Reads(clusters), 5, behind),
		view("many clusters, which are compared with a list", labelled, faults.Watches(clusters), 20, behind),
		view("many clusters, which cannot be listed", labelled, faults.Reads(clusters), 20, placement.ReasonReadFailed),
		// The status of an old version cannot be written.
		view("placements", widened, faults.Reads("placements"), 5, ""),
		view("bindings", bound, faults.Watches(bindings), 5, behind),
		view("bindings, which cannot be listed", bound, faults.Reads(bindings), 5, placement.ReasonReadFailed),
		view("clusters, and bindings that end", moved, faults.Reads(clusters), 5, behind),
		view("sets", set, faults.Reads("managedclustersets"), 5, behind),
		view("B11: clusters, of which one that stays decides", spread, faults.Watches(clusters), 4, behind),
		view("scores", scored, faults.Watches("addonplacementscores"), 5, behind),
	)
}
