// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

// T10: with a removal budget of the hub, works of clusters that have left the scope are held for the hold of the hub, and then withdrawn,
// whatever the annotations of the object say.
func TestLostScopeIsHeldByTheHubAlone(t *testing.T) {
	for name, annotations := range map[string]map[string]string{
		"garbage":      {federation.SelectorAnnotation: "garbage"},
		"no budget":    {removalbudget.PercentAnnotation: "100"},
		"no removal":   {removalbudget.PercentAnnotation: "0"},
		"not released": {removalbudget.ReleaseAnnotation: "1"},
	} {
		w := newWorld(t, selecting("europe"))
		w.delivery.limits = federation.Limits{Percent: 50, ScopeHold: 10 * time.Minute}
		w.settle()
		change(w, selecting(""), func(c *corev1.ConfigMap) {
			maps.Copy(c.Annotations, annotations)
		})
		w.settle()
		w.check(w.store.Delete(t.Context(), members()))
		w.settle()
		w.told()
		w.time.SetTime(w.time.Now().Add(federation.ScopeGrace))

		wait, err := w.reconcileOnce(keyOfConfigMap("x"))
		w.check(err)
		same(t, name+", held", w.clusters(), "eu1 eu2")
		if want := 10*time.Minute - federation.ScopeGrace; wait != want {
			t.Errorf("%s: the next look is after %v, want %v", name, wait, want)
		}
		w.time.SetTime(w.time.Now().Add(wait))
		_, err = w.reconcileOnce(keyOfConfigMap("x"))
		w.check(err)
		same(t, name+", after the hold", w.clusters(), "")
	}
}

// T10: an object whose pod template cannot be read stays in its clusters as it is, and leaves those that leave the scope; its deletion is carried
// out.
func TestAnObjectThatCannotBeReadLosesItsScope(t *testing.T) {
	w := newWorld(t, selecting("europe"))
	w.settle()
	w.told()
	w.live = interceptor.NewClient(w.store, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if read, untyped := object.(*unstructured.Unstructured); untyped {
				defer func() {
					w.check(unstructured.SetNestedField(read.Object, "no list", "spec", "template", "spec", "containers"))
				}()
			}
			return c.Get(ctx, key, object, options...)
		},
	})

	change(w, selecting(""), func(c *corev1.ConfigMap) { c.Data["a"] = "c" })
	w.settle()
	same(t, "in scope", w.clusters(), "eu1 eu2")
	if told := w.told(); len(told) != 1 || !strings.HasPrefix(told[0],
		"Warning DeliveryFailed: ConfigMap/team-a/x stays in its clusters as it is: spec.template.spec is no pod template: ") {
		t.Errorf("got events %q", told)
	}

	w.check(w.store.Delete(t.Context(), members()))
	w.settle()
	w.time.SetTime(w.time.Now().Add(federation.ScopeGrace))
	_, err := w.reconcileOnce(keyOfConfigMap("x"))
	w.check(err)
	same(t, "out of scope", w.clusters(), "")

	w.check(w.store.Delete(t.Context(), selecting("")))
	w.settle()
	if err := w.store.Get(t.Context(), client.ObjectKeyFromObject(selecting("")), &corev1.ConfigMap{}); !apierrors.IsNotFound(err) {
		t.Errorf("got %v, want that the object is gone", err)
	}
}

// T10, law 6: a broken set is no lost scope; a ManagedCluster that does not exist any more is.
func TestABrokenSetIsNoLostScope(t *testing.T) {
	w := newWorld(t, selecting("europe"))
	w.settle()
	w.breakSet()
	w.settle()
	w.time.SetTime(w.time.Now().Add(time.Hour))
	_, err := w.reconcileOnce(keyOfConfigMap("x"))
	w.check(err)
	same(t, "clusters", w.clusters(), "eu1 eu2")

	w.check(w.store.Delete(t.Context(), member("eu1", map[string]string{})))
	w.settle()
	_, err = w.reconcileOnce(keyOfConfigMap("x"))
	w.check(err)
	w.time.SetTime(w.time.Now().Add(federation.ScopeGrace))
	_, err = w.reconcileOnce(keyOfConfigMap("x"))
	w.check(err)
	same(t, "clusters without eu1", w.clusters(), "eu2")
}

