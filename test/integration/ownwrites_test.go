package integration

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/controller"
	"github.com/placement-hub/placement-hub/test/env/faults"
)

// wokenByDecisions is how often somebody who changes decisions has woken a placement, in the queue already or not.
func wokenByDecisions(g Gomega) int {
	cause := map[string]string{"cause": "decision"}

	return counted(g, "placement_hub_enqueues_total", cause) + counted(g, "placement_hub_enqueues_coalesced_total", cause)
}

// expectOwnWritesKnown demands that what the hub writes in these steps wakes no placement. Nobody else may write decisions meanwhile.
func (w *world) expectOwnWritesKnown(ctx context.Context, steps ...func()) {
	GinkgoHelper()
	w.alone(ctx)
	w.idle(ctx)

	before := wokenByDecisions(Default)

	for i, step := range steps {
		step()
		w.idle(ctx)
		Expect(wokenByDecisions(Default)-before).To(BeZero(), "step %d", i)
	}
}

// regroupings are changes that have the pages of "p", "q" and "r" of 330 clusters created, mended, filled and deleted.
func (w *world) regroupings(ctx context.Context) []func() {
	relabel := func(first, last int, group string) func() {
		return func() {
			GinkgoHelper()
			Expect(each(ctx, last-first+1, func(ctx context.Context, i int) error {
				patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{"labels":{"group":%q}}}`, group))
				cluster := &clusterv1.ManagedCluster{}
				cluster.Name = w.name(fmt.Sprintf("c%03d", first+i))

				return hub.Patch(ctx, cluster, patch)
			})).To(Succeed())
		}
	}
	length := func(clusters int) func() {
		return func() {
			w.editPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { s.DecisionStrategy = canaryStrategy(clusters, true) })
		}
	}
	wanted := func(clusters int32) func() {
		return func() {
			for _, name := range []string{"q", "r"} {
				w.editPlacement(ctx, name, func(s *clusterv1beta1.PlacementSpec) { s.NumberOfClusters = ptr.To(clusters) })
			}
		}
	}

	// restless changes groups on and on, so that placements are evaluated again before all that was written has come back.
	restless := func() {
		for turn := range 6 {
			relabel(1+10*turn, 200+10*turn, []string{"canary", "rest"}[turn%2])()
		}
	}

	return []func(){
		restless, relabel(1, 40, "canary"), wanted(120), length(30), relabel(41, 150, "canary"), wanted(310), length(7),
		restless, relabel(20, 120, "rest"), wanted(99), length(90), relabel(1, 150, "canary"), wanted(0), length(11), restless, relabel(1, 150, "rest"), wanted(201), length(100),
	}
}

var _ = Describe("What the hub writes itself", Serial, func() {
	It("wakes no placement, however many pages are written", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.many(ctx, "set", 1, 330, func(int, *clusterv1.ManagedCluster) {})
		w.expectOwnWritesKnown(ctx, slices.Concat([]func(){func() {
			w.placement(ctx, "p", clusterv1beta1.PlacementSpec{DecisionStrategy: canaryStrategy(50, true)})
			w.placement(ctx, "q", clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](250)})
			w.placement(ctx, "r", clusterv1beta1.PlacementSpec{
				NumberOfClusters: ptr.To[int32](250),
				DecisionStrategy: clusterv1beta1.DecisionStrategy{
					GroupStrategy: clusterv1beta1.GroupStrategy{ClustersPerDecisionGroup: intstr.FromString("10%")},
				},
			})
			w.alpha(ctx, "p", placementv1alpha1.PlacementSpec{})
		}}, w.regroupings(ctx))...)
	})

	It("B9: is seen by placements that decide at the same time, so that they spread out, and nothing moves later", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.alone(ctx)
		w.set(ctx, "fleet")
		w.many(ctx, "fleet", 1, 151, func(int, *clusterv1.ManagedCluster) {})
		w.seen(ctx)

		names := []string{"p1", "p2", "p3", "p4"}
		decided := func(g Gomega) map[string][]string {
			all := map[string][]string{}

			for _, name := range names {
				for _, page := range w.pages(ctx, g, name) {
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
			}).WithContext(ctx).WithTimeout(settle).Should(Succeed())
			w.idle(ctx)

			return decided(Default)
		}

		for _, name := range names {
			w.placement(ctx, name, clusterv1beta1.PlacementSpec{})
		}

		settled(151)

		Expect(each(ctx, len(names), func(ctx context.Context, i int) error {
			placement := &clusterv1beta1.Placement{}
			placement.Namespace, placement.Name = w.namespace, names[i]

			return hub.Patch(ctx, placement, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"numberOfClusters":100}}`)))
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
			w.cluster(ctx, "", short)
			w.editCluster(ctx, "c001", func(c *clusterv1.ManagedCluster) { c.Labels["turn"] = short })
			w.deleteCluster(ctx, short)
		}

		for _, name := range names {
			w.annotate(ctx, name, "turn", "1")
		}

		Expect(settled(100)).To(Equal(before))
	})
})

var _ = Describe("A watch of decisions that hangs for minutes", Ordered, Serial, func() {
	var (
		proxy *faults.Proxy
		clock *testing.FakePassiveClock
	)

	BeforeAll(func(ctx SpecContext) {
		clock = testing.NewFakePassiveClock(time.Now())
		proxy = throughProxy(ctx, manyHands, func(o *controller.Options) { o.Clock = clock })
	})

	It("B6: does not keep changes from being written, and costs no conflict", func(ctx SpecContext) {
		w := observed(ctx)
		w.idle(ctx)

		mend := proxy.Break(faults.Rule{
			Match: faults.Match{Verbs: []string{"watch"}, Resources: []string{"placementdecisions"}}, Fault: faults.Hang,
		})
		DeferCleanup(mend)

		asked := func() int {
			return len(proxy.Requests(faults.Match{Verbs: []string{"list"}, Resources: []string{"placementdecisions"}, Namespace: w.namespace}))
		}
		conflicts := func() int {
			return counted(Default, "placement_hub_writes_total", map[string]string{"result": "outdated"})
		}
		before, members := conflicts(), slices.Clone(everything)

		for n := range 3 {
			short := fmt.Sprintf("c%03d", 30+n)
			members = append(members, short)
			w.cluster(ctx, "set", short)
			slices.SortFunc(members, strings.Compare)
			w.expectSelected(ctx, "p", allScheduled, members...)

			already := asked()

			clock.SetTime(clock.Now().Add(time.Minute))
			Eventually(asked).WithContext(ctx).WithTimeout(settle).Should(BeNumerically(">", already), "the API server is asked what stands")
		}

		Expect(conflicts() - before).To(BeZero())
		mend()
		w.expectSelected(ctx, "p", allScheduled, members...)
		w.expectNoWrite(ctx, w.idle(ctx).Writes)
	})
})
