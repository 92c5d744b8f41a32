// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/clusterprofiles"
	"github.com/placement-hub/placement-hub/pkg/hub/consistency"
	"github.com/placement-hub/placement-hub/pkg/hub/problems"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/metrics"
)

// key is the ClusterProfile of the cluster c1 in the namespace team.
var key = types.NamespacedName{Namespace: "team", Name: "c1"}

// world is a reconciler on a store of objects.
type world struct {
	*reconciler

	t     *testing.T
	store client.WithWatch
	now   *clocktesting.FakePassiveClock
	// deleted are the ClusterProfiles that the reconciler has deleted, applied what it has applied, and patched the patches it has sent.
	deleted, applied, patched []string
	// lists counts the lists of slices.
	lists int
	// refuse returns the error of a read, by the type of what is read.
	refuse func(read string) error
	// managers are the entries about field managers of each ClusterProfile.
	managers []metav1.ManagedFieldsEntry
	// responds is the version in the responses to applies.
	responds string
	// scans counts the lists of clusters.
	scans int
}

// newWorld returns a world with the namespace team, which has bound the set s, the clusters c1 and c2 in it, and the ClusterProfile of c1, which the
// hub has applied.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		t: t, now: clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)), refuse: func(string) error { return nil },
		managers: []metav1.ManagedFieldsEntry{managedBy(clusterprofiles.FieldManager)},
	}
	profile := &clusterinventory.ClusterProfile{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	profile.Spec.ClusterManager.Name = clusterprofiles.ClusterManager
	w.store = fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: key.Namespace}},
		&clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "s"}},
		&clusterv1beta2.ManagedClusterSetBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "s"}, Spec: clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: "s"},
		},
		cluster("c1"), cluster("c2"), profile,
	).Build()

	through := w.through()
	patterns, err := clusterprofiles.ParsePatterns([]string{"*"})
	w.check(err)
	w.reconciler = &reconciler{
		client: through, sets: newSets(through, w.now), patterns: patterns, slices: &sliceReader{live: through, clock: w.now},
		recorder: events.NewFakeRecorder(100), clock: w.now, hold: 10 * time.Minute,
		looked: newTimes(), lost: newTimes(), yielded: newTimes(), problems: problems.New[types.NamespacedName](w.now, nil),
		states: metrics.NewProfileStates[types.NamespacedName](), conflicts: queue.NewConflictBackoff[reconcile.Request](),
		written: consistency.NewStore(w.now),
	}
	return w
}

// managedBy returns an entry of a field manager that applies the spec.
func managedBy(manager string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationApply, FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:displayName":{}}}`),
	}
}

// cluster returns a cluster of the set s.
func cluster(name string) *clusterv1.ManagedCluster {
	return &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{clusterv1beta2.ClusterSetLabel: "s"}}}
}

// slice returns the slice of a namespace that refers to ClusterProfiles, each as name or namespace/name.
func slice(namespace string, profiles ...string) *clusterinventory.PlacementDecision {
	of := &clusterinventory.PlacementDecision{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "p-decision-1"}}
	for _, profile := range profiles {
		within, name, qualified := strings.Cut(profile, "/")
		if !qualified {
			within, name = "", profile
		}
		of.Decisions = append(of.Decisions, clusterinventory.ClusterDecision{
			ClusterProfileRef: clusterinventory.ClusterProfileReference{Namespace: within, Name: name},
		})
	}
	return of
}

// through returns a client of the store that notes writes and refuses reads.
func (w *world) through() client.Client {
	return interceptor.NewClient(w.store, interceptor.Funcs{
		Get: func(ctx context.Context, store client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if err := w.refuse(fmt.Sprintf("%T", object)); err != nil {
				return err
			}
			err := store.Get(ctx, key, object, options...)
			if profile, is := object.(*clusterinventory.ClusterProfile); is && err == nil {
				profile.ManagedFields = w.managers
			}
			return err
		},
		List: func(ctx context.Context, store client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if _, is := list.(*clusterinventory.PlacementDecisionList); is {
				w.lists++
			}
			if _, is := list.(*clusterv1.ManagedClusterList); is {
				w.scans++
			}
			if err := w.refuse(fmt.Sprintf("%T", list)); err != nil {
				return err
			}
			if profiles, is := list.(*clusterinventory.ClusterProfileList); is { // The store selects by no field.
				profiles.Items = make([]clusterinventory.ClusterProfile, 1)
				err := store.Get(ctx, key, &profiles.Items[0])
				profiles.Items[0].ManagedFields = w.managers
				return err
			}
			return store.List(ctx, list, options...)
		},
		Patch: func(_ context.Context, _ client.WithWatch, object client.Object, patch client.Patch, _ ...client.PatchOption) error {
			content, err := patch.Data(object)
			w.patched = append(w.patched, string(content))
			return errors.Join(err, w.refuse("patch"))
		},
		Delete: func(ctx context.Context, store client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			w.deleted = append(w.deleted, object.GetNamespace()+"/"+object.GetName())
			return store.Delete(ctx, object, options...)
		},
		Apply: func(_ context.Context, _ client.WithWatch, applied runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
			w.applied = append(w.applied, "object")
			return w.respond(applied)
		},
		SubResourceApply: func(
			_ context.Context, _ client.Client, _ string, applied runtime.ApplyConfiguration, _ ...client.SubResourceApplyOption,
		) error {
			w.applied = append(w.applied, "status")
			return w.respond(applied)
		},
	})
}

// respond answers an apply as the API server does: with the object, of which the version matters.
func (w *world) respond(applied runtime.ApplyConfiguration) error {
	applied.(interface{ SetResourceVersion(string) }).SetResourceVersion(w.responds)
	return w.refuse("apply")
}

// failing has all reads of a type fail with an error.
func (w *world) failing(read string, err error) {
	w.refuse = func(what string) error {
		if what == read {
			return err
		}
		return nil
	}
}

func (w *world) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// create creates an object in the store.
func (w *world) create(object client.Object) {
	w.t.Helper()
	w.check(w.store.Create(w.t.Context(), object))
}

// change changes an object of the store.
func change[T client.Object](w *world, object T, edit func(T)) {
	w.t.Helper()
	w.check(w.store.Get(w.t.Context(), client.ObjectKeyFromObject(object), object))
	edit(object)
	w.check(w.store.Update(w.t.Context(), object))
}

// reconcile reconciles the ClusterProfile of c1.
func (w *world) reconcile() (reconcile.Result, error) {
	return w.Reconcile(w.t.Context(), reconcile.Request{NamespacedName: key})
}
