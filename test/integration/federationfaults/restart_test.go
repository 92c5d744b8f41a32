// SPDX-License-Identifier: Apache-2.0

package federationfaults

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/hub/problems"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("A restart", Ordered, func() {
	It("federated-selector F36: writes nothing over 25 objects in 8 clusters; the benchmark restarts over 50,000 works", func(ctx SpecContext) {
		const objects, clusters = 25, 8
		var renewed time.Time
		start := func() func() {
			return suite.StartHub(suite.HubConfig(ctx, suite.ControlPlane), delivering, after(&renewed))
		}
		install()
		suite.StopHub()
		suite.StopHub = start()

		DeferCleanup(func(ctx SpecContext) {
			suite.StopHub()
			suite.StopHub = suite.StartHub(suite.HubConfig(ctx, suite.ControlPlane))
		})
		w := newWorld(ctx)
		w.members(ctx, "set", 1, clusters, always("aboard"))
		w.record(ctx)

		// Works of earlier specs may be there still, and go meanwhile.
		delivered := func() (count int) {
			for key := range w.history.Mark().Keys() {
				if strings.Contains(key.Object, "/"+w.Namespace+"/") {
					count++
				}
			}
			return count
		}

		Expect(suite.Each(ctx, objects, func(ctx context.Context, i int) error {
			cm := &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: fmt.Sprintf("cm-%04d", i)},
				Data:       map[string]string{"number": strconv.Itoa(i)},
			}
			return suite.Client.Create(ctx, cm)
		})).To(Succeed())

		Eventually(delivered).
			WithContext(ctx).WithTimeout(suite.SettleTimeout).WithPolling(time.Second).Should(Equal(objects * clusters))
		troubled := w.troubled(ctx, "troubled")
		Eventually(func(g Gomega) []string { return w.invalid(ctx, g, troubled.Name) }).
			WithContext(ctx).WithTimeout(suite.SettleTimeout).Should(HaveLen(1))

		// The Events of the delivery are sent when there is nothing else to do, which can be after the works have been the same for a while.
		writes := func(g Gomega) []string {
			ofThisSpec := func(namespace string) bool {
				return namespace == w.Namespace || strings.HasPrefix(namespace, w.Namespace+"-")
			}
			return slices.DeleteFunc(suite.HubWrites(g, ofThisSpec), func(write string) bool {
				return strings.Contains(write, " events") // With a name or without.
			})
		}
		written := suite.AwaitUnchanged(ctx, writes)
		evaluations := suite.CounterSum(Default, "controller_runtime_reconcile_total", map[string]string{"controller": objectsController})

		suite.StopHub()
		renewed = laterThan(ctx, troubled)
		suite.StopHub = start()
		Eventually(func(g Gomega) {
			now := suite.CounterSum(g, "controller_runtime_reconcile_total", map[string]string{"controller": objectsController})
			g.Expect(now-evaluations).To(BeNumerically(">=", objects+1), "every object was evaluated again")
		}).WithContext(ctx).WithTimeout(suite.SettleTimeout).Should(Succeed())
		Expect(suite.AwaitUnchanged(ctx, writes)[len(written):]).To(BeEmpty(), "writes after the restart")
		Expect(w.invalid(ctx, Default, troubled.Name)).To(HaveLen(1), "the Event of before")
	})

	It("T16: repeats no Event over 1,000 objects with a problem, although the former ones have expired", func(ctx SpecContext) {
		const objects = 1000
		var renewed time.Time
		start := func() func() {
			return suite.StartHub(suite.HubConfig(ctx, suite.ControlPlane), delivering, after(&renewed))
		}
		install()
		suite.StopHub()
		suite.StopHub = start()

		DeferCleanup(func(ctx SpecContext) {
			suite.StopHub()
			suite.StopHub = suite.StartHub(suite.HubConfig(ctx, suite.ControlPlane))
		})
		w := newWorld(ctx)
		w.members(ctx, "set", 1, 2, always("aboard"))
		Expect(suite.Each(ctx, objects, func(ctx context.Context, i int) error {
			return suite.Client.Create(ctx, w.withoutSelector(fmt.Sprintf("cm-%04d", i)))
		})).To(Succeed())

		all := func(g Gomega) []string { return w.invalid(ctx, g, "") }
		Eventually(all).WithContext(ctx).WithTimeout(suite.SettleTimeout).WithPolling(time.Second).Should(HaveLen(objects))
		last := w.troubled(ctx, "last")
		Eventually(all).WithContext(ctx).WithTimeout(suite.SettleTimeout).WithPolling(time.Second).Should(HaveLen(objects + 1))

		suite.StopHub()

		Expect(suite.Client.DeleteAllOf(ctx, &eventsv1.Event{}, client.InNamespace(w.Namespace))).To(Succeed())
		renewed = laterThan(ctx, last)
		written := w.Writes(Default)
		evaluations := suite.CounterSum(Default, "controller_runtime_reconcile_total", map[string]string{"controller": objectsController})
		suite.StopHub = start()
		Eventually(func(g Gomega) {
			now := suite.CounterSum(g, "controller_runtime_reconcile_total", map[string]string{"controller": objectsController})
			g.Expect(now-evaluations).To(BeNumerically(">", objects), "every object was evaluated again")
		}).WithContext(ctx).WithTimeout(suite.SettleTimeout).Should(Succeed())
		Expect(suite.AwaitUnchanged(ctx, w.Writes)[len(written):]).To(BeEmpty(), "writes and Events after the restart")

		By("and a change of one of them has its Event")
		suite.Edit(ctx, last, func(c *corev1.ConfigMap) { c.Annotations[federation.SelectorAnnotation] = "null" })
		Eventually(all).WithContext(ctx).WithTimeout(suite.SettleTimeout).Should(ConsistOf("last"))
	})
})

// after is a setting for StartHub: the former leader has renewed its lease last at a time that is known when the hub starts.
func after(renewed *time.Time) func(*system.Options) {
	return func(o *system.Options) {
		former := *renewed
		o.FormerRenewal = func() time.Time { return former }
	}
}

// laterThan waits until the second after the last change of an object, and returns the time.
func laterThan(ctx context.Context, object client.Object) time.Time {
	GinkgoHelper()
	Eventually(time.Now).WithContext(ctx).WithTimeout(suite.Timeout).
		Should(BeTemporally(">", problems.LastChange(object).Add(time.Second)))
	return time.Now()
}

// withoutSelector returns a ConfigMap whose selector cannot be parsed.
func (w *world) withoutSelector(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: w.Namespace, Name: name, Annotations: map[string]string{federation.SelectorAnnotation: "garbage"},
	}}
}

// troubled creates a ConfigMap whose selector cannot be parsed.
func (w *world) troubled(ctx context.Context, name string) *corev1.ConfigMap {
	GinkgoHelper()
	object := w.withoutSelector(name)
	Expect(suite.Client.Create(ctx, object)).To(Succeed())
	return object
}

// invalid returns the names of the objects with an Event about their selector, once for each Event; of one object if a name is given.
func (w *world) invalid(ctx context.Context, g Gomega, name string) []string {
	list := &eventsv1.EventList{}
	g.Expect(suite.Client.List(ctx, list, client.InNamespace(w.Namespace))).To(Succeed())
	names := []string{}
	for i := range list.Items {
		event := &list.Items[i]
		if event.Reason == federation.ReasonClusterSelectorInvalid && (name == "" || event.Regarding.Name == name) {
			names = append(names, event.Regarding.Name)
		}
	}
	return names
}
