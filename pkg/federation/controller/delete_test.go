// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/placement-hub/placement-hub/pkg/federation"
)

// finalizers returns the finalizers of the work of a cluster.
func (w *world) finalizers(cluster string) string {
	w.t.Helper()
	return strings.Join(w.work(cluster).Finalizers, " ")
}

// federated-selector F20: the finalizer of the object stays until the agents have removed the copies, or their cluster is no ManagedCluster any
// more. Of the work of such a cluster only the finalizer of the agent is removed.
func TestDeletionWaitsForAgents(t *testing.T) {
	w := newWorld(t, selecting("europe"))
	w.settle()
	w.withAgents()

	change(w, w.work("eu2"), func(work *workv1.ManifestWork) { work.Finalizers = append(work.Finalizers, "example.com/backup") })
	w.check(w.store.Delete(t.Context(), selecting("")))
	w.settle()
	same(t, "clusters", w.clusters(), "eu1- eu2-")

	change(w, w.work("eu1"), func(work *workv1.ManifestWork) { work.Finalizers = nil })
	w.check(w.store.Delete(t.Context(), member("eu2", map[string]string{})))
	w.settle()
	same(t, "clusters", w.clusters(), "eu2-")
	same(t, "finalizers", w.finalizers("eu2"), "example.com/backup")
	wait, err := w.reconcileOnce(keyOfConfigMap("x"))
	w.check(err)
	if wait != deletionRetry {
		t.Errorf("the next look is after %v, want %v", wait, deletionRetry)
	}

	w.check(w.store.Get(t.Context(), client.ObjectKeyFromObject(selecting("")), &corev1.ConfigMap{}))
	change(w, w.work("eu2"), func(work *workv1.ManifestWork) { work.Finalizers = nil })
	w.settle()
	if err := w.store.Get(t.Context(), client.ObjectKeyFromObject(selecting("")), &corev1.ConfigMap{}); !apierrors.IsNotFound(err) {
		t.Errorf("got %v, want that the object is gone", err)
	}
	if w.state.memories.known(keyOfConfigMap("x")) {
		t.Error("the object is remembered")
	}
}

// federated-selector 3.1.5: the deletion of an object whose writes have failed ends by itself, without an event: each reconcile asks for the next
// one, within a minute.
func TestADeletionEndsByItself(t *testing.T) {
	works := schema.GroupResource{Resource: "manifestworks"}
	for _, failure := range []error{
		apierrors.NewForbidden(works, "x", nil), apierrors.NewConflict(works, "x", errors.New("changed")),
		apierrors.NewInternalError(errors.New("etcd")), apierrors.NewTooManyRequests("busy", 1), context.DeadlineExceeded,
	} {
		w := newWorld(t, selecting("europe"))
		w.settle()
		w.fail = func(verb, cluster string) error {
			if verb == "delete" && cluster == namespaceName {
				return nil // That of the user.
			}
			return failure
		}
		w.selectLocation("usa")
		w.show()
		w.expectRetries(failure)
		w.check(w.store.Delete(t.Context(), selecting("")))
		w.show()
		w.expectRetries(failure)

		w.fail = func(string, string) error { return nil }
		w.expectRetries(failure)
		if err := w.store.Get(t.Context(), client.ObjectKeyFromObject(selecting("")), &corev1.ConfigMap{}); !apierrors.IsNotFound(err) {
			t.Errorf("got %v after %v, want that the object is gone", err, failure)
		}
		same(t, "clusters after "+failure.Error(), w.clusters(), "")
	}
}

// expectRetries reconciles the ConfigMap x many times, each of which is to ask for the next one while the object exists.
func (w *world) expectRetries(after error) {
	w.t.Helper()
	for range 40 {
		result, err := w.Reconcile(w.t.Context(), keyOfConfigMap("x"))
		exists := w.store.Get(w.t.Context(), client.ObjectKeyFromObject(selecting("")), &corev1.ConfigMap{}) == nil
		if wait := result.RequeueAfter; exists && err == nil && (wait == 0 || wait > time.Minute) {
			w.t.Fatalf("after %v: the next reconcile is after %v", after, wait)
		}
	}
}

// federated-selector 3.1.5: the namespace of a cluster that is no ManagedCluster any more goes, whatever the state of the object is.
func TestAbandonedWorksOfHeldObjects(t *testing.T) {
	for _, value := range []string{"?", selectorOf("europe")} {
		w := newWorld(t, selecting("europe"))
		w.settle()
		w.withAgents()
		change(w, selecting(""), func(c *corev1.ConfigMap) { c.Annotations[federation.SelectorAnnotation] = value })
		w.settle()
		w.check(w.store.Delete(t.Context(), member("eu2", map[string]string{})))
		w.check(w.store.Delete(t.Context(), w.work("eu2"))) // As the end of the namespace does.
		w.settle()
		same(t, "clusters with "+value, w.clusters(), "eu1")
	}
}

