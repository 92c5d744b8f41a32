// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/pkg/clusterprofiles"
)

var errUnread = errors.New("the API server does not answer")

// leave takes the cluster c1 out of the set.
func leave(w *world) {
	change(w, cluster("c1"), func(c *clusterv1.ManagedCluster) { c.Labels = nil })
}

func selectBy(selector *metav1.LabelSelector) func(*clusterv1beta2.ManagedClusterSet) {
	return func(s *clusterv1beta2.ManagedClusterSet) {
		s.Spec.ClusterSelector = clusterv1beta2.ManagedClusterSelector{SelectorType: clusterv1beta2.LabelSelector, LabelSelector: selector}
	}
}

// A namespace that the cache does not have yet is looked for again while it has bindings.
func TestANamespaceIsLookedForWhileItHasBindings(t *testing.T) {
	w := newWorld(t)
	w.check(w.store.Delete(t.Context(), namespace()))
	again, err := w.keep(t.Context(), key)
	if err != nil || again != namespaceDelay {
		t.Errorf("with a binding: again after %s, %v", again, err)
	}
	w.check(w.store.DeleteAllOf(t.Context(), &clusterv1beta2.ManagedClusterSetBinding{}, client.InNamespace(key.Namespace)))
	if again, err := w.keep(t.Context(), key); err != nil || again != 0 {
		t.Errorf("without a binding: again after %s, %v", again, err)
	}
}

// CP2, CP8: what takes a ClusterProfile away, and what does not.
func TestLeaving(t *testing.T) {
	set := func() *clusterv1beta2.ManagedClusterSet {
		return &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "s"}}
	}
	binding := func() *clusterv1beta2.ManagedClusterSetBinding {
		return &clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "s"}}
	}
	profile := func() *clusterinventory.ClusterProfile {
		return &clusterinventory.ClusterProfile{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	}
	for name, c := range map[string]struct {
		prepare func(*world)
		gone    bool
		err     error
	}{
		"the binding is deleted":         {prepare: func(w *world) { w.check(w.store.Delete(t.Context(), binding())) }, gone: true},
		"the set is deleted":             {prepare: func(w *world) { w.check(w.store.Delete(t.Context(), set())) }, gone: true},
		"the cluster leaves the set":     {prepare: leave, gone: true},
		"the cluster is deleted":         {prepare: func(w *world) { w.check(w.store.Delete(t.Context(), cluster("c1"))) }, gone: true},
		"the binding has the label":      {prepare: func(w *world) { change(w, binding(), optOut) }, gone: true},
		"the cluster is in the set":      {prepare: func(*world) {}},
		"the selector of the set is bad": {prepare: func(w *world) { change(w, set(), selectBy(broken)) }},
		"the set has no cluster":         {prepare: func(w *world) { change(w, set(), selectBy(nowhere)) }},
		"the namespace does not exist":   {prepare: func(w *world) { leave(w); w.check(w.store.Delete(t.Context(), namespace())) }},
		"the namespace terminates":       {prepare: func(w *world) { leave(w); terminate(w) }},
		"the hub has not applied it": {
			prepare: func(w *world) { leave(w); w.managers = []metav1.ManagedFieldsEntry{managedBy("registration")} },
		},
		"it is of another manager":     {prepare: func(w *world) { leave(w); change(w, profile(), ofAnother) }},
		"the namespace cannot be read": {prepare: func(w *world) { leave(w); w.failing("*v1.Namespace", errUnread) }, err: errUnread},
		"the cluster cannot be read":   {prepare: func(w *world) { leave(w); w.failing("*v1.ManagedCluster", errUnread) }, err: errUnread},
		"the bindings cannot be read": {
			prepare: func(w *world) { leave(w); w.failing("*v1beta2.ManagedClusterSetBindingList", errUnread) }, err: errUnread,
		},
		"the set cannot be read":         {prepare: func(w *world) { leave(w); w.failing("*v1beta2.ManagedClusterSet", errUnread) }, err: errUnread},
		"the clusters cannot be listed":  {prepare: func(w *world) { leave(w); w.failing("*v1.ManagedClusterList", errUnread) }, err: errUnread},
		"the ClusterProfile is not read": {prepare: func(w *world) { leave(w); w.failing("*v1alpha1.ClusterProfile", errUnread) }, err: errUnread},
		"the slices cannot be listed": {
			prepare: func(w *world) { leave(w); w.failing("*v1alpha1.PlacementDecisionList", errUnread) }, err: errUnread,
		},
		"a slice of the namespace has it": {prepare: func(w *world) { leave(w); w.create(slice("team", "c2", "c1")) }},
		"a slice of another one has it":   {prepare: func(w *world) { leave(w); w.create(slice("other", "team/c1")) }},
		"a slice has one of another namespace": {
			prepare: func(w *world) { leave(w); w.create(slice("team", "other/c1")) }, gone: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c.prepare(w)
			_, err := w.reconcile()
			if !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
				t.Errorf("got the error %v, want %v", err, c.err)
			}
			want := []string(nil)
			if c.gone {
				want = []string{"team/c1"}
			}
			if diff := cmp.Diff(want, w.deleted); diff != "" {
				t.Errorf("deleted: %s", diff)
			}
		})
	}
}

