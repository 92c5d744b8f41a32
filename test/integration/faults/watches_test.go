package faults

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

	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// fewReads is how many lists and watches of one kind may be tried while they fail, in as long as nothing may happen to be sure that
// nothing will: the controllers share one informer for a kind, which waits 0.8 s at first and twice as long each time, tries a watch and a list
// each time, and has each tried again once by the transport. On a loaded machine that takes longer; without backoff it would be hundreds.
const fewReads = 24

// observed is a fixture in which something of every kind decides: "p" takes all, "best" the cluster of the highest score.
func observed(ctx context.Context) *suite.Fixture {
	GinkgoHelper()

	f := suite.NewFixture(ctx)
	f.Set(ctx, "set")
	f.Set(ctx, "extra")
	f.UnboundSet(ctx, "free")
	f.Clusters(ctx, "set", 1, 5)
	f.Cluster(ctx, "extra", "c010")
	f.Cluster(ctx, "free", "c020")
	f.Score(ctx, "c001", 10, nil)
	f.Score(ctx, "c002", 1, nil)
	f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
	f.Placement(ctx, "best", clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](1), PrioritizerPolicy: suite.Exactly(suite.DemoScore(1))})
	f.ExpectSelected(ctx, "p", suite.AllScheduled, append(suite.Shorts(1, 5), "c010")...)
	f.ExpectSelected(ctx, "best", suite.AllScheduled, "c001")

	return f
}

// unseen is something that happens to a fixture while the hub cannot see it, and what it leads to.
type unseen struct {
	happens func(context.Context, *suite.Fixture)
	p, best []string
}

var (
	everything = append(suite.Shorts(1, 5), "c010")

	unseenOf = map[string]unseen{
		"managedclusters": {func(ctx context.Context, f *suite.Fixture) {
			f.DeleteCluster(ctx, "c001")
			f.Cluster(ctx, "set", "c006")
			f.DeleteCluster(ctx, "c003")
			suite.ExpectGone(ctx, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: f.Name("c003")}})
			f.Cluster(ctx, "set", "c003") // The same name, another cluster.
		}, append(suite.Shorts(2, 6), "c010"), []string{"c002"}},
		"managedclustersets": {func(ctx context.Context, f *suite.Fixture) {
			Expect(suite.Client.Delete(ctx, &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: f.Name("extra")}})).To(Succeed())
		}, suite.Shorts(1, 5), []string{"c001"}},
		"managedclustersetbindings": {func(ctx context.Context, f *suite.Fixture) {
			f.Bind(ctx, "free")
		}, append(suite.Shorts(1, 5), "c010", "c020"), []string{"c001"}},
		"addonplacementscores": {func(ctx context.Context, f *suite.Fixture) {
			f.Score(ctx, "c002", 90, nil)
		}, everything, []string{"c002"}},
		"placements": {func(ctx context.Context, f *suite.Fixture) {
			f.EditPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) {
				s.NumberOfClusters, s.PrioritizerPolicy = ptr.To[int32](4), suite.Exactly()
			})
			f.EditPlacement(ctx, "best", func(s *clusterv1beta1.PlacementSpec) { s.NumberOfClusters = ptr.To[int32](2) })
		}, suite.Shorts(1, 4), suite.Shorts(1, 2)},
		"placementdecisions": {func(ctx context.Context, f *suite.Fixture) {
			Expect(suite.Client.Delete(ctx, &f.Pages(ctx, Default, "best")[0])).To(Succeed())
		}, everything, []string{"c001"}},
	}
)

// sees waits until the fixture has settled as something unseen leads to.
func (u unseen) sees(ctx context.Context, f *suite.Fixture) {
	GinkgoHelper()
	f.ExpectSelected(ctx, "p", suite.AllScheduled, u.p...)
	f.ExpectSelected(ctx, "best", suite.AllScheduled, u.best...)
}

