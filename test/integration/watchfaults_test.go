package integration

import (
	"context"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/env/faults"
)

// fewReads is how many lists and watches of one kind may be tried while they fail, in as long as nothing may happen to be sure that
// nothing will: the controllers share one informer for a kind, which waits 0.8 s at first and twice as long each time, tries a watch and a list
// each time, and has each tried again once by the transport. On a loaded machine that takes longer; without patience it would be hundreds.
const fewReads = 24

// reads are the requests by which informers learn of a kind.
func reads(resource string) faults.Match {
	return faults.Match{Verbs: []string{"list", "watch"}, Resources: []string{resource}}
}

// observed is a world in which something of every kind decides: "p" takes all, "best" the cluster of the highest score.
func observed(ctx context.Context) *world {
	GinkgoHelper()

	w := newWorld(ctx)
	w.set(ctx, "set")
	w.set(ctx, "extra")
	w.unboundSet(ctx, "free")
	w.clusters(ctx, "set", 1, 5)
	w.cluster(ctx, "extra", "c010")
	w.cluster(ctx, "free", "c020")
	w.score(ctx, "c001", 10, nil)
	w.score(ctx, "c002", 1, nil)
	w.placement(ctx, "p", clusterv1beta1.PlacementSpec{})
	w.placement(ctx, "best", clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](1), PrioritizerPolicy: exactly(demoScore(1))})
	w.expectSelected(ctx, "p", allScheduled, append(shorts(1, 5), "c010")...)
	w.expectSelected(ctx, "best", allScheduled, "c001")

	return w
}

// unseen is something that happens to a world while the hub cannot see it, and what it leads to.
type unseen struct {
	happens func(context.Context, *world)
	p, best []string
}

var (
	everything = append(shorts(1, 5), "c010")

	unseenOf = map[string]unseen{
		"managedclusters": {func(ctx context.Context, w *world) {
			w.deleteCluster(ctx, "c001")
			w.cluster(ctx, "set", "c006")
			w.deleteCluster(ctx, "c003")
			gone(ctx, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: w.name("c003")}})
			w.cluster(ctx, "set", "c003") // The same name, another cluster.
		}, append(shorts(2, 6), "c010"), []string{"c002"}},
		"managedclustersets": {func(ctx context.Context, w *world) {
			Expect(hub.Delete(ctx, &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: w.name("extra")}})).To(Succeed())
		}, shorts(1, 5), []string{"c001"}},
		"managedclustersetbindings": {func(ctx context.Context, w *world) {
			w.bind(ctx, "free")
		}, append(shorts(1, 5), "c010", "c020"), []string{"c001"}},
		"addonplacementscores": {func(ctx context.Context, w *world) {
			w.score(ctx, "c002", 90, nil)
		}, everything, []string{"c002"}},
		"placements": {func(ctx context.Context, w *world) {
			w.editPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) {
				s.NumberOfClusters, s.PrioritizerPolicy = ptr.To[int32](4), exactly()
			})
			w.editPlacement(ctx, "best", func(s *clusterv1beta1.PlacementSpec) { s.NumberOfClusters = ptr.To[int32](2) })
		}, shorts(1, 4), shorts(1, 2)},
		"placementdecisions": {func(ctx context.Context, w *world) {
			Expect(hub.Delete(ctx, &w.pages(ctx, Default, "best")[0])).To(Succeed())
		}, everything, []string{"c001"}},
	}
)

// sees waits until the world has settled as something unseen leads to.
func (u unseen) sees(ctx context.Context, w *world) {
	GinkgoHelper()
	w.expectSelected(ctx, "p", allScheduled, u.p...)
	w.expectSelected(ctx, "best", allScheduled, u.best...)
}