// CP8: a ClusterProfile that an empty set keeps goes once the set has a cluster, although no event names it. The clusters are listed once for all
// ClusterProfiles that ask at the same time, and not while the cluster is there that was found the last time.
func TestAnEmptySetIsLookedAtAgain(t *testing.T) {
	w := newWorld(t)
	leave(w)
	change(w, cluster("c2"), func(of *clusterv1.ManagedCluster) { of.Labels = nil })
	for range 3 {
		if result, err := w.reconcile(); err != nil || result.RequeueAfter != time.Minute || len(w.deleted) > 0 {
			t.Errorf("the set is empty: %v, %v, deleted %v", result, err, w.deleted)
		}
	}
	if w.scans != 1 {
		t.Errorf("the clusters were listed %d times", w.scans)
	}

	w.now.SetTime(w.now.Now().Add(time.Minute))
	change(w, cluster("c2"), func(of *clusterv1.ManagedCluster) { of.Labels = cluster("c2").Labels })
	w.create(slice("team", "c1"))
	for range 3 {
		if result, err := w.reconcile(); err != nil || result.RequeueAfter != lookAgain {
			t.Errorf("a slice names it: %v, %v", result, err)
		}
	}
	if w.scans != 2 {
		t.Errorf("the clusters were listed %d times", w.scans)
	}
	w.check(w.store.Delete(t.Context(), slice("team", "c1")))
	w.now.SetTime(w.now.Now().Add(lookAgain))
	if _, err := w.reconcile(); err != nil || len(w.deleted) != 1 || w.scans != 2 {
		t.Errorf("the set has a cluster: %v, deleted %v after %d lists", err, w.deleted, w.scans)
	}
}

var (
	broken  = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "region", Operator: "Near"}}}
	nowhere = &metav1.LabelSelector{MatchLabels: map[string]string{"region": "nowhere"}}
)

func namespace() *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: key.Namespace}}
}

func terminate(w *world) {
	change(w, namespace(), func(n *corev1.Namespace) { n.Finalizers = []string{"example.com/held"} })
	w.check(w.store.Delete(w.t.Context(), namespace()))
}

func optOut(binding *clusterv1beta2.ManagedClusterSetBinding) {
	binding.Labels = map[string]string{clusterprofiles.OptOutLabel: "false"}
}

func ofAnother(profile *clusterinventory.ClusterProfile) {
	profile.Spec.ClusterManager.Name = "elsewhere"
}

// CP8: a ClusterProfile waits for the slices that name it, and for the time in which held decisions go at the latest.
func TestTheHold(t *testing.T) {
	for name, c := range map[string]struct {
		waits time.Duration
		// freed reports whether the slice drops the reference after the first look.
		freed, gone bool
		again       time.Duration
	}{
		"at once":                                {again: lookAgain},
		"within the hold":                        {waits: 9 * time.Minute, again: lookAgain},
		"when the hold has passed":               {waits: 10 * time.Minute, again: lookAgain},
		"shortly before the end":                 {waits: 11*time.Minute - time.Second, again: time.Second},
		"when the decisions have had their time": {waits: 11 * time.Minute, gone: true},
		"when no slice names it any more":        {waits: lookAgain, freed: true, gone: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			leave(w)
			w.create(slice("team", "c1"))
			if result, err := w.reconcile(); err != nil || result.RequeueAfter != lookAgain || len(w.deleted) > 0 {
				t.Fatalf("at the first look: %v, %v, deleted %v", result, err, w.deleted)
			}
			if c.freed {
				change(w, slice("team"), func(s *clusterinventory.PlacementDecision) { s.Decisions = nil })
			}
			w.now.SetTime(w.now.Now().Add(c.waits))
			result, err := w.reconcile()
			if err != nil || result.RequeueAfter != c.again || (len(w.deleted) > 0) != c.gone {
				t.Errorf("got %v, %v, deleted %v", result, err, w.deleted)
			}
		})
	}
}

// CP8: a cluster that comes back begins a new wait when it leaves again.
func TestTheHoldBeginsAnew(t *testing.T) {
	w := newWorld(t)
	leave(w)
	w.create(slice("team", "c1"))
	_, err := w.reconcile()
	w.check(err)
	change(w, cluster("c1"), func(c *clusterv1.ManagedCluster) { c.Labels = cluster("c1").Labels })
	_, err = w.reconcile()
	w.check(err)
	w.now.SetTime(w.now.Now().Add(time.Hour))
	leave(w)
	if result, err := w.reconcile(); err != nil || result.RequeueAfter != lookAgain || len(w.deleted) > 0 {
		t.Errorf("got %v, %v, deleted %v", result, err, w.deleted)
	}
}

// CP8: ClusterProfiles that go together share a list of slices that was read after they were lost.
func TestSliceReader(t *testing.T) {
	w := newWorld(t)
	w.create(slice("team", "c1", "other/c3"))
	names := func(namespace, name string, after time.Time) bool {
		t.Helper()
		named, err := w.slices.names(t.Context(), types.NamespacedName{Namespace: namespace, Name: name}, after)
		w.check(err)
		return named
	}
	lost := w.now.Now()
	w.now.SetTime(lost.Add(time.Second))
	for _, c := range []struct {
		namespace, name string
		want            bool
	}{
		{"team", "c1", true}, {"team", "c2", false}, {"other", "c3", true}, {"team", "c3", false}, {"other", "c1", false},
	} {
		if got := names(c.namespace, c.name, lost); got != c.want {
			t.Errorf("%s/%s: got %t", c.namespace, c.name, got)
		}
	}
	if w.lists != 1 {
		t.Errorf("%d lists for ClusterProfiles that go together", w.lists)
	}
	names("team", "c1", w.now.Now())
	if w.lists != 2 {
		t.Errorf("a list that is older than the loss was used")
	}
	w.now.SetTime(w.now.Now().Add(lookAgain))
	names("team", "c1", lost)
	if w.lists != 3 {
		t.Errorf("an old list was used")
	}
}
