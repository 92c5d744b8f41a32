package integration

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/film"
)

// ruleLabel is on the PlacementDecisions of PlacementRules.
const ruleLabel = "cluster.open-cluster-management.io/placementrule"

var _ = Describe("Taking over from the upstream controller", Serial, func() {
	It("B6: writes no PlacementDecision that agrees, and the status of each Placement once", func(ctx SpecContext) {
		w, unbound := newWorld(ctx, withoutAdmission), newWorld(ctx)
		w.alone(ctx)

		resume := pause(ctx)

		w.set(ctx, "set")
		w.set(ctx, "empty")
		w.many(ctx, "set", 1, 106, legacyCluster)
		w.score(ctx, "c007", 50, nil)
		w.score(ctx, "c050", 40, nil)

		placements := w.agreeing()
		names := slices.Sorted(maps.Keys(placements))

		Expect(len(names)).To(BeNumerically(">=", 30))
		Expect(each(ctx, len(names), func(ctx context.Context, i int) error {
			return w.leave(ctx, names[i], placements[names[i]])
		})).To(Succeed())
		w.create(ctx, rulePage(w.namespace, "all-decision-3"))
		Expect(unbound.leave(ctx, "p", legacy{pages: one(nil), state: legacyState{
			metav1.ConditionFalse, "NoManagedClusterSetBindings", "No valid ManagedClusterSetBindings found in placement namespace",
		}})).To(Succeed())
		w.create(ctx, rulePage(w.namespace, "disabled-decision-2"))

		// A page that upstream made and never filled has no list at all. The list has to be there, even if it is empty
		// (docs/spec/consumers.md U5), so it gets one; that is the only PlacementDecision that is written. While a placement is misconfigured its
		// pages stay as they are.
		want := []string{}

		for name, l := range placements {
			if !l.disabled {
				want = append(want, "patch placements/"+name+"/status")
			}

			if l.pages[0].clusters == nil && l.wrong == "" {
				want = append(want, "patch placementdecisions/"+name+"-decision-1/status")
			}
		}

		By("starting the hub")

		before := len(w.decided(Default))
		evaluations := w.activity(Default).Evaluations

		resume()

		Eventually(func(g Gomega) {
			g.Expect(w.activity(g).Evaluations).To(BeNumerically(">=", evaluations+len(names)))
			g.Expect(w.decided(g)[before:]).To(ConsistOf(want))
		}).WithContext(ctx).WithTimeout(settle).WithPolling(auditEvery).Should(Succeed())
		w.idle(ctx)
		Expect(w.decided(Default)[before:]).To(ConsistOf(want))

		Expect(unbound.decided(Default)).To(ConsistOf("patch placements/p/status", "patch placementdecisions/p-decision-1/status"))

		for name, l := range placements {
			if !l.disabled {
				w.expectAdopted(ctx, name, l)
			}
		}

		By("starting it again")

		settled := w.writes(Default)
		evaluations = w.activity(Default).Evaluations

		pause(ctx)()
		Eventually(func(g Gomega) { g.Expect(w.activity(g).Evaluations).To(BeNumerically(">=", evaluations+len(names))) }).
			WithContext(ctx).WithTimeout(settle).WithPolling(auditEvery).Should(Succeed())
		w.expectNoWrite(ctx, settled)
		Expect(unbound.decided(Default)).To(HaveLen(2))
	})

	It("B1: closes what upstream was in the middle of, without a gap for a cluster that stays", func(ctx SpecContext) {
		w := newWorld(ctx, withoutAdmission)
		w.alone(ctx)

		resume := pause(ctx)

		w.set(ctx, "set")
		w.many(ctx, "set", 2, 205, func(i int, c *clusterv1.ManagedCluster) {
			if i <= 11 {
				c.Labels["group"] = "canary"
			}
		})

		rule := rulePage(w.namespace, "ruled-decision-1")
		w.create(ctx, rule)
		w.score(ctx, "c205", 50, nil)

		placements := interrupted()
		stays := []string{}

		for name, l := range placements {
			Expect(w.leave(ctx, name, l)).To(Succeed())

			for _, cluster := range l.standing() {
				if cluster >= "c002" && cluster <= "c205" {
					stays = append(stays, name+"/"+cluster)
				}
			}
		}

		film := w.watchThrough(ctx, film.Lens{
			List: &clusterv1beta1.PlacementDecisionList{}, Show: func(object runtime.Object) *clusterv1beta1.PlacementDecision {
				page, ok := object.(*clusterv1beta1.PlacementDecision)
				if !ok {
					return nil
				}

				placement, _, _ := strings.Cut(page.Name, "-decision-")
				members := []string{}

				for _, decision := range page.Status.Decisions {
					members = append(members, placement+"/"+w.short(decision.ClusterName))
				}

				return shown(page.ObjectMeta, members)
			},
		})
		film.stays(stays...)
		resume()

		for name, l := range placements {
			Eventually(func(g Gomega) {
				if l.spec.SortBy == clusterv1beta1.PlacementSortByScore {
					g.Expect(w.selected(w.pages(ctx, g, name))).To(HaveExactElements(shorts(2, 205)))
					g.Expect(w.pages(ctx, g, name)[0].Status.Decisions[0].ClusterName).To(Equal(w.name("c205")))
					g.Expect(w.scoresUpdated(ctx, g, name)).NotTo(BeNil())

					return
				}

				seen := w.look(ctx, g, name)
				g.Expect(seen.Selected).To(HaveExactElements(shorts(2, 205)))
				g.Expect(seen.Misconfigured).To(Equal(configured))
				g.Expect(seen.Satisfied).To(Equal(allScheduled))
			}).WithContext(ctx).WithTimeout(settle).Should(Succeed(), name)
		}

		w.idle(ctx)

		pages := &clusterv1beta1.PlacementDecisionList{}
		Expect(hub.List(ctx, pages, client.InNamespace(w.namespace))).To(Succeed())
		film.until(ctx, pages.Items)
		Expect(pages.Items).To(ContainElement(And(HaveField("UID", rule.UID), HaveField("ResourceVersion", rule.ResourceVersion))))
		w.expectSilence(ctx)
	})
})

