// SPDX-License-Identifier: Apache-2.0

package decisions

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("Decisions sorted by score", func() {
	sorted := func(limit string) clusterv1beta1.PlacementSpec {
		return clusterv1beta1.PlacementSpec{
			SortBy: clusterv1beta1.PlacementSortByScore, ScoreRateLimit: limit, PrioritizerPolicy: suite.Exactly(suite.DemoScore(1)),
		}
	}

	It("D4, B7: pages follow the scores, wait for the rate limit in between, and are re-sorted at once when it is due", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.ManyClusters(ctx, "set", 1, 104, func(int, *clusterv1.ManagedCluster) {})
		f.Score(ctx, "c103", 50, nil)
		f.Score(ctx, "c104", 60, nil)
		f.AwaitIdle(ctx) // The watch of scores is another than that of Placements.
		recording := f.RecordPages(ctx)
		stays := f.Names(append(suite.Shorts(1, 103), "c105")...)

		f.Placement(ctx, "p", sorted("1h"))
		expectPages(ctx, f, "c104=60 c103=50 c001 … c098", "c099 … c102")
		first := f.ScoresUpdated(ctx, Default, "p")
		recording.PlayUntil(ctx, f.Pages(ctx, Default, "p"))
		recording.Require(f.Names(suite.Shorts(1, 103)...)...)

		By("writing nothing for new scores in between")
		before := f.AwaitIdle(ctx)
		f.Score(ctx, "c104", -10, nil)
		f.Score(ctx, "c102", 90, nil)
		f.Score(ctx, "c002", -20, nil)
		Eventually(func(g Gomega) { g.Expect(f.Activity(g).Evaluations).To(BeNumerically(">=", before.Evaluations+1)) }).
			WithContext(ctx).WithTimeout(suite.Timeout).WithPolling(suite.AuditInterval).Should(Succeed())
		f.ExpectNoWrite(ctx, before.Writes)

		By("giving a newcomer a place with its score, and moving nobody else")
		f.Score(ctx, "c105", 70, nil)
		f.AwaitIdle(ctx) // The hub watches scores and clusters apart from each other: it sees the score first.
		f.Cluster(ctx, "set", "c105")
		expectPages(ctx, f, "c104=60 c103=50 c001 … c098", "c105=70 c099 … c102")
		Expect(f.ScoresUpdated(ctx, Default, "p")).To(Equal(first))

		By("taking somebody out, and moving nobody else")
		f.DeleteCluster(ctx, "c104")
		expectPages(ctx, f, "c103=50 c001 … c098", "c105=70 c099 … c102")
		Expect(f.ScoresUpdated(ctx, Default, "p")).To(Equal(first))
		recording.PlayUntil(ctx, f.Pages(ctx, Default, "p"))
		recording.Require(stays...)

		By("sorting once when it is due")
		writes := len(f.AwaitIdle(ctx).Writes)
		f.EditPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { s.ScoreRateLimit = "1s" })
		expectPages(ctx, f, "c102=90 c105=70 c103=50 c001 c003 … c098", "c099 … c101 c002=-20")

		after := slices.DeleteFunc(f.AwaitIdle(ctx).Writes[writes:], func(write string) bool { return strings.Contains(write, " events/") })
		Expect(after).To(HaveExactElements(
			// Two full pages exchange clusters: one side waits in a page of its own.
			"create placementdecisions/p-decision-3", "patch placementdecisions/p-decision-3/status",
			"patch placementdecisions/p-decision-1/status", "patch placementdecisions/p-decision-2/status",
			"patch placements/p/status", "delete placementdecisions/p-decision-3",
		))
		Expect(f.ScoresUpdated(ctx, Default, "p").Time).To(BeTemporally(">", first.Time))
		recording.PlayUntil(ctx, f.Pages(ctx, Default, "p"))
	})

	DescribeTable("D4, B7: the next update comes by itself when the rate limit allows it, and not before",
		func(ctx SpecContext, limit time.Duration, between func(ctx SpecContext)) {
			f := suite.NewFixture(ctx)
			f.Set(ctx, "set")
			f.Clusters(ctx, "set", 1, 3)
			f.Score(ctx, "c002", 20, nil)
			f.Placement(ctx, "p", sorted(limit.String()))
			expectPages(ctx, f, "c002=20 c001 c003")
			due := f.ScoresUpdated(ctx, Default, "p").Add(limit)
			begin := time.Now()

			f.Score(ctx, "c003", 30, nil)
			between(ctx)
			expectPages(ctx, f, "c003=30 c002=20 c001")
			Eventually(func(g Gomega) { g.Expect(f.ScoresUpdated(ctx, g, "p").Time).To(BeTemporally(">=", due)) }).
				WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())

			f.AwaitIdle(ctx)
			// Whatever was written since stands behind the end of the interval, however slow the machine.
			Expect(pageWritesAfter(f, begin)).To(And(HaveLen(1), HaveEach(BeTemporally(">=", due))))
		},
		Entry("while the hub runs", 2*time.Second, func(SpecContext) {}),
		Entry("after a restart in between", 3*time.Second, func(ctx SpecContext) { suite.PauseHub(ctx)() }),
	)

	It("B7: scores are there with sortBy: Score only, and reasons are empty at every moment", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 3)
		f.Score(ctx, "c003", 30, nil)
		recording := f.RecordPages(ctx)
		f.Placement(ctx, "plain", clusterv1beta1.PlacementSpec{PrioritizerPolicy: suite.Exactly(suite.DemoScore(1))})
		f.ExpectSelected(ctx, "plain", suite.AllScheduled, suite.Shorts(1, 3)...)
		f.Placement(ctx, "p", sorted("1h"))
		expectPages(ctx, f, "c003=30 c001 c002")
		Expect(f.ScoresUpdated(ctx, Default, "plain")).To(BeNil())

		f.EditPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { s.SortBy = clusterv1beta1.PlacementSortByClusterName })
		expectPages(ctx, f, "c001 c002 c003")
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(1, 3)...)
		Expect(f.ScoresUpdated(ctx, Default, "p")).To(BeNil())

		pages := append(f.Pages(ctx, Default, "plain"), f.Pages(ctx, Default, "p")...)
		for _, frame := range recording.PlayUntil(ctx, pages) {
			for _, decision := range frame.Status.Decisions {
				Expect(decision.Reason).To(BeEmpty())
				Expect(decision.Score == 0 || frame.Name == "p-decision-1").To(BeTrue(), "a score in %s", frame.Name)
			}
		}
		for _, page := range pages {
			Expect(rawDecisions(ctx, f, page.Name)).To(HaveEach(And(HaveLen(2), HaveKeyWithValue("reason", ""), HaveKey("clusterName"))))
		}
	})

	It("D4: those who want fewer clusters get the best, in their order", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 4)
		f.Score(ctx, "c002", 20, nil)
		f.Score(ctx, "c004", 40, nil)
		spec := sorted("1h")
		spec.NumberOfClusters = ptr.To[int32](3)
		f.Placement(ctx, "p", spec)
		expectPages(ctx, f, "c004=40 c002=20 c001")
	})
})

