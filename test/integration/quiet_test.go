package integration

import (
	"context"
	"path"
	"reflect"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/placement-hub/placement-hub/test/env"
)

// calm is how long nothing may happen before the hub counts as idle, and auditEvery how often the audit log is read.
const (
	calm       = 600 * time.Millisecond
	auditEvery = 300 * time.Millisecond
)

// activity is what the hub has done so far.
type activity struct {
	// Evaluations and Errors count the calls of the placement reconciler, and those of them that ended with an error.
	Evaluations, Errors int
	// Writes are the requests of the hub in the world's namespace, as "verb resource/name/subresource".
	Writes []string
}

func (w *world) activity(g Gomega) activity {
	return activity{
		Evaluations: counted(g, "controller_runtime_reconcile_total", map[string]string{"controller": "placement"}),
		Errors:      counted(g, "controller_runtime_reconcile_total", map[string]string{"controller": "placement", "result": "error"}),
		Writes:      w.writes(g),
	}
}

// counted is the sum of the counters of a name that carry these labels.
func counted(g Gomega, name string, labels map[string]string) int {
	families, err := metrics.Registry.Gather()
	g.Expect(err).NotTo(HaveOccurred())

	sum := 0

	for _, family := range families {
		if family.GetName() != name {
			continue
		}

		for _, metric := range family.GetMetric() {
			found := 0

			for _, label := range metric.GetLabel() {
				if value, asked := labels[label.GetName()]; asked && value == label.GetValue() {
					found++
				}
			}

			if found == len(labels) {
				sum += int(metric.GetCounter().GetValue())
			}
		}
	}

	return sum
}

// writes are the requests of the hub in the namespace of the world, events included.
func (w *world) writes(g Gomega) []string {
	return hubWrites(g, func(namespace string) bool { return namespace == w.namespace })
}

// hubWrites are the requests of the hub that change something in the namespaces asked for; what lives in none is in "".
func hubWrites(g Gomega, in func(namespace string) bool) []string {
	events, err := controlPlane.Writes(env.By(hubUser))
	g.Expect(err).NotTo(HaveOccurred())

	writes := []string{}

	for _, event := range events {
		if event.ObjectRef != nil && in(event.ObjectRef.Namespace) {
			writes = append(writes, event.Verb+" "+path.Join(event.ObjectRef.Resource, event.ObjectRef.Name, event.ObjectRef.Subresource))
		}
	}

	return writes
}

// alone waits until no decision of an earlier world is left: Balance counts them, and their end wakes the hub.
func (w *world) alone(ctx context.Context) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		pages := &clusterv1beta1.PlacementDecisionList{}
		g.Expect(hub.List(ctx, pages)).To(Succeed())

		for _, page := range pages.Items {
			g.Expect(page.Namespace).To(Equal(w.namespace))
		}
	}).WithContext(ctx).WithTimeout(settle).Should(Succeed())
}

// idle waits until the hub has done nothing for a while, and returns what it had done until then.
func (w *world) idle(ctx context.Context) activity {
	GinkgoHelper()

	return unchanging(ctx, w.activity)
}

// unchanging waits until what look sees has been the same for a while.
func unchanging[T any](ctx context.Context, look func(Gomega) T) T {
	GinkgoHelper()

	var last T

	since := time.Now()

	Eventually(func(g Gomega) {
		if now := look(g); !reflect.DeepEqual(now, last) {
			last, since = now, time.Now()
		}

		g.Expect(time.Since(since)).To(BeNumerically(">", calm))
	}).WithContext(ctx).WithTimeout(settle).WithPolling(auditEvery).Should(Succeed())

	return last
}

// expectSilence demands that from now on the hub evaluates nothing and writes nothing here.
func (w *world) expectSilence(ctx context.Context) {
	GinkgoHelper()

	before := w.idle(ctx)
	Consistently(func(g Gomega) activity { return w.activity(g) }).
		WithContext(ctx).WithTimeout(quiet).WithPolling(auditEvery).Should(Equal(before))
}

// expectNoWrite demands that the hub sends no request here, however often it evaluates.
func (w *world) expectNoWrite(ctx context.Context, before []string) {
	GinkgoHelper()
	Consistently(func(g Gomega) []string { return w.writes(g) }).
		WithContext(ctx).WithTimeout(quiet).WithPolling(auditEvery).Should(Equal(before))
}
