package integration

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

const (
	cpu    = "ResourceAllocatableCPU"
	memory = "ResourceAllocatableMemory"
	steady = "Steady"
	evenly = "Balance"
)

var _ = Describe("Prioritizers", func() {
	best := func(policy clusterv1beta1.PrioritizerPolicy) clusterv1beta1.PlacementSpec {
		return clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](2), PrioritizerPolicy: policy}
	}
	// trio is a world with three clusters that offer different amounts of resources.
	trio := func(ctx context.Context) *world {
		w := newWorld(ctx)
		w.alone(ctx)
		w.set(ctx, "set")
		w.cluster(ctx, "set", "c001", offering("10", "50"))
		w.cluster(ctx, "set", "c002", offering("7", "90"))
		w.cluster(ctx, "set", "c003", offering("9", "80"))

		return w
	}

	It("21: by default the first by name", func(ctx SpecContext) {
		w := trio(ctx)
		w.placement(ctx, "p", best(clusterv1beta1.PrioritizerPolicy{}))

		w.expectSelected(ctx, "p", allScheduled, "c001", "c002")
	})

	It("22: the richest in CPU and memory", func(ctx SpecContext) {
		w := trio(ctx)
		w.placement(ctx, "p", best(exactly(builtIn(cpu, 1), builtIn(memory, 1))))

		w.expectSelected(ctx, "p", allScheduled, "c001", "c003")
	})

	It("23: Steady keeps the clusters when a better one comes", func(ctx SpecContext) {
		w := trio(ctx)
		w.placement(ctx, "p", best(besides(builtIn(steady, 3), builtIn(cpu, 1), builtIn(memory, 1))))
		w.expectSelected(ctx, "p", allScheduled, "c001", "c003")

		before := w.idle(ctx)

		w.foreignPage(ctx, "other", "c002")
		w.cluster(ctx, "set", "c004", offering("11", "100"))
		Eventually(func(g Gomega) {
			g.Expect(w.activity(g).Evaluations).To(BeNumerically(">", before.Evaluations))
		}).WithContext(ctx).WithTimeout(settle).WithPolling(auditEvery).Should(Succeed())

		Consistently(func(g Gomega) outcome { return w.look(ctx, g, "p") }).WithContext(ctx).WithTimeout(quiet).
			Should(HaveField("Selected", HaveExactElements("c001", "c003")))
	})

	It("24: Balance avoids the clusters that others use", func(ctx SpecContext) {
		w := trio(ctx)
		w.foreignPage(ctx, "other", "c001")
		w.placement(ctx, "p", best(exactly(builtIn(evenly, 2), builtIn(cpu, 1))))

		w.expectSelected(ctx, "p", allScheduled, "c002", "c003")
	})

	It("25: without Steady the best ones follow the resources", func(ctx SpecContext) {
		w := trio(ctx)
		w.placement(ctx, "p", best(exactly(builtIn(cpu, 1), builtIn(memory, 1))))
		w.expectSelected(ctx, "p", allScheduled, "c001", "c003")

		w.cluster(ctx, "set", "c004", offering("11", "100"))
		w.expectSelected(ctx, "p", allScheduled, "c003", "c004")

		w.deleteCluster(ctx, "c004")
		w.expectSelected(ctx, "p", allScheduled, "c001", "c003")
	})

	It("26: by the scores of an add-on", func(ctx SpecContext) {
		w := trio(ctx)
		w.score(ctx, "c001", 80, nil)
		w.score(ctx, "c002", 90, nil)
		w.score(ctx, "c003", 100, nil)
		w.placement(ctx, "p", best(exactly(demoScore(1))))

		w.expectSelected(ctx, "p", allScheduled, "c002", "c003")
	})

	It("27: scores of an add-on appear and change", func(ctx SpecContext) {
		w := trio(ctx)
		w.placement(ctx, "p", best(exactly(demoScore(1))))
		w.expectSelected(ctx, "p", allScheduled, "c001", "c002")

		w.score(ctx, "c001", 80, nil)
		w.score(ctx, "c002", 90, nil)
		w.score(ctx, "c003", 100, nil)
		w.expectSelected(ctx, "p", allScheduled, "c002", "c003")

		w.score(ctx, "c001", 100, nil)
		w.expectSelected(ctx, "p", allScheduled, "c001", "c003")
	})

	It("C3, A3: an expired score counts 0 from its time on, and nothing loops", func(ctx SpecContext) {
		w := trio(ctx)
		expiry := metav1.NewTime(time.Now().Add(12 * time.Second).Truncate(time.Second))
		w.score(ctx, "c002", 90, nil)
		w.score(ctx, "c003", 100, &expiry)
		errors := w.activity(Default).Errors

		w.placement(ctx, "p", best(exactly(demoScore(1))))
		w.expectSelected(ctx, "p", allScheduled, "c002", "c003")

		w.expectSelected(ctx, "p", allScheduled, "c001", "c002")
		Expect(time.Now()).To(BeTemporally(">", expiry.Time))
		w.expectSilence(ctx)
		Expect(w.activity(Default).Errors).To(Equal(errors))
	})

	It("C4: of two entries for one coordinate the last one wins", func(ctx SpecContext) {
		w := trio(ctx)
		w.score(ctx, "c001", 30, nil)
		w.score(ctx, "c002", 20, nil)
		w.score(ctx, "c003", 10, nil)

		w.placement(ctx, "add-on", best(exactly(demoScore(10), demoScore(-1))))
		w.placement(ctx, "built-in", best(exactly(builtIn(cpu, 10), builtIn(cpu, -1))))

		w.expectSelected(ctx, "add-on", allScheduled, "c002", "c003")
		w.expectSelected(ctx, "built-in", allScheduled, "c002", "c003")
	})
})
