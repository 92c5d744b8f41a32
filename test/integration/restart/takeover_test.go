// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/history"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// ruleLabel is on the PlacementDecisions of PlacementRules.
const ruleLabel = "cluster.open-cluster-management.io/placementrule"

var _ = Describe("Taking over from the upstream controller", func() {
	It("B6: writes no PlacementDecision that agrees, and the status of each Placement once", func(ctx SpecContext) {
		f, unbound := suite.NewFixture(ctx, suite.WithoutAdmission), suite.NewFixture(ctx)
		f.AwaitNoOtherDecisions(ctx)
		resume := suite.PauseHub(ctx)
		f.Set(ctx, "set")
		f.Set(ctx, "empty")
		f.ManyClusters(ctx, "set", 1, 106, legacyCluster)
		f.Score(ctx, "c007", 50, nil)
		f.Score(ctx, "c050", 40, nil)
		placements := agreeing(f)
		names := slices.Sorted(maps.Keys(placements))

		Expect(len(names)).To(BeNumerically(">=", 30))
		Expect(suite.Each(ctx, len(names), func(ctx context.Context, i int) error {
			return leave(ctx, f, names[i], placements[names[i]])
		})).To(Succeed())
		f.Create(ctx, rulePage(f.Namespace, "all-decision-3"))
		Expect(leave(ctx, unbound, "p", legacy{pages: onePage(nil), state: legacyState{
			metav1.ConditionFalse, "NoManagedClusterSetBindings", "No valid ManagedClusterSetBindings found in placement namespace",
		}})).To(Succeed())
		f.Create(ctx, rulePage(f.Namespace, "disabled-decision-2"))

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

		before := len(decidedBy(f, Default))
		evaluations := f.Activity(Default).Evaluations
		resume()

		Eventually(func(g Gomega) {
			g.Expect(f.Activity(g).Evaluations).To(BeNumerically(">=", evaluations+len(names)))
			g.Expect(decidedBy(f, g)[before:]).To(ConsistOf(want))
		}).WithContext(ctx).WithTimeout(suite.Timeout).WithPolling(suite.AuditInterval).Should(Succeed())
		f.AwaitIdle(ctx)
		Expect(decidedBy(f, Default)[before:]).To(ConsistOf(want))

		Expect(decidedBy(unbound, Default)).To(ConsistOf("patch placements/p/status", "patch placementdecisions/p-decision-1/status"))
		for name, l := range placements {
			if !l.disabled {
				expectAdopted(ctx, f, name, l)
			}
		}
		By("starting it again")
		settled := f.Writes(Default)
		evaluations = f.Activity(Default).Evaluations

		suite.PauseHub(ctx)()
		Eventually(func(g Gomega) { g.Expect(f.Activity(g).Evaluations).To(BeNumerically(">=", evaluations+len(names))) }).
			WithContext(ctx).WithTimeout(suite.Timeout).WithPolling(suite.AuditInterval).Should(Succeed())
		f.ExpectNoWrite(ctx, settled)
		Expect(decidedBy(unbound, Default)).To(HaveLen(2))
	})

	It("B1: closes what upstream was in the middle of, without a gap for a cluster that stays", func(ctx SpecContext) {
		f := suite.NewFixture(ctx, suite.WithoutAdmission)
		f.AwaitNoOtherDecisions(ctx)
		resume := suite.PauseHub(ctx)
		f.Set(ctx, "set")
		f.ManyClusters(ctx, "set", 2, 205, func(i int, c *clusterv1.ManagedCluster) {
			if i <= 11 {
				c.Labels["group"] = "canary"
			}
		})

		rule := rulePage(f.Namespace, "ruled-decision-1")
		f.Create(ctx, rule)
		f.Score(ctx, "c205", 50, nil)
		placements := interrupted()
		stays := []string{}
		for name, l := range placements {
			Expect(leave(ctx, f, name, l)).To(Succeed())
			for _, cluster := range l.standing() {
				if cluster >= "c002" && cluster <= "c205" {
					stays = append(stays, name+"/"+cluster)
				}
			}
		}

		recording := f.RecordWith(ctx, history.Adapter{
			List: &clusterv1beta1.PlacementDecisionList{}, Convert: func(object runtime.Object) *clusterv1beta1.PlacementDecision {
				page, ok := object.(*clusterv1beta1.PlacementDecision)
				if !ok {
					return nil
				}
				placement, _, _ := strings.Cut(page.Name, "-decision-")
				members := []string{}
				for _, decision := range page.Status.Decisions {
					members = append(members, placement+"/"+f.ShortName(decision.ClusterName))
				}
				return suite.PageOf(page.ObjectMeta, members)
			},
		})
		recording.Require(stays...)
		resume()

		for name, l := range placements {
			Eventually(func(g Gomega) {
				if l.spec.SortBy == clusterv1beta1.PlacementSortByScore {
					g.Expect(f.Selected(f.Pages(ctx, g, name))).To(HaveExactElements(suite.Shorts(2, 205)))
					g.Expect(f.Pages(ctx, g, name)[0].Status.Decisions[0].ClusterName).To(Equal(f.Name("c205")))
					g.Expect(f.ScoresUpdated(ctx, g, name)).NotTo(BeNil())
					return
				}
				seen := f.Look(ctx, g, name)
				g.Expect(seen.Selected).To(HaveExactElements(suite.Shorts(2, 205)))
				g.Expect(seen.Misconfigured).To(Equal(suite.Configured))
				g.Expect(seen.Satisfied).To(Equal(suite.AllScheduled))
			}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed(), name)
		}

		f.AwaitIdle(ctx)
		pages := &clusterv1beta1.PlacementDecisionList{}
		Expect(suite.Client.List(ctx, pages, client.InNamespace(f.Namespace))).To(Succeed())
		recording.PlayUntil(ctx, pages.Items)
		Expect(pages.Items).To(ContainElement(And(HaveField("UID", rule.UID), HaveField("ResourceVersion", rule.ResourceVersion))))
		f.ExpectSilence(ctx)
	})
})

