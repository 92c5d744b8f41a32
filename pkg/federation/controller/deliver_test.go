// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
)

// selectLocation changes the selector of the ConfigMap x.
func (w *world) selectLocation(location string) {
	w.t.Helper()
	change(w, selecting(""), func(c *corev1.ConfigMap) { c.Annotations[federation.SelectorAnnotation] = selectorOf(location) })
}

// withAgents adds the finalizer of the agents to the works that exist.
func (w *world) withAgents() {
	w.t.Helper()
	for cluster := range strings.FieldsSeq(w.clusters()) {
		change(w, w.work(cluster), func(work *workv1.ManifestWork) { work.Finalizers = []string{workv1.ManifestWorkFinalizer} })
	}
	w.settle()
}

// federated-selector F15, law 5: the finalizer comes first, then the gains, and then the losses. The object has annotations that the hub does
// not read, as kubectl apply leaves them.
func TestGainBeforeLoss(t *testing.T) {
	w := newWorld(t, selecting("europe"))
	w.settle()
	same(t, "first", w.written(), "finalizers x, create eu1, create eu2")
	w.selectLocation("usa")
	w.settle()
	same(t, "then", w.written(), "create us1, delete eu1, delete eu2")
	same(t, "events", strings.Join(w.told(), "; "), "Normal Delivered: Written for clusters "+
		"eu1 (matches location in (europe)), eu2 (matches location in (europe)); "+
		"Normal Delivered: Written for clusters us1 (matches location in (usa)); Normal Withdrawn: Withdrawn from clusters "+
		"eu1 (predicate 1 label location In [usa]: is europe), eu2 (predicate 1 label location In [usa]: is europe)")
}

// federated-selector F15, law 5: a cluster that loses the object and one that gains it can be shown one after the other, as when a watch is
// opened again. What is shown while a withdrawal is proved counts before it. A hub that is shown something all the time withdraws all the same.
func TestNewerEventsCountBeforeALoss(t *testing.T) {
	move := func(w *world, cluster, location string) {
		change(w, member(cluster, map[string]string{}), func(c *clusterv1.ManagedCluster) { c.Labels["location"] = location })
	}

	w := newWorld(t, selecting("europe"))
	w.settle()
	w.written()

	move(w, "eu1", "usa")
	w.show()
	move(w, "us1", "europe")
	w.proving = sync.OnceFunc(w.show)

	_, err := w.reconcileOnceShowing(keyOfConfigMap("x"), false)
	w.check(err)
	same(t, "writes", w.written(), "create us1, delete eu1")
	w.settle()

	move(w, "eu2", "usa")
	w.show()
	var mu sync.Mutex
	w.proving = func() {
		mu.Lock()
		defer mu.Unlock()
		w.state.enqueue(queue.PriorityUser, keyOfConfigMap("x"))
	}

	_, err = w.reconcileOnceShowing(keyOfConfigMap("x"), false)
	w.check(err)
	same(t, "writes under load", w.written(), "delete eu2")
}

// federated-selector 3.1.4, law 6: while a write of a cluster that gains the object fails, no cluster loses it. An error of a kind that is
// retried quietly hides no other error.
func TestNoLossAfterAnError(t *testing.T) {
	w := newWorld(t, selecting("europe"))
	w.settle()
	w.written()
	w.selectLocation("usa")
	w.show()
	resource := schema.GroupResource{Resource: "manifestworks"}
	for _, refused := range []error{
		apierrors.NewForbidden(resource, "x", nil), apierrors.NewTooManyRequests("busy", 1), apierrors.NewInternalError(errors.New("etcd")),
	} {
		w.fail = func(_, cluster string) error {
			if cluster == "us1" {
				return refused
			}
			return nil
		}
		if _, err := w.reconcileOnce(keyOfConfigMap("x")); !errors.Is(err, refused) {
			t.Errorf("got %v, want %v", err, refused)
		}
		same(t, "after "+refused.Error(), w.written(), "")
	}

	same(t, "clusters", w.clusters(), "eu1 eu2")

	w.time.SetTime(w.time.Now().Add(federation.GainWait))
	if _, err := w.reconcileOnce(keyOfConfigMap("x")); err == nil {
		t.Error("got no error of the write")
	}
	same(t, "T9: clusters after the wait", w.clusters(), "")
	conflict := apierrors.NewConflict(resource, "x", errors.New("changed"))
	many := []error{conflict, errors.New("d"), errors.New("c"), errors.New("b"), errors.New("a")}
	same(t, "many errors", gathered(many).Error(), "a\nb\nc\nand 1 more errors")

	if got := gathered([]error{conflict}); !apierrors.IsConflict(got) || gathered(nil) != nil {
		t.Errorf("got %v", got)
	}
}

