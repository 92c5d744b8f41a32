// SPDX-License-Identifier: Apache-2.0

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

	"github.com/placement-hub/placement-hub/pkg/localplane"
)

// IdlePeriod is the time without a write or an evaluation after which the hub counts as idle, and AuditInterval the time between two looks at
// the audit log.
const (
	IdlePeriod    = 600 * time.Millisecond
	AuditInterval = 300 * time.Millisecond
)

// Activity is the work of the hub up to now.
type Activity struct {
	// Evaluations and Errors count the calls of the placement reconciler, and those of them that ended with an error.
	Evaluations, Errors int
	// Writes are the writing requests of the hub in the fixture's namespace, as "verb resource/name/subresource".
	Writes []string
}

// Activity returns the work of the hub up to now: evaluations of all placements, and writes in the namespace of the fixture.
func (f *Fixture) Activity(g Gomega) Activity {
	return Activity{
		Evaluations: CounterSum(g, "controller_runtime_reconcile_total", map[string]string{"controller": "placement"}),
		Errors:      CounterSum(g, "controller_runtime_reconcile_total", map[string]string{"controller": "placement", "result": "error"}),
		Writes:      f.Writes(g),
	}
}

// CounterSum returns the sum of the counters or gauges of this process that have this name and these labels.
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
				sum += int(metric.GetCounter().GetValue() + metric.GetGauge().GetValue())
			}
		}
	}

	return sum
}

// Writes returns the writing requests of the hub in the namespace of the fixture, events included.
func (f *Fixture) Writes(g Gomega) []string {
	return HubWrites(g, func(namespace string) bool { return namespace == f.Namespace })
}

// HubWrites returns the writing requests of the hub in namespaces that satisfy the condition, as "verb resource/name/subresource".
// Cluster-scoped objects are in the namespace "".
func HubWrites(g Gomega, in func(namespace string) bool) []string {
	events, err := ControlPlane.Writes(localplane.By(HubUser))
	g.Expect(err).NotTo(HaveOccurred())
	writes := []string{}
	for _, event := range events {
		if event.ObjectRef != nil && in(event.ObjectRef.Namespace) {
			writes = append(writes, event.Verb+" "+path.Join(event.ObjectRef.Resource, event.ObjectRef.Name, event.ObjectRef.Subresource))
		}
	}
	return writes
}

// AwaitNoOtherDecisions waits until no PlacementDecision of v1beta1 is left outside the fixture: Balance counts the decisions of all
// placements, and their deletion enqueues placements.
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

// AwaitIdle waits until the hub has done nothing for IdlePeriod, and returns its work up to then.
func (f *Fixture) AwaitIdle(ctx context.Context) Activity {
	GinkgoHelper()
	return AwaitUnchanged(ctx, f.Activity)
}

// AwaitUnchanged waits until the results of look have been equal for IdlePeriod, and returns the last one.
func AwaitUnchanged[T any](ctx context.Context, look func(Gomega) T) T {
	GinkgoHelper()
	var last T
	since := time.Now()
	Eventually(func(g Gomega) {
		if now := look(g); !reflect.DeepEqual(now, last) {
			last, since = now, time.Now()
		}
		g.Expect(time.Since(since)).To(BeNumerically(">", IdlePeriod))
	}).WithContext(ctx).WithTimeout(SettleTimeout).WithPolling(AuditInterval).Should(Succeed())
	return last
}

// ExpectSilence waits until the hub is idle, and demands that it evaluates nothing and writes nothing here for QuietPeriod.
func (f *Fixture) ExpectSilence(ctx context.Context) {
	GinkgoHelper()
	before := f.AwaitIdle(ctx)
	Consistently(func(g Gomega) Activity { return f.Activity(g) }).
		WithContext(ctx).WithTimeout(QuietPeriod).WithPolling(AuditInterval).Should(Equal(before))
}

// ExpectNoWrite demands that the hub writes nothing here for QuietPeriod beyond the writes before, however often it evaluates.
func (f *Fixture) ExpectNoWrite(ctx context.Context, before []string) {
	GinkgoHelper()
	Consistently(func(g Gomega) []string { return f.Writes(g) }).
		WithContext(ctx).WithTimeout(QuietPeriod).WithPolling(AuditInterval).Should(Equal(before))
}

// PlacementEvents returns the events about the placement "p".
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
