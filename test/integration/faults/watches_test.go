// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/integration/suite"
	"github.com/placement-hub/placement-hub/test/integration/suite/matrix"
)

// fewReads is how many lists and watches of one kind may be tried while they fail, in as long as nothing may happen to be sure that
// nothing will: the controllers share one informer for a kind, which waits 0.8 s at first and twice as long each time, tries a watch and a list
// each time, and has each tried again by the transport, once and on each idle connection that breaks. Without backoff it would be hundreds.
const fewReads = 24 + matrix.IdleConnections

// system is that of placements for the specs of matrix.
var underTest = &matrix.System{Writes: faults.Match{Verbs: changing, Resources: []string{
	"placementdecisions", "placementdecisions/status", "placements/status", "managedclustersetbindings/status", "managedclustersets/status",
	"events",
}}}

// observe makes a fixture in which something of every kind decides: "p" takes all, "best" the cluster of the highest score.
func observe(ctx context.Context) *suite.Fixture {
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

	return f
}

// observed returns such a fixture when the hub has seen everything of it.
func observed(ctx context.Context) *suite.Fixture {
	GinkgoHelper()
	f := observe(ctx)
	unchanged.sees(ctx, f)
	return f
}

// unseen is something that happens to a fixture while the hub cannot see it, and what it leads to.
type unseen struct {
	happens func(context.Context, *suite.Fixture)
	p, best []string
}

var (
	everything = append(suite.Shorts(1, 5), "c010")
	unchanged  = unseen{p: everything, best: []string{"c001"}}

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

// unseenView is the view in which a change of a resource is not seen.
func unseenView(name, resource string, fault faults.Fault) matrix.View {
	// What is read before clusters leave is metadata, and tried again in its own time.
	return matrix.View{
		Name: name, Reads: faults.Reads(resource), Fault: fault, MostReads: fewReads, MetadataIsFree: true,
		New: func(ctx context.Context) *matrix.Subject {
			f, what := observe(ctx), unseenOf[resource]
			var recording *suite.Recording
			return &matrix.Subject{
				Settle: func(ctx context.Context) {
					unchanged.sees(ctx, f)
					recording = f.RecordPages(ctx)
					recording.Require(f.Names("c002", "c004")...)
				},
				Change: func(ctx context.Context) { what.happens(ctx, f) },
				Holds: func(_ context.Context, g Gomega) {
					g.Expect(recording.Drain()).To(Succeed())
					recording.ExpectRequired()
				},
				Arrives: func(ctx context.Context) {
					what.sees(ctx, f)
					recording.PlayUntil(ctx, suite.AllPages(ctx, f))
				},
			}
		},
	}
}

var _ = Describe("An API server that fails to tell", Ordered, ContinueOnFailure, func() {
	underTest.Behind()

	underTest.Views("law 6: keeps the decisions while a kind cannot be watched, tries again with backoff, and catches up",
		unseenView("clusters", "managedclusters", faults.Unavailable),
		unseenView("sets", "managedclustersets", faults.Reset),
		unseenView("bindings", "managedclustersetbindings", faults.InternalError),
		unseenView("scores", "addonplacementscores", faults.TooManyRequests),
		unseenView("placements", "placements", faults.Hang),
		unseenView("decisions", "placementdecisions", faults.Unavailable),
	)

	oldViewSpecs()

	underTest.Starts("law 6: writes nothing at the start until it has seen everything",
		unseenView("clusters", "managedclusters", faults.Reset),
		unseenView("sets", "managedclustersets", faults.Unavailable),
		unseenView("bindings", "managedclustersetbindings", faults.Unavailable),
		unseenView("scores", "addonplacementscores", faults.InternalError),
		unseenView("placements", "placements", faults.Unavailable),
		unseenView("decisions", "placementdecisions", faults.Unavailable),
	)

	It("B1, B6: goes on writing while its own decisions cannot be watched, and writes nothing twice", func(ctx SpecContext) {
		f := observed(ctx)
		mend := underTest.Proxy.Break(faults.Rule{Match: faults.Reads("placementdecisions"), Fault: faults.Unavailable})
		DeferCleanup(mend)
		f.Cluster(ctx, "set", "c007")
		f.DeleteCluster(ctx, "c002")
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001", "c003", "c004", "c005", "c007", "c010")
		before := f.AwaitIdle(ctx).Writes
		f.ExpectNoWrite(ctx, before)
		mend()
		f.ExpectNoWrite(ctx, before)

		suite.ListsDecisionsAgain() // The watch may begin with a list, and does so in this spec.
		page := &f.Pages(ctx, Default, "best")[0]
		page.Status.Decisions = []clusterv1beta1.ClusterDecision{}
		Expect(suite.Client.Status().Update(ctx, page)).To(Succeed())
		f.ExpectSelected(ctx, "best", suite.AllScheduled, "c001")
	})

	DescribeTable("decides on while events cannot be written",
		func(ctx SpecContext, fault faults.Fault) {
			f := observed(ctx)
			DeferCleanup(underTest.Proxy.Break(faults.Rule{Match: faults.Match{Resources: []string{"events"}}, Fault: fault}))
			f.DeleteCluster(ctx, "c001")
			f.ExpectSelected(ctx, "p", suite.AllScheduled, append(suite.Shorts(2, 5), "c010")...)
			f.ExpectSelected(ctx, "best", suite.AllScheduled, "c002")
		},
		Entry("refused", faults.InternalError),
		Entry("without an answer", faults.Hang),
	)
})
