package integration

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/env"
)

var _ = Describe("Decisions sorted by score", Serial, func() {
	sorted := func(limit string) clusterv1beta1.PlacementSpec {
		return clusterv1beta1.PlacementSpec{
			SortBy: clusterv1beta1.PlacementSortByScore, ScoreRateLimit: limit, PrioritizerPolicy: exactly(demoScore(1)),
		}
	}

	It("D4, B7: pages follow the scores, wait for the rate limit in between, and are re-sorted at once when it is due", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.many(ctx, "set", 1, 104, func(int, *clusterv1.ManagedCluster) {})
		w.score(ctx, "c103", 50, nil)
		w.score(ctx, "c104", 60, nil)
		film := w.watchPages(ctx)
		stays := w.names(append(shorts(1, 103), "c105")...)

		w.placement(ctx, "p", sorted("1h"))
		w.expectPages(ctx, "c104=60 c103=50 c001 … c098", "c099 … c102")
		first := w.scoresUpdated(ctx, Default, "p")
		film.until(ctx, w.pages(ctx, Default, "p"))
		film.stays(w.names(shorts(1, 103)...)...)

		By("writing nothing for new scores in between")

		before := w.idle(ctx)

		w.score(ctx, "c104", -10, nil)
		w.score(ctx, "c102", 90, nil)
		w.score(ctx, "c002", -20, nil)
		Eventually(func(g Gomega) { g.Expect(w.activity(g).Evaluations).To(BeNumerically(">=", before.Evaluations+1)) }).
			WithContext(ctx).WithTimeout(settle).WithPolling(auditEvery).Should(Succeed())
		w.expectNoWrite(ctx, before.Writes)

		By("giving a newcomer a place with its score, and moving nobody else")
		w.score(ctx, "c105", 70, nil)
		w.cluster(ctx, "set", "c105")
		w.expectPages(ctx, "c104=60 c103=50 c001 … c098", "c105=70 c099 … c102")
		Expect(w.scoresUpdated(ctx, Default, "p")).To(Equal(first))

		By("taking somebody out, and moving nobody else")
		w.deleteCluster(ctx, "c104")
		w.expectPages(ctx, "c103=50 c001 … c098", "c105=70 c099 … c102")
		Expect(w.scoresUpdated(ctx, Default, "p")).To(Equal(first))
		film.until(ctx, w.pages(ctx, Default, "p"))
		film.stays(stays...)

		By("sorting once when it is due")

		writes := len(w.idle(ctx).Writes)

		w.editPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { s.ScoreRateLimit = "1s" })
		w.expectPages(ctx, "c102=90 c105=70 c103=50 c001 c003 … c098", "c099 … c101 c002=-20")

		after := slices.DeleteFunc(w.idle(ctx).Writes[writes:], func(write string) bool { return strings.HasPrefix(write, "create events/") })
		Expect(after).To(HaveExactElements(
			// Two full pages exchange clusters: one side waits in a page of its own.
			"create placementdecisions/p-decision-3", "patch placementdecisions/p-decision-3/status",
			"patch placementdecisions/p-decision-1/status", "patch placementdecisions/p-decision-2/status",
			"patch placements/p/status", "delete placementdecisions/p-decision-3",
		))
		Expect(w.scoresUpdated(ctx, Default, "p").Time).To(BeTemporally(">", first.Time))
		film.until(ctx, w.pages(ctx, Default, "p"))
	})

	DescribeTable("D4, B7: the next update comes by itself when the rate limit allows it, and not before",
		func(ctx SpecContext, limit time.Duration, between func(ctx SpecContext)) {
			w := newWorld(ctx)
			w.set(ctx, "set")
			w.clusters(ctx, "set", 1, 3)
			w.score(ctx, "c002", 20, nil)
			w.placement(ctx, "p", sorted(limit.String()))
			w.expectPages(ctx, "c002=20 c001 c003")

			due := w.scoresUpdated(ctx, Default, "p").Add(limit)
			begin := time.Now()

			w.score(ctx, "c003", 30, nil)
			between(ctx)
			w.expectPages(ctx, "c003=30 c002=20 c001")
			Eventually(func(g Gomega) { g.Expect(w.scoresUpdated(ctx, g, "p").Time).To(BeTemporally(">=", due)) }).
				WithContext(ctx).WithTimeout(settle).Should(Succeed())

			w.idle(ctx)
			// Whatever was written since stands behind the end of the interval, however slow the machine.
			Expect(w.pageWritesAfter(begin)).To(And(HaveLen(1), HaveEach(BeTemporally(">=", due))))
		},
		Entry("while the hub runs", 2*time.Second, func(SpecContext) {}),
		Entry("after a restart in between", 3*time.Second, func(ctx SpecContext) { pause(ctx)() }),
	)

	It("B7: scores are there with sortBy: Score only, and reasons are empty at every moment", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 3)
		w.score(ctx, "c003", 30, nil)
		film := w.watchPages(ctx)
		w.placement(ctx, "plain", clusterv1beta1.PlacementSpec{PrioritizerPolicy: exactly(demoScore(1))})
		w.expectSelected(ctx, "plain", allScheduled, shorts(1, 3)...)
		w.placement(ctx, "p", sorted("1h"))
		w.expectPages(ctx, "c003=30 c001 c002")
		Expect(w.scoresUpdated(ctx, Default, "plain")).To(BeNil())

		w.editPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { s.SortBy = clusterv1beta1.PlacementSortByClusterName })
		w.expectPages(ctx, "c001 c002 c003")
		w.expectSelected(ctx, "p", allScheduled, shorts(1, 3)...)
		Expect(w.scoresUpdated(ctx, Default, "p")).To(BeNil())

		pages := append(w.pages(ctx, Default, "plain"), w.pages(ctx, Default, "p")...)
		for _, frame := range film.until(ctx, pages) {
			for _, decision := range frame.Status.Decisions {
				Expect(decision.Reason).To(BeEmpty())
				Expect(decision.Score == 0 || frame.Name == "p-decision-1").To(BeTrue(), "a score in %s", frame.Name)
			}
		}

		for _, page := range pages {
			Expect(w.rawDecisions(ctx, page.Name)).To(HaveEach(And(HaveLen(2), HaveKeyWithValue("reason", ""), HaveKey("clusterName"))))
		}
	})

	It("D4: those who want fewer clusters get the best, in their order", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 4)
		w.score(ctx, "c002", 20, nil)
		w.score(ctx, "c004", 40, nil)

		spec := sorted("1h")
		spec.NumberOfClusters = ptr.To[int32](3)
		w.placement(ctx, "p", spec)
		w.expectPages(ctx, "c004=40 c002=20 c001")
	})
})