// expectPages waits until the pages of the placement "p" read like this, in the order of their numbers: "c001=5" with a score and "c001" with
// none; "c001 … c005" stands for all from the first to the last, without scores.
func expectPages(ctx context.Context, f *suite.Fixture, want ...string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		seen := []string{}
		for _, page := range f.Pages(ctx, g, "p") {
			g.Expect(len(page.Status.Decisions)).To(BeNumerically("<=", suite.PageSize))
			words := []string{}
			for _, decision := range page.Status.Decisions {
				g.Expect(decision.Reason).To(BeEmpty())
				word := f.ShortName(decision.ClusterName)
				if decision.Score != 0 {
					word += fmt.Sprintf("=%d", decision.Score)
				}
				words = append(words, word)
			}

			seen = append(seen, strings.Join(words, " "))
		}

		g.Expect(seen).To(HaveExactElements(spelledOut(want)))
		g.Expect(f.Read(ctx, g, "p").Status.NumberOfSelectedClusters).To(BeEquivalentTo(len(strings.Fields(strings.Join(seen, " ")))))
	}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
}

// spelledOut names every cluster of "c001 … c005".
func spelledOut(pages []string) []string {
	all := []string{}
	for _, page := range pages {
		words := strings.Fields(page)
		spelled := []string{}
		for i, word := range words {
			if word != "…" {
				spelled = append(spelled, word)
				continue
			}
			var first, last int
			_, err := fmt.Sscanf(words[i-1]+words[i+1], "c%03dc%03d", &first, &last)
			Expect(err).NotTo(HaveOccurred())
			spelled = append(spelled, suite.Shorts(first+1, last-1)...)
		}

		all = append(all, strings.Join(spelled, " "))
	}

	return all
}

// pageWritesAfter are the times since then at which the hub has asked to write a page of this fixture.
func pageWritesAfter(f *suite.Fixture, begin time.Time) []time.Time {
	GinkgoHelper()
	events, err := suite.ControlPlane.Writes(localplane.By(suite.HubUser))
	Expect(err).NotTo(HaveOccurred())
	times := []time.Time{}
	for _, event := range events {
		of := event.ObjectRef
		if of.Namespace == f.Namespace && of.Resource == "placementdecisions" && event.RequestReceivedTimestamp.After(begin) {
			times = append(times, event.RequestReceivedTimestamp.Time)
		}
	}
	return times
}

// rawDecisions are the decisions of a page as they stand in JSON.
func rawDecisions(ctx context.Context, f *suite.Fixture, name string) []any {
	GinkgoHelper()
	page := unstructuredPage()
	Expect(suite.Client.Get(ctx, client.ObjectKey{Namespace: f.Namespace, Name: name}, page)).To(Succeed())
	decisions, found, err := unstructured.NestedSlice(page.Object, "status", "decisions")
	Expect(err).NotTo(HaveOccurred())
	Expect(found).To(BeTrue(), "status.decisions of %s is present", name)
	return decisions
}

func unstructuredPage() *unstructured.Unstructured {
	page := &unstructured.Unstructured{}
	page.SetGroupVersionKind(schema.GroupVersion(clusterv1beta1.GroupVersion).WithKind("PlacementDecision"))
	return page
}
