package suite

import (
	"context"
	"path"
	"reflect"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	eventsv1 "k8s.io/api/events/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/placement-hub/placement-hub/test/env"
)

// calm is how long nothing may happen before the hub counts as idle, and auditEvery how often the audit log is read.
const (
	IdlePeriod    = 600 * time.Millisecond
	AuditInterval = 300 * time.Millisecond
)

// Activity is what the hub has done so far.
type Activity struct {
	// Evaluations and Errors count the calls of the placement reconciler, and those of them that ended with an error.
	Evaluations, Errors int
	// Writes are the requests of the hub in the fixture's namespace, as "verb resource/name/subresource".
	Writes []string
}

func (f *Fixture) Activity(g Gomega) Activity {
	return Activity{
		Evaluations: CounterSum(g, "controller_runtime_reconcile_total", map[string]string{"controller": "placement"}),
		Errors:      CounterSum(g, "controller_runtime_reconcile_total", map[string]string{"controller": "placement", "result": "error"}),
		Writes:      f.Writes(g),
	}
}

// CounterSum is the sum of the counters of a name that carry these labels.
func CounterSum(g Gomega, name string, labels map[string]string) int {
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

// Writes are the requests of the hub in the namespace of the fixture, events included.
func (f *Fixture) Writes(g Gomega) []string {
	return HubWrites(g, func(namespace string) bool { return namespace == f.Namespace })
}

// HubWrites are the requests of the hub that change something in the namespaces asked for; what lives in none is in "".
func HubWrites(g Gomega, in func(namespace string) bool) []string {
	events, err := ControlPlane.Writes(env.By(HubUser))
	g.Expect(err).NotTo(HaveOccurred())

	writes := []string{}

	for _, event := range events {
		if event.ObjectRef != nil && in(event.ObjectRef.Namespace) {
			writes = append(writes, event.Verb+" "+path.Join(event.ObjectRef.Resource, event.ObjectRef.Name, event.ObjectRef.Subresource))
		}
	}

	return writes
}

// AwaitNoOtherDecisions waits until no decision of an earlier fixture is left: Balance counts them, and their end wakes the hub.
func (f *Fixture) AwaitNoOtherDecisions(ctx context.Context) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		pages := &clusterv1beta1.PlacementDecisionList{}
		g.Expect(Client.List(ctx, pages)).To(Succeed())

		for _, page := range pages.Items {
			g.Expect(page.Namespace).To(Equal(f.Namespace))
		}
	}).WithContext(ctx).WithTimeout(Timeout).Should(Succeed())
}

// AwaitIdle waits until the hub has done nothing for a while, and returns what it had done until then.
func (f *Fixture) AwaitIdle(ctx context.Context) Activity {
	GinkgoHelper()

	return AwaitUnchanged(ctx, f.Activity)
}

// AwaitUnchanged waits until what look sees has been the same for a while.
func AwaitUnchanged[T any](ctx context.Context, look func(Gomega) T) T {
	GinkgoHelper()

	var last T

	since := time.Now()

	Eventually(func(g Gomega) {
		if now := look(g); !reflect.DeepEqual(now, last) {
			last, since = now, time.Now()
		}

		g.Expect(time.Since(since)).To(BeNumerically(">", IdlePeriod))
	}).WithContext(ctx).WithTimeout(Timeout).WithPolling(AuditInterval).Should(Succeed())

	return last
}

// ExpectSilence demands that from now on the hub evaluates nothing and writes nothing here.
func (f *Fixture) ExpectSilence(ctx context.Context) {
	GinkgoHelper()

	before := f.AwaitIdle(ctx)
	Consistently(func(g Gomega) Activity { return f.Activity(g) }).
		WithContext(ctx).WithTimeout(QuietPeriod).WithPolling(AuditInterval).Should(Equal(before))
}

// ExpectNoWrite demands that the hub sends no request here, however often it evaluates.
func (f *Fixture) ExpectNoWrite(ctx context.Context, before []string) {
	GinkgoHelper()
	Consistently(func(g Gomega) []string { return f.Writes(g) }).
		WithContext(ctx).WithTimeout(QuietPeriod).WithPolling(AuditInterval).Should(Equal(before))
}

func (f *Fixture) PlacementEvents(ctx context.Context, g Gomega) []eventsv1.Event {
	list := &eventsv1.EventList{}
	g.Expect(Client.List(ctx, list, client.InNamespace(f.Namespace))).To(Succeed())

	var found []eventsv1.Event

	for _, event := range list.Items {
		if event.Regarding.Name == "p" {
			found = append(found, event)
		}
	}

	return found
}