// rulePage is a PlacementDecision of a PlacementRule.
func rulePage(namespace, name string) *clusterv1beta1.PlacementDecision {
	rule, _, _ := strings.Cut(name, "-decision-")
	return &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: name, Labels: map[string]string{ruleLabel: rule},
	}}
}

// decidedBy are the writes of the hub in this fixture, but for those of bindings.
func decidedBy(f *suite.Fixture, g Gomega) []string {
	return slices.DeleteFunc(f.Writes(g), func(write string) bool { return strings.Contains(write, " managedclustersetbindings/") })
}

// expectAdopted demands that decisions and conditions say what upstream has left.
func expectAdopted(ctx context.Context, f *suite.Fixture, name string, l legacy) {
	GinkgoHelper()
	pages := f.Pages(ctx, Default, name)
	Expect(pages).To(HaveLen(len(l.pages)), name)
	for i, page := range pages {
		clusters := []string{}
		for _, decision := range page.Status.Decisions {
			clusters = append(clusters, f.ShortName(decision.ClusterName))
		}
		Expect(clusters).To(HaveExactElements(l.pages[i].clusters), page.Name)
	}

	placement := f.Read(ctx, Default, name)
	satisfied := placement.Status.Conditions[1]
	Expect(placement.Status.Conditions[0].ObservedGeneration).To(Equal(placement.Generation), name)
	Expect(suite.ConditionText(satisfied)).To(Equal(string(l.state.status)+" "+l.state.reason), name)
	Expect(satisfied.LastTransitionTime.Time).To(BeTemporally("==", time.Unix(legacyTime, 0)), name)
	if l.wrong == "" {
		Expect(satisfied.Message).To(HavePrefix(l.state.message), name)
		f.Look(ctx, Default, name)
	}
}