var _ = Describe("An API server that fails to tell", Ordered, ContinueOnFailure, func() {
	var proxy *faults.Proxy

	BeforeAll(func(ctx SpecContext) { proxy = suite.ThroughProxy(ctx, suite.ManyWorkers) })

	DescribeTable("law 6: keeps the decisions while a kind cannot be watched, tries again with backoff, and catches up",
		func(ctx SpecContext, resource string, fault faults.Fault) {
			f := observed(ctx)
			recording := f.RecordPages(ctx)
			recording.Require(f.Names("c002", "c004")...)

			// What is read before clusters leave is metadata, and tried again in its own time.
			tried := func() int {
				return len(slices.DeleteFunc(proxy.Requests(suite.Reads(resource)), func(r faults.Request) bool { return r.Metadata }))
			}
			before := tried()
			mend := proxy.Break(faults.Rule{Match: suite.Reads(resource), Fault: fault})
			DeferCleanup(mend)

			what := unseenOf[resource]
			what.happens(ctx, f)
			Consistently(func(g Gomega) { g.Expect(recording.Drain()).To(Succeed()) }).
				WithContext(ctx).WithTimeout(suite.QuietPeriod).Should(Succeed())
			recording.ExpectRequired()
			Expect(tried() - before).To(And(BeNumerically(">=", 1), BeNumerically("<=", fewReads)))

			mend()
			what.sees(ctx, f)
			recording.PlayUntil(ctx, suite.AllPages(ctx, f))
		},
		Entry("clusters", "managedclusters", faults.Unavailable),
		Entry("sets", "managedclustersets", faults.Reset),
		Entry("bindings", "managedclustersetbindings", faults.InternalError),
		Entry("scores", "addonplacementscores", faults.TooManyRequests),
		Entry("placements", "placements", faults.Hang),
		Entry("decisions", "placementdecisions", faults.Unavailable),
	)

	It("B1, B6: goes on writing while its own decisions cannot be watched, and writes nothing twice", func(ctx SpecContext) {
		f := observed(ctx)
		mend := proxy.Break(faults.Rule{Match: suite.Reads("placementdecisions"), Fault: faults.Unavailable})
		DeferCleanup(mend)

		f.Cluster(ctx, "set", "c007")
		f.DeleteCluster(ctx, "c002")
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001", "c003", "c004", "c005", "c007", "c010")

		before := f.AwaitIdle(ctx).Writes
		f.ExpectNoWrite(ctx, before)
		mend()
		f.ExpectNoWrite(ctx, before)
	})

	DescribeTable("law 6: writes nothing at the start until it has seen everything",
		func(ctx SpecContext, resource string, fault faults.Fault) {
			f := observed(ctx)
			suite.StopHub()

			what := unseenOf[resource]
			what.happens(ctx, f)

			before := f.Writes(Default)
			read := len(proxy.Requests(suite.Reads(resource)))
			mend := proxy.Break(faults.Rule{Match: suite.Reads(resource), Fault: fault})
			DeferCleanup(mend)

			suite.StopHub = suite.StartHub(proxy.Config(), suite.ManyWorkers)

			Eventually(func() int { return len(proxy.Requests(suite.Reads(resource))) }).
				WithContext(ctx).WithTimeout(suite.Timeout).Should(BeNumerically(">", read), "the fault has struck")
			f.ExpectNoWrite(ctx, before)

			mend()
			what.sees(ctx, f)
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
			f := observed(ctx)
			DeferCleanup(proxy.Break(faults.Rule{Match: faults.Match{Resources: []string{"events"}}, Fault: fault}))

			f.DeleteCluster(ctx, "c001")
			f.ExpectSelected(ctx, "p", suite.AllScheduled, append(suite.Shorts(2, 5), "c010")...)
			f.ExpectSelected(ctx, "best", suite.AllScheduled, "c002")
		},
		Entry("refused", faults.InternalError),
		Entry("without an answer", faults.Hang),
	)
})