// expectPages waits until the pages of the placement "p" read like this, in the order of their numbers: "c001=5" with a score and "c001" with
// none; "c001 … c005" stands for all from the first to the last, without scores.
func (w *world) expectPages(ctx context.Context, want ...string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		seen := []string{}

		for _, page := range w.pages(ctx, g, "p") {
			g.Expect(len(page.Status.Decisions)).To(BeNumerically("<=", pageSize))

			words := []string{}

			for _, decision := range page.Status.Decisions {
				g.Expect(decision.Reason).To(BeEmpty())

				word := w.short(decision.ClusterName)
				if decision.Score != 0 {
					word += fmt.Sprintf("=%d", decision.Score)
				}

				words = append(words, word)
			}

			seen = append(seen, strings.Join(words, " "))
		}

		g.Expect(seen).To(HaveExactElements(spelledOut(want)))
		g.Expect(w.read(ctx, g, "p").Status.NumberOfSelectedClusters).To(BeEquivalentTo(len(strings.Fields(strings.Join(seen, " ")))))
	}).WithContext(ctx).WithTimeout(settle).Should(Succeed())
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

			spelled = append(spelled, shorts(first+1, last-1)...)
		}

		all = append(all, strings.Join(spelled, " "))
	}

	return all
}

// pageWritesAfter are the times since then at which the hub has asked to write a page of this world.
func (w *world) pageWritesAfter(begin time.Time) []time.Time {
	GinkgoHelper()

	events, err := controlPlane.Writes(env.By(hubUser))
	Expect(err).NotTo(HaveOccurred())

	times := []time.Time{}

	for _, event := range events {
		of := event.ObjectRef
		if of.Namespace == w.namespace && of.Resource == "placementdecisions" && event.RequestReceivedTimestamp.After(begin) {
			times = append(times, event.RequestReceivedTimestamp.Time)
		}
	}

	return times
}

// scoresUpdated is when the status says that the scores in the decisions were brought up to date.
func (w *world) scoresUpdated(ctx context.Context, g Gomega, name string) *metav1.Time {
	return w.read(ctx, g, name).Status.LastScoreUpdateTime
}

// rawDecisions are the decisions of a page as they stand in JSON.
func (w *world) rawDecisions(ctx context.Context, name string) []any {
	GinkgoHelper()

	page := unstructuredPage()
	Expect(hub.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: name}, page)).To(Succeed())

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