// pause stops the hub until the returned function is called, or the spec ends.
func pause(ctx SpecContext) (resume func()) {
	GinkgoHelper()

	account := serviceAccount(ctx, controlPlane)

	stopHub()

	resume = sync.OnceFunc(func() { stopHub = startHub(account) })
	DeferCleanup(func() { resume() })

	return resume
}

// rulePage is a PlacementDecision of a PlacementRule.
func rulePage(namespace, name string) *clusterv1beta1.PlacementDecision {
	rule, _, _ := strings.Cut(name, "-decision-")

	return &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: name, Labels: map[string]string{ruleLabel: rule},
	}}
}

// decided are the writes of the hub in this world, but for those of bindings.
func (w *world) decided(g Gomega) []string {
	return slices.DeleteFunc(w.writes(g), func(write string) bool { return strings.Contains(write, " managedclustersetbindings/") })
}

// expectAdopted demands that decisions and conditions say what upstream has left.
func (w *world) expectAdopted(ctx context.Context, name string, l legacy) {
	GinkgoHelper()

	pages := w.pages(ctx, Default, name)
	Expect(pages).To(HaveLen(len(l.pages)), name)

	for i, page := range pages {
		clusters := []string{}
		for _, decision := range page.Status.Decisions {
			clusters = append(clusters, w.short(decision.ClusterName))
		}

		Expect(clusters).To(HaveExactElements(l.pages[i].clusters), page.Name)
	}

	placement := w.read(ctx, Default, name)
	satisfied := placement.Status.Conditions[1]

	Expect(placement.Status.Conditions[0].ObservedGeneration).To(Equal(placement.Generation), name)
	Expect(conditionText(satisfied)).To(Equal(string(l.state.status)+" "+l.state.reason), name)
	Expect(satisfied.LastTransitionTime.Time).To(BeTemporally("==", time.Unix(legacyTime, 0)), name)

	if l.wrong == "" {
		Expect(satisfied.Message).To(HavePrefix(l.state.message), name)
		w.look(ctx, Default, name)
	}
}