// T9, federated-selector 3.1.4: a cluster whose namespace does not exist yet, such as one that was not accepted, is no error, and no other
// cluster waits for it. The retries become rare, and an Event tells of it once when it lasts.
func TestAClusterWithoutNamespace(t *testing.T) {
	for _, missing := range []error{
		apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "us1"),
		&apierrors.StatusError{ErrStatus: metav1.Status{
			Reason:  metav1.StatusReasonForbidden,
			Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}},
		}},
	} {
		w := newWorld(t, selecting("europe"))
		w.settle()
		w.selectLocation("usa")
		w.show()
		w.written()
		w.told()

		w.fail = func(_, cluster string) error {
			if cluster == "us1" {
				return missing
			}
			return nil
		}
		var waits []time.Duration

		for range 8 {
			wait, err := w.reconcileOnce(keyOfConfigMap("x"))
			w.check(err)
			waits = append(waits, wait)
		}
		if !slices.IsSorted(waits) || waits[0] != firstMissed || waits[7] != conflictRetry {
			t.Errorf("got retries after %v", waits)
		}
		same(t, "writes", w.written(), "delete eu1, delete eu2")

		if told := w.told(); len(told) != 2 || !strings.Contains(told[1], "clusters us1 have no namespace on the hub") {
			t.Errorf("got events %q", told)
		}
		w.fail = func(string, string) error { return nil }

		_, err := w.reconcileOnce(keyOfConfigMap("x"))
		w.check(err)
		same(t, "clusters", w.clusters(), "us1")
	}
}

// federated-selector 3.1.4, law 6: nothing is withdrawn on a view that lacks the latest change.
func TestNoLossOnAnOldView(t *testing.T) {
	w := newWorld(t, selecting("europe"))
	w.settle()
	w.written()

	change(w, member("eu2", map[string]string{}), func(c *clusterv1.ManagedCluster) { c.Labels["location"] = "usa" })
	w.show()
	change(w, member("eu2", map[string]string{}), func(c *clusterv1.ManagedCluster) { c.Labels["location"] = "europe" })
	if wait, err := w.reconcileOnceShowing(keyOfConfigMap("x"), false); err != nil || wait == 0 {
		t.Errorf("got %v after %v, want a later retry", err, wait)
	}
	same(t, "writes", w.written(), "")

	w.settle()
	same(t, "clusters", w.clusters(), "eu1 eu2")
}

// federated-selector 3.1.4: a work that was deleted and waits for its agent is neither withdrawn nor counted again before the watch shows it.
func TestALossIsCountedOnce(t *testing.T) {
	w := newWorld(t, selecting("europe"))
	w.settle()
	w.withAgents()
	w.delivery.limits.Percent = 50
	w.written()
	w.told()

	change(w, member("eu2", map[string]string{}), func(c *clusterv1.ManagedCluster) { c.Labels["location"] = "usa" })
	w.show()
	for range 2 { // The second time the watch has not shown the deletion.
		_, err := w.reconcileOnceShowing(keyOfConfigMap("x"), false)
		w.check(err)
	}
	same(t, "writes", w.written(), "delete eu2")
	same(t, "events", strings.Join(w.told(), "; "), "Normal Withdrawn: Withdrawn from clusters eu2 "+
		"(predicate 1 label location In [europe]: is usa)")

	w.settle()
	same(t, "clusters", w.clusters(), "eu1 eu2-")
}

