// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/env/scrapes"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// Series of the hub.
const (
	lostClusters = `placement_hub_decision_changes_total{change="lost"}`
	postponed    = "placement_hub_postponed_removals{}"
	failedEvents = `placement_hub_events_total{result="failed"}`
	waiting      = `workqueue_depth{controller="placement"`
	// decided counts what has changed decisions within any time, and fast what has within ten seconds, by causes.
	decided = `placement_hub_decision_latency_seconds_bucket{cause="placement",le="+Inf"}`
	fast    = `placement_hub_decision_latency_seconds_bucket{cause="placement",le="10"}`
)

// behind is longer than the time after which PlacementHubBehind speaks of a hub that is behind.
const behind = 11 * time.Second

var _ = Describe("Alerts over scrapes of a hub whose requests fail or take long", func() {
	It("fire while their cause is there", func(ctx SpecContext) {
		proxy := suite.ThroughProxy(ctx, func(o *system.Options) { o.Workers = 1 })
		breaks := func(fault faults.Fault, resource string, verbs ...string) (mend func()) {
			mend = proxy.Break(faults.Rule{Match: faults.Match{Verbs: verbs, Resources: []string{resource}}, Fault: fault})
			DeferCleanup(mend)
			return mend
		}

		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 5)
		f.LabelClusters(ctx, "part", "yes", suite.Shorts(1, 5)...)
		f.Placement(ctx, "part", suite.Matching(suite.ByLabel("part", "yes")))
		f.ExpectSelected(ctx, "part", suite.AllScheduled, suite.Shorts(1, 5)...)
		var healthy, broken, later, mended scrapes.Scrape

		await(ctx, &healthy, func(g Gomega, s scrapes.Scrape) {
			g.Expect(s.Value(postponed)).To(BeZero())
			g.Expect(s.Sum(waiting)).To(BeZero())
		})

		f.LabelClusters(ctx, "part", "no", suite.Shorts(1, 3)...)
		f.ExpectSelected(ctx, "part", suite.AllScheduled, suite.Shorts(4, 5)...)
		mendEvents := breaks(faults.Invalid, "events", "create", "patch")
		f.Placement(ctx, "early", clusterv1beta1.PlacementSpec{})
		await(ctx, &broken, func(g Gomega, s scrapes.Scrape) { // The hub writes none while placements wait.
			g.Expect(s.Value(failedEvents)).To(BeNumerically(">", healthy.Value(failedEvents)))
		})
		mendReads := breaks(faults.Reset, "managedclusters", "get", "list")
		f.LabelClusters(ctx, "part", "no", suite.Shorts(4, 4)...)
		await(ctx, &broken, func(g Gomega, s scrapes.Scrape) { g.Expect(s.Value(postponed)).To(Equal(1.)) })

		mendWrites := breaks(faults.Delay, "placementdecisions", "create")
		f.Placement(ctx, "late", clusterv1beta1.PlacementSpec{})
		Eventually(func() []faults.Request {
			return proxy.Requests(faults.Match{Verbs: []string{"create"}, Resources: []string{"placementdecisions"}})
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(HaveLen(3), "the worker waits for the API server")
		f.Placement(ctx, "next", clusterv1beta1.PlacementSpec{})
		await(ctx, &broken, func(g Gomega, s scrapes.Scrape) {
			g.Expect(s.Value(postponed)).To(Equal(1.))
			g.Expect(s.Sum(waiting)).To(BeNumerically(">", 0))
		})
		Consistently(func() scrapes.Scrape { return gather(Default) }).WithContext(ctx).WithTimeout(behind).WithPolling(time.Second).
			Should(WithTransform(func(s scrapes.Scrape) float64 { return s.Value(decided) }, Equal(broken.Value(decided))))
		mendWrites()

		f.ExpectSelected(ctx, "late", suite.AllScheduled, suite.Shorts(1, 5)...)
		f.ExpectSelected(ctx, "next", suite.AllScheduled, suite.Shorts(1, 5)...)
		await(ctx, &later, func(g Gomega, s scrapes.Scrape) {
			g.Expect(s.Value(decided)).To(Equal(broken.Value(decided) + 2))
			g.Expect(s.Value(fast)).To(Equal(broken.Value(fast)))
			g.Expect(s.Value(failedEvents)).To(BeNumerically(">", broken.Value(failedEvents)))
		})

		mendReads()
		mendEvents()
		f.ExpectSelected(ctx, "part", suite.AllScheduled, suite.Shorts(5, 5)...)
		await(ctx, &mended, func(g Gomega, s scrapes.Scrape) {
			g.Expect(s.Value(postponed)).To(BeZero())
			g.Expect(s.Sum(waiting)).To(BeZero())
		})

		Expect(broken.Value(lostClusters) - healthy.Value(lostClusters)).To(Equal(3.))

		course := scrapes.Course{Healthy: healthy, Broken: broken, Later: later, Mended: mended}
		Expect(course.Evaluate(ctx, GinkgoT().TempDir(), map[string]scrapes.Expected{
			"PlacementsLoseClusters":        {OnChange: true, Firing: []scrapes.Firing{{}}},
			"PlacementRemovalsArePostponed": {Firing: []scrapes.Firing{{Words: []string{"$value", "1"}}}},
			"PlacementEventsAreLost": {Firing: []scrapes.Firing{{
				Labels: map[string]string{"result": "failed"}, Words: []string{"$labels.result", "failed"},
			}}},
			"PlacementHubBehind":         {Firing: []scrapes.Firing{{}}},
			"PlacementQueueDoesNotDrain": {Firing: []scrapes.Firing{{}}},
			"PlacementsMisconfigured":    {},
		})).To(Succeed())
	})
})