// federated-selector 3.1.4: a new selector that matches no cluster withdraws nothing, also without a removal budget, until the annotation
// releases it; the value for objects of the control plane alone does.
func TestASelectorThatMatchesNoClusterIsHeld(t *testing.T) {
	w := newWorld(t, selecting("europe"))
	w.settle()
	w.told()
	w.selectLocation("eurpoe")
	w.settle()
	same(t, "held", w.clusters(), "eu1 eu2")
	told := w.told()
	if len(told) != 1 || !strings.Contains(told[0], "matches no cluster in scope") {
		t.Fatalf("got events %q", told)
	}

	_, token, _ := strings.Cut(told[0], removalbudget.ReleaseAnnotation+"=")
	change(w, selecting(""), func(c *corev1.ConfigMap) { c.Annotations[removalbudget.ReleaseAnnotation] = token })
	w.settle()
	same(t, "released", w.clusters(), "")

	w.selectLocation("europe")
	w.settle()
	change(w, selecting(""), func(c *corev1.ConfigMap) {
		c.Annotations[federation.SelectorAnnotation] = federation.ControlPlaneOnly
		delete(c.Annotations, removalbudget.ReleaseAnnotation)
	})
	w.settle()
	same(t, "on the control plane alone", w.clusters(), "")
}

// breakSet gives the set of the members an invalid selector.
func (w *world) breakSet() {
	w.t.Helper()
	change(w, &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "members"}}, func(set *clusterv1beta2.ManagedClusterSet) {
		set.Spec.ClusterSelector.SelectorType = clusterv1beta2.LabelSelector
		set.Spec.ClusterSelector.LabelSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"not a label": "?"}}
	})
}

// docs/spec/differences.md B17: an object whose only set is unbound and bound again within the hold of the hub stays on its cluster, also while
// another cluster cannot get the object. It leaves when that one gets it.
func TestB17TheOnlyClusterOfAnObject(t *testing.T) {
	w := newWorld(t, selecting("usa"))
	w.delivery.limits = federation.LimitsOf(removalbudget.Limit{Percent: new(50)})
	w.settle()
	w.told()
	uid := w.work("us1").UID
	w.check(w.store.Delete(t.Context(), members()))
	for range 3 {
		w.settle()
		w.time.SetTime(w.time.Now().Add(federation.ScopeGrace))
		wait, err := w.reconcileOnce(keyOfConfigMap("x"))
		w.check(err)
		if end := epoch.Add(removalbudget.DefaultLostScopeHold); !w.time.Now().Add(wait).Equal(end) {
			t.Errorf("the next look is at %v, want %v", w.time.Now().Add(wait), end)
		}
	}
	if told := w.told(); len(told) != 1 || !strings.HasPrefix(told[0], "Warning RemovalHeld: clusters us1 have left the scope") ||
		!strings.Contains(told[0], "holds the works of the last clusters for 10m0s at most") {
		t.Errorf("got events %q", told)
	}
	w.check(w.store.Create(t.Context(), members()))
	w.settle()
	same(t, "bound again", w.clusters(), "us1")
	if w.work("us1").UID != uid {
		t.Error("the work was made again")
	}

	w.check(w.store.Delete(t.Context(), members()))
	w.settle()
	w.fail = func(verb, cluster string) error {
		if verb == "create" && cluster == "us2" {
			return apierrors.NewNotFound(corev1.Resource("namespaces"), cluster)
		}
		return nil
	}
	other := members()
	other.Name, other.Spec.ClusterSet = "others", "others"
	replacing := member("us2", map[string]string{"location": "usa"})
	replacing.Labels[clusterv1beta2.ClusterSetLabel] = "others"
	for _, object := range []client.Object{&clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "others"}}, other, replacing} {
		w.check(w.store.Create(t.Context(), object))
	}
	w.settle()
	w.time.SetTime(w.time.Now().Add(federation.ScopeGrace))
	_, err := w.reconcileOnce(keyOfConfigMap("x"))
	w.check(err)
	same(t, "while the other cluster has no namespace", w.clusters(), "us1")
	w.fail = func(string, string) error { return nil }
	w.written()
	_, err = w.reconcileOnce(keyOfConfigMap("x"))
	w.check(err)
	same(t, "writes for the other cluster", w.written(), "create us2, delete us1")
}
