// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

const (
	evenly = "Balance"
)

var _ = Describe("Prioritizers", func() {
	best := func(policy clusterv1beta1.PrioritizerPolicy) clusterv1beta1.PlacementSpec {
		return clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](2), PrioritizerPolicy: policy}
	}
	// trio is a fixture with three clusters that offer different amounts of resources.
	trio := func(ctx context.Context) *suite.Fixture {
		f := suite.NewFixture(ctx)
		f.AwaitNoOtherDecisions(ctx)
		f.Set(ctx, "set")
		f.Cluster(ctx, "set", "c001", suite.Offering("10", "50"))
		f.Cluster(ctx, "set", "c002", suite.Offering("7", "90"))
		f.Cluster(ctx, "set", "c003", suite.Offering("9", "80"))
		return f
	}

	It("21: by default the first by name", func(ctx SpecContext) {
		f := trio(ctx)
		f.Placement(ctx, "p", best(clusterv1beta1.PrioritizerPolicy{}))
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001", "c002")
	})

	It("22: the richest in CPU and memory", func(ctx SpecContext) {
		f := trio(ctx)
		f.Placement(ctx, "p", best(suite.Exactly(suite.BuiltIn(suite.PrioritizerCPU, 1), suite.BuiltIn(suite.PrioritizerMemory, 1))))
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001", "c003")
	})

	It("23: Steady keeps the clusters when a better one comes", func(ctx SpecContext) {
		f := trio(ctx)
		cpu, memory := suite.BuiltIn(suite.PrioritizerCPU, 1), suite.BuiltIn(suite.PrioritizerMemory, 1)
		f.Placement(ctx, "p", best(suite.Exactly(cpu, memory))) // Steady would keep a cluster whose resources come late.
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001", "c003")
		f.EditPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) {
			s.PrioritizerPolicy = suite.Besides(suite.BuiltIn(suite.PrioritizerSteady, 3), cpu, memory)
		})
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001", "c003")
		before := f.AwaitIdle(ctx)

		f.ForeignDecision(ctx, "other", "c002")
		f.Cluster(ctx, "set", "c004", suite.Offering("11", "100"))
		Eventually(func(g Gomega) {
			g.Expect(f.Activity(g).Evaluations).To(BeNumerically(">", before.Evaluations))
		}).WithContext(ctx).WithTimeout(suite.Timeout).WithPolling(suite.AuditInterval).Should(Succeed())

		Consistently(func(g Gomega) suite.Outcome { return f.Look(ctx, g, "p") }).WithContext(ctx).WithTimeout(suite.QuietPeriod).
			Should(HaveField("Selected", HaveExactElements("c001", "c003")))
	})

	It("24: Balance avoids the clusters that others use", func(ctx SpecContext) {
		f := trio(ctx)
		f.ForeignDecision(ctx, "other", "c001")
		f.AwaitIdle(ctx) // A decision of others enqueues no Placement.
		f.Placement(ctx, "p", best(suite.Exactly(suite.BuiltIn(evenly, 2), suite.BuiltIn(suite.PrioritizerCPU, 1))))
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c002", "c003")
	})

	It("25: without Steady the best ones follow the resources", func(ctx SpecContext) {
		f := trio(ctx)
		f.Placement(ctx, "p", best(suite.Exactly(suite.BuiltIn(suite.PrioritizerCPU, 1), suite.BuiltIn(suite.PrioritizerMemory, 1))))
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001", "c003")
		f.Cluster(ctx, "set", "c004", suite.Offering("11", "100"))
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c003", "c004")
		f.DeleteCluster(ctx, "c004")
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001", "c003")
	})

	It("26: by the scores of an add-on", func(ctx SpecContext) {
		f := trio(ctx)
		f.Score(ctx, "c001", 80, nil)
		f.Score(ctx, "c002", 90, nil)
		f.Score(ctx, "c003", 100, nil)
		f.Placement(ctx, "p", best(suite.Exactly(suite.DemoScore(1))))
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c002", "c003")
	})

	It("27: scores of an add-on appear and change", func(ctx SpecContext) {
		f := trio(ctx)
		f.Placement(ctx, "p", best(suite.Exactly(suite.DemoScore(1))))
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001", "c002")
		f.Score(ctx, "c001", 80, nil)
		f.Score(ctx, "c002", 90, nil)
		f.Score(ctx, "c003", 100, nil)
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c002", "c003")
		f.Score(ctx, "c001", 100, nil)
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001", "c003")
	})

	It("C3, A3: an expired score counts 0 from its time on, and nothing loops", func(ctx SpecContext) {
		f := trio(ctx)
		f.Score(ctx, "c002", 90, nil)
		f.Score(ctx, "c003", 100, nil)
		errors := f.Activity(Default).Errors
		f.Placement(ctx, "p", best(suite.Exactly(suite.DemoScore(1))))
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c002", "c003")

		expiry := inAWhile()
		f.Score(ctx, "c003", 100, &expiry)
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001", "c002")
		Expect(time.Now()).To(BeTemporally(">", expiry.Time))
		f.ExpectSilence(ctx)
		Expect(f.Activity(Default).Errors).To(Equal(errors))
	})

	It("C4: of two entries for one coordinate the last one wins", func(ctx SpecContext) {
		f := trio(ctx)
		f.Score(ctx, "c001", 30, nil)
		f.Score(ctx, "c002", 20, nil)
		f.Score(ctx, "c003", 10, nil)
		f.Placement(ctx, "add-on", best(suite.Exactly(suite.DemoScore(10), suite.DemoScore(-1))))
		f.Placement(ctx, "built-in", best(suite.Exactly(suite.BuiltIn(suite.PrioritizerCPU, 10), suite.BuiltIn(suite.PrioritizerCPU, -1))))
		f.ExpectSelected(ctx, "add-on", suite.AllScheduled, "c002", "c003")
		f.ExpectSelected(ctx, "built-in", suite.AllScheduled, "c002", "c003")
	})
})
