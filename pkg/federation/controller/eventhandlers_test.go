// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/hub/sharedinventory"
)

// enqueued returns the names of the objects that the watches have enqueued since the last call, after they have shown what there is.
func (w *world) enqueued() string {
	w.t.Helper()
	w.show()
	w.mu.Lock()
	defer w.mu.Unlock()
	names := named(w.pending)
	w.pending = nil
	for _, key := range w.state.memories.keys() {
		w.state.Queue.Get(key) // As a reconcile does.
	}
	return names
}

// law 3, law 4: an event enqueues the objects that it concerns, and no others; own writes enqueue nothing.
func TestEventsEnqueue(t *testing.T) {
	outside := selecting("europe")
	outside.Namespace, outside.Name = "team-b", "outside"
	byPlacement := selecting("")
	byPlacement.Name, byPlacement.Annotations = "p", map[string]string{federation.PlacementAnnotation: "p"}

	w := newWorld(t, selecting("europe"), outside, byPlacement, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team-b"}},
		&clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: namespaceName, Name: "p"}})
	same(t, "the initial lists", w.enqueued(), "p x")
	for _, name := range []string{"x", "p"} {
		_, err := w.reconcileOnce(keyOfConfigMap(name))
		w.check(err)
	}
	same(t, "own writes", strings.TrimPrefix(w.enqueued(), "x"), "") // The finalizer is an own write of the object.

	for _, step := range []struct {
		reason string
		do     func()
		want   string
	}{
		{"nothing", func() {}, ""},
		{"a label that is read", func() {
			change(w, member("us1", map[string]string{}), func(c *clusterv1.ManagedCluster) { c.Labels["location"] = "europe" })
		}, "x"},
		{"a label that nobody reads", func() {
			change(w, member("us1", map[string]string{}), func(c *clusterv1.ManagedCluster) { c.Labels["colour"] = "red" })
		}, ""},
		{"a work is edited", func() {
			change(w, w.work("eu1"), func(work *workv1.ManifestWork) { work.Spec.Workload.Manifests = nil })
		}, "x"},
		{"a label of a work that is not the hub's", func() {
			change(w, w.work("eu1"), func(work *workv1.ManifestWork) { work.Labels["colour"] = "red" })
		}, ""},
		{"a work is deleted", func() { w.check(w.store.Delete(t.Context(), w.work("eu2"))) }, "x"},
		{"a work loses its label", func() {
			change(w, w.work("eu1"), func(work *workv1.ManifestWork) { delete(work.Labels, federation.ManagedLabel) })
		}, "x"},
		{"a decision", func() {
			w.check(w.store.Create(t.Context(), &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
				Namespace: namespaceName, Name: "p-decision-1", Labels: map[string]string{clusterv1beta1.PlacementLabel: "p"},
			}}))
		}, "p"},
		{"the Placement goes", func() {
			w.check(w.store.Delete(t.Context(), &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: namespaceName, Name: "p"}}))
		}, "p"},
		{"the namespace is annotated", func() {
			change(w, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespaceName}}, func(n *corev1.Namespace) {
				n.Annotations = map[string]string{federation.SelectorAnnotation: "[]"}
			})
		}, "p x"},
		{"another namespace takes part", func() {
			change(w, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team-b"}}, func(n *corev1.Namespace) {
				n.Labels = map[string]string{federation.FederatedLabel: "true"}
			})
		}, "outside"},
		{"a set is unbound", func() { w.check(w.store.Delete(t.Context(), members())) }, "p x"},
	} {
		step.do()
		same(t, step.reason, w.enqueued(), step.want)
	}
}

// federated-selector 3.1.4: a namespace that takes part no more keeps its works, an Event says so once, and a deletion is carried out.
func TestANamespaceThatOptsOut(t *testing.T) {
	w := newWorld(t, selecting("europe"))
	w.settle()
	w.told()

	change(w, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespaceName}}, func(n *corev1.Namespace) { n.Labels = nil })
	w.settle()
	w.selectLocation("usa")
	w.settle()
	same(t, "clusters", w.clusters(), "eu1 eu2")
	want := "Warning FederationSuspended: ConfigMap/team-a/x stays in its clusters as it is"
	if told := w.told(); len(told) != 1 || !strings.HasPrefix(told[0], want) {
		t.Errorf("got events %q", told)
	}

	w.check(w.store.Delete(t.Context(), selecting("")))
	w.settle()
	same(t, "clusters after the deletion", w.clusters(), "")
}