// federated-selector F21, law 6: works of an object that is gone without the finalizer are deleted once the API server says that it is. An
// answer that it does not serve the resource says nothing.
func TestAnObjectThatIsGone(t *testing.T) {
	w := newWorld(t, selecting("europe"))
	w.settle()

	change(w, selecting(""), func(c *corev1.ConfigMap) { c.Finalizers = nil })
	w.check(w.store.Delete(t.Context(), selecting("")))
	w.show()
	unserved := apierrors.NewGenericServerResponse(404, "get", schema.GroupResource{Resource: "configmaps"}, "x", "404 page not found", 0, true)
	if !apierrors.IsNotFound(unserved) {
		t.Fatalf("got %v", unserved)
	}

	w.live = interceptor.NewClient(w.store, interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return unserved
		},
	})
	if _, err := w.Reconcile(t.Context(), keyOfConfigMap("x")); err != nil && !errors.Is(err, unserved) {
		t.Fatal(err)
	}
	same(t, "clusters", w.clusters(), "eu1 eu2")

	w.live = w.store
	_, err := w.reconcileOnce(keyOfConfigMap("x"))
	w.check(err)
	same(t, "clusters", w.clusters(), "")
	if w.state.memories.known(keyOfConfigMap("x")) {
		t.Error("the object is remembered, although no event follows")
	}
}

// federated-selector F42, law 6: works that a tool has restored before their object stay until the object is there, which adopts them.
func TestRestoredWorksOfAnObjectThatIsGone(t *testing.T) {
	w := newWorld(t, selecting("europe"))
	w.settle()
	for _, cluster := range []string{"eu1", "eu2"} {
		change(w, w.work(cluster), func(work *workv1.ManifestWork) {
			work.CreationTimestamp = metav1.NewTime(work.ManagedFields[0].Time.Add(time.Hour))
		})
	}
	change(w, selecting(""), func(c *corev1.ConfigMap) { c.Finalizers = nil })
	w.check(w.store.Delete(t.Context(), selecting("")))
	w.show()
	_, err := w.reconcileOnce(keyOfConfigMap("x"))
	w.check(err)
	same(t, "clusters before the object is restored", w.clusters(), "eu1 eu2")
	w.written()

	w.check(w.store.Create(t.Context(), selecting("europe")))
	w.settle()
	same(t, "writes for the restored object", w.written(), "finalizers x")
	same(t, "clusters of the restored object", w.clusters(), "eu1 eu2")
	w.check(w.store.Delete(t.Context(), selecting("")))
	w.settle()
	same(t, "clusters after the deletion of the object", w.clusters(), "")
}

// federated-selector F22: a work is told to keep the copies, and is deleted when its agent has seen that.
func TestOrphan(t *testing.T) {
	w := newWorld(t, selecting("europe"))
	w.settle()
	w.withAgents()
	w.written()

	change(w, selecting(""), func(c *corev1.ConfigMap) { c.Annotations[federation.OrphanAnnotation] = "true" })
	w.settle()
	w.check(w.store.Delete(t.Context(), selecting("")))
	w.written()
	w.settle()
	same(t, "writes", w.written(), "patch eu1, patch eu2")
	same(t, "policy", string(w.work("eu1").Spec.DeleteOption.PropagationPolicy), "Orphan")

	seen := w.work("eu1")
	seen.Status.Conditions = []metav1.Condition{{
		Type: workv1.WorkApplied, Status: metav1.ConditionTrue, ObservedGeneration: seen.Generation, Reason: "Applied",
		LastTransitionTime: metav1.NewTime(epoch),
	}}
	w.check(w.store.Status().Update(t.Context(), seen))
	w.settle()
	same(t, "writes", w.written(), "delete eu1")
}

// federated-selector 3.1.4: of a work that is not known to be the hub's nothing is written, and it counts for nothing.
func TestForeignWorks(t *testing.T) {
	name := newWorld(t).state.identity(keyOfConfigMap("x")).WorkName()
	foreign := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{
		Namespace: "eu2", Name: name, Labels: map[string]string{federation.ManagedLabel: "true"},
	}}
	w := newWorld(t, selecting("europe"), foreign)
	w.settle()
	same(t, "writes", w.written(), "finalizers x, create eu1")

	if told := w.told(); !slices.ContainsFunc(told, func(event string) bool {
		return strings.HasPrefix(event,
			"Warning DeliveryConflict: ManifestWork "+name+" of clusters eu2 is not the hub's, and the others keep their copies for at most 5m0s")
	}) {
		t.Errorf("got events %q", told)
	}
	change(w, member("us1", map[string]string{}), func(c *clusterv1.ManagedCluster) { c.Labels["location"] = "europe" })
	change(w, member("eu1", map[string]string{}), func(c *clusterv1.ManagedCluster) { c.Labels["location"] = "asia" })
	w.settle()
	same(t, "writes", w.written(), "create us1")

	wait, err := w.reconcileOnce(keyOfConfigMap("x"))
	w.check(err)
	if wait != time.Minute {
		t.Errorf("the next look is after %v", wait)
	}
	change(w, selecting(""), func(c *corev1.ConfigMap) { c.Annotations[federation.SelectorAnnotation] = "?" })
	w.settle()
	if clusters, _ := w.state.links.clusters(keyOfConfigMap("x")); !slices.Equal(clusters, []string{"eu1", "us1"}) {
		t.Errorf("the object counts as delivered to %v", clusters)
	}

	w.check(w.store.Delete(t.Context(), selecting("")))
	w.settle()
	same(t, "clusters", w.clusters(), "eu2")
}