var _ = Describe("An API server that fails to tell", Ordered, ContinueOnFailure, Serial, func() {
	var proxy *faults.Proxy

	BeforeAll(func(ctx SpecContext) { proxy = throughProxy(ctx, manyHands) })

	DescribeTable("law 6: keeps the decisions while a kind cannot be watched, tries again with patience, and catches up",
		func(ctx SpecContext, resource string, fault faults.Fault) {
			w := observed(ctx)
			film := w.watchPages(ctx)
			film.stays(w.names("c002", "c004")...)

			// What is read before clusters leave is metadata, and tried again in its own time.
			tried := func() int {
				return len(slices.DeleteFunc(proxy.Requests(reads(resource)), func(r faults.Request) bool { return r.Metadata }))
			}
			before := tried()
			mend := proxy.Break(faults.Rule{Match: reads(resource), Fault: fault})
			DeferCleanup(mend)

			what := unseenOf[resource]
			what.happens(ctx, w)
			Consistently(func(g Gomega) { g.Expect(film.Seen()).To(Succeed()) }).WithContext(ctx).WithTimeout(quiet).Should(Succeed())
			film.expectStays()
			Expect(tried() - before).To(And(BeNumerically(">=", 1), BeNumerically("<=", fewReads)))

			mend()
			what.sees(ctx, w)
			film.until(ctx, allPages(ctx, w))
		},
		Entry("clusters", "managedclusters", faults.Unavailable),
		Entry("sets", "managedclustersets", faults.Reset),
		Entry("bindings", "managedclustersetbindings", faults.InternalError),
		Entry("scores", "addonplacementscores", faults.TooManyRequests),
		Entry("placements", "placements", faults.Hang),
		Entry("decisions", "placementdecisions", faults.Unavailable),
	)

	It("B1, B6: goes on writing while its own decisions cannot be watched, and writes nothing twice", func(ctx SpecContext) {
		w := observed(ctx)
		mend := proxy.Break(faults.Rule{Match: reads("placementdecisions"), Fault: faults.Unavailable})
		DeferCleanup(mend)

		w.cluster(ctx, "set", "c007")
		w.deleteCluster(ctx, "c002")
		w.expectSelected(ctx, "p", allScheduled, "c001", "c003", "c004", "c005", "c007", "c010")

		before := w.idle(ctx).Writes
		w.expectNoWrite(ctx, before)
		mend()
		w.expectNoWrite(ctx, before)
	})

	DescribeTable("law 6: writes nothing at the start until it has seen everything",
		func(ctx SpecContext, resource string, fault faults.Fault) {
			w := observed(ctx)
			stopHub()

			what := unseenOf[resource]
			what.happens(ctx, w)

			before := w.writes(Default)
			read := len(proxy.Requests(reads(resource)))
			mend := proxy.Break(faults.Rule{Match: reads(resource), Fault: fault})
			DeferCleanup(mend)

			stopHub = startHub(proxy.Config(), manyHands)

			Eventually(func() int { return len(proxy.Requests(reads(resource))) }).
				WithContext(ctx).WithTimeout(settle).Should(BeNumerically(">", read), "the fault has struck")
			w.expectNoWrite(ctx, before)

			mend()
			what.sees(ctx, w)
		},
		Entry("clusters", "managedclusters", faults.Reset),
		Entry("sets", "managedclustersets", faults.Unavailable),
		Entry("bindings", "managedclustersetbindings", faults.Unavailable),
		Entry("scores", "addonplacementscores", faults.InternalError),
		Entry("placements", "placements", faults.Unavailable),
		Entry("decisions", "placementdecisions", faults.Unavailable),
	)

	DescribeTable("decides on while events cannot be written",
		func(ctx SpecContext, fault faults.Fault) {
			w := observed(ctx)
			DeferCleanup(proxy.Break(faults.Rule{Match: faults.Match{Resources: []string{"events"}}, Fault: fault}))

			w.deleteCluster(ctx, "c001")
			w.expectSelected(ctx, "p", allScheduled, append(shorts(2, 5), "c010")...)
			w.expectSelected(ctx, "best", allScheduled, "c002")
		},
		Entry("refused", faults.InternalError),
		Entry("without an answer", faults.Hang),
	)
})

// allPages are the pages of all placements of a world.
func allPages(ctx context.Context, w *world) []clusterv1beta1.PlacementDecision {
	GinkgoHelper()

	list := &clusterv1beta1.PlacementDecisionList{}
	Expect(hub.List(ctx, list, client.InNamespace(w.namespace))).To(Succeed())

	return list.Items
}