// A standby reconciles nothing before the initial lists, and enqueues nothing before its election.
func TestAStandby(t *testing.T) {
	w := newWorld(t, selecting("europe"))
	w.state.Synced.Store(false)
	if wait, err := w.reconcileOnce(keyOfConfigMap("x")); err != nil || wait != sharedinventory.NotSyncedDelay {
		t.Errorf("got %v after %v", err, wait)
	}
	same(t, "writes", w.written(), "")
	standby := newState(w.state.Shared, federation.DefaultKinds(), w.time, nil)
	handlers := &eventHandlers{state: standby, cache: w.handlers.cache, objects: w.handlers.objects, live: w.store, recorder: w.recorder}
	handlers.updateObject(t.Context(), keyOfConfigMap("x"), nil, &metav1.PartialObjectMetadata{ObjectMeta: selecting("").ObjectMeta}, true)

	w.enqueued()

	handlers.source().Lead(keys{world: w})

	w.mu.Lock()
	defer w.mu.Unlock()
	same(t, "enqueued at the election", named(w.pending), "x")
}

// A standby forgets an object once it is gone with its works: no reconcile does. One that exists again is enqueued at the election.
func TestAStandbyForgets(t *testing.T) {
	w := newWorld(t, selecting("europe"))
	w.settle()
	standby := newState(w.state.Shared, federation.DefaultKinds(), w.time, nil)
	handlers := &eventHandlers{state: standby, cache: w.handlers.cache, objects: w.handlers.objects, live: w.store, recorder: w.recorder}
	key, works := keyOfConfigMap("x"), []*workv1.ManifestWork{w.work("eu1"), w.work("eu2")}
	known := func() string { return named(standby.memories.keys()) }
	handlers.updateObject(t.Context(), key, nil, &metav1.PartialObjectMetadata{ObjectMeta: selecting("").ObjectMeta}, true)
	for _, work := range works {
		handlers.updateWork(nil, work, true)
	}

	same(t, "known at first", known(), "x")

	change(w, selecting(""), func(c *corev1.ConfigMap) { c.Finalizers = nil })
	w.check(w.store.Delete(t.Context(), selecting("")))
	handlers.deleteObject(t.Context(), key)
	same(t, "known with works", known(), "x")

	w.check(w.store.Delete(t.Context(), works[0]))
	handlers.deleteWork(t.Context(), works[0])
	same(t, "known with a work", known(), "x")

	w.check(w.store.Delete(t.Context(), works[1]))
	handlers.deleteWork(t.Context(), works[1])
	same(t, "known without a work", known(), "")

	w.check(w.store.Create(t.Context(), selecting("europe")))
	handlers.deleteWork(t.Context(), works[1])
	same(t, "known when it exists again", known(), "x")
}

// federated-selector 3.2: an object whose loss waits for a user that is not known looks again by itself, because the user does not enqueue it.
func TestAPendingUser(t *testing.T) {
	w := newWorld(t, selecting("europe"))
	w.settle()
	change(w, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespaceName}}, func(n *corev1.Namespace) {
		n.Annotations = map[string]string{federation.PropagateDependenciesAnnotation: "true"}
	})
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespaceName, Name: "s"}}
	w.check(w.store.Create(t.Context(), service))
	w.selectLocation("usa")
	w.show()

	wait, err := w.reconcileOnce(keyOfConfigMap("x"))
	w.check(err)
	same(t, "clusters", w.clusters(), "eu1 eu2 us1")
	if wait <= 0 || wait > 10*time.Second {
		t.Errorf("the next look is after %v", wait)
	}
	w.settle()
	_, err = w.reconcileOnce(keyOfConfigMap("x"))
	w.check(err)
	same(t, "in the end", w.clusters(), "eu1 eu2 us1 us1") //nolint:dupword // One work of each object.
}