// docs/spec/differences.md B19: a cluster that has the object again is not lost, and one that has just got it is neither in the base nor lost.
func TestB19TheBudgetCountsOnePopulation(t *testing.T) {
	w := newWorld(t, selecting("europe"))
	w.delivery.limits.Percent = 50
	w.settle()
	move := func(name, location string) {
		change(w, member(name, map[string]string{}), func(c *clusterv1.ManagedCluster) { c.Labels["location"] = location })
		w.settle()
	}
	for _, location := range []string{"usa", "europe", "usa", "europe"} {
		move("eu1", location)
		w.time.SetTime(w.time.Now().Add(time.Minute))
	}
	move("us1", "europe")
	same(t, "clusters", w.clusters(), "eu1 eu2 us1")

	w.told()
	move("us1", "usa")
	move("eu1", "usa")
	same(t, "clusters", w.clusters(), "eu2")
	move("eu2", "usa")
	if told := strings.Join(w.told(), "; "); !strings.Contains(told, "Warning RemovalHeld: 2 of 2 clusters would lose") {
		t.Error(told)
	}
}

// federated-selector F40: the budget applies again as soon as the change of the user has been carried out, also if no agent had seen the works.
func TestTheBudgetAppliesAfterAChangeOfTheUser(t *testing.T) {
	w := newWorld(t, selecting("europe"))
	w.delivery.limits.Percent = 0
	w.settle()
	w.selectLocation("usa")
	w.settle()
	same(t, "clusters", w.clusters(), "us1")

	change(w, member("us1", map[string]string{}), func(c *clusterv1.ManagedCluster) { c.Labels["location"] = "asia" })
	w.told()
	w.settle()
	same(t, "clusters", w.clusters(), "us1")
	if told := w.told(); len(told) != 1 || !strings.HasPrefix(told[0], "Warning RemovalHeld: 1 of 1 clusters would lose") {
		t.Errorf("got events %q", told)
	}

	// An error elsewhere does not make the Event new.
	w.fail = func(string, string) error { return errors.New("down") }
	change(w, selecting(""), func(c *corev1.ConfigMap) { c.Annotations[federation.SelectorAnnotation] = "[]" })
	w.show()
	if _, err := w.reconcileOnce(keyOfConfigMap("x")); err == nil {
		t.Error("got no error of the write")
	}
	w.fail = func(string, string) error { return nil }
	w.selectLocation("usa")
	w.settle()

	if told := w.told(); slices.ContainsFunc(told, func(event string) bool { return strings.Contains(event, "RemovalHeld") }) {
		t.Errorf("got events %q", told)
	}
}

// federated-selector F34: a set that is unbound and bound again within the grace period moves nothing, and the next time the period begins anew.
func TestTheGracePeriodBeginsAnew(t *testing.T) {
	w := newWorld(t, selecting("europe"))
	w.settle()
	w.written()
	for range 2 {
		w.check(w.store.Delete(t.Context(), members()))
		w.settle()
		w.time.SetTime(w.time.Now().Add(6 * time.Second))
		wait, err := w.reconcileOnce(keyOfConfigMap("x"))
		w.check(err)
		if wait != 4*time.Second {
			t.Errorf("the next look is after %v, want 4s", wait)
		}

		// Meanwhile the object has a mistake.
		change(w, selecting(""), func(c *corev1.ConfigMap) { c.Annotations[federation.SelectorAnnotation] = "?" })
		w.settle()
		w.check(w.store.Create(t.Context(), members()))
		w.settle()
		w.time.SetTime(w.time.Now().Add(6 * time.Second))
		w.check(w.store.Delete(t.Context(), members()))
		w.settle()
		w.selectLocation("europe")
		w.settle()
		w.check(w.store.Create(t.Context(), members()))
		w.settle()
	}

	same(t, "clusters", w.clusters(), "eu1 eu2")

	w.check(w.store.Delete(t.Context(), members()))
	w.settle()
	w.time.SetTime(w.time.Now().Add(federation.ScopeGrace))
	_, err := w.reconcileOnce(keyOfConfigMap("x"))
	w.check(err)
	same(t, "in the end", w.clusters(), "")
}
