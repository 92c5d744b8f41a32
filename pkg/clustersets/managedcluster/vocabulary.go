// SPDX-License-Identifier: Apache-2.0

package managedcluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/placement-hub/placement-hub/pkg/hub/queue"
)

// Vocabulary is the name of the controller that writes the ConfigMap VocabularyConfigMap.
const Vocabulary = "vocabulary"

// VocabularyConfigMap is the name of the ConfigMap with the label keys, claims, taints and sets that a Placement can use, and
// with how many use the sets.
const VocabularyConfigMap = "placement-vocabulary"

// vocabularyPeriod is the least time between two collections over the whole fleet.
const vocabularyPeriod = time.Second

// vocabularyReconciler writes the ConfigMap that the admission policies read.
type vocabularyReconciler struct {
	client    client.Client
	clock     clock.PassiveClock
	key       types.NamespacedName
	next      time.Time // earliest time of the next collection
	conflicts queue.ConflictBackoff[reconcile.Request]
}

// SetupVocabulary adds the controller Vocabulary to the manager. It returns an error if a watch cannot be added.
func SetupVocabulary(mgr manager.Manager, s queue.Settings) error {
	r := &vocabularyReconciler{
		client: mgr.GetClient(), clock: s.Clock, conflicts: queue.NewConflictBackoff[reconcile.Request](),
		key: types.NamespacedName{Namespace: s.Namespace, Name: VocabularyConfigMap},
	}
	request := reconcile.Request{NamespacedName: r.key}
	enqueue := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
		return []reconcile.Request{request}
	})
	ours := predicate.NewPredicateFuncs(func(object client.Object) bool { return client.ObjectKeyFromObject(object) == r.key })
	// A ManagedClusterSetBinding has the name of its set, which is immutable.
	existence := predicate.Funcs{UpdateFunc: func(event.UpdateEvent) bool { return false }}
	start := source.Func(func(_ context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		q.Add(request) // Even without any ManagedCluster or binding.
		return nil
	})
	return builder.ControllerManagedBy(mgr). //nolint:wrapcheck // Named by the caller.
							Named(Vocabulary).
							WatchesRawSource(start).
							Watches(&clusterv1.ManagedCluster{}, enqueue, builder.WithPredicates(predicate.Funcs{UpdateFunc: vocabularyChanged})).
							Watches(&clusterv1beta2.ManagedClusterSetBinding{}, enqueue, builder.WithPredicates(existence)).
							Watches(&clusterv1beta1.Placement{}, enqueue, builder.WithPredicates(predicate.Funcs{UpdateFunc: clusterSetsChanged})).
							Watches(&corev1.ConfigMap{}, enqueue, builder.WithPredicates(ours)).
							WithOptions(queue.SingleWorkerOptions[reconcile.Request](s)).
							Complete(r)
}

// clusterSetsChanged reports whether a Placement names other cluster sets than before.
func clusterSetsChanged(e event.UpdateEvent) bool {
	before, okBefore := e.ObjectOld.(*clusterv1beta1.Placement)
	after, okAfter := e.ObjectNew.(*clusterv1beta1.Placement)
	return !okBefore || !okAfter || !slices.Equal(before.Spec.ClusterSets, after.Spec.ClusterSets)
}

// vocabularyChanged reports whether the label keys, claim names or taints of a ManagedCluster have changed.
func vocabularyChanged(e event.UpdateEvent) bool {
	before, okBefore := e.ObjectOld.(*clusterv1.ManagedCluster)
	after, okAfter := e.ObjectNew.(*clusterv1.ManagedCluster)
	return !okBefore || !okAfter || !sameVocabulary(before, after)
}

// Reconcile writes the ConfigMap if the vocabulary of the fleet has changed, once per vocabularyPeriod at most.
func (r *vocabularyReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	if wait := r.next.Sub(r.clock.Now()); wait > 0 {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	r.next = r.clock.Now().Add(vocabularyPeriod)

	data, err := r.collect(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	known := &corev1.ConfigMap{}

	err = r.client.Get(ctx, r.key, known)
	if apierrors.IsNotFound(err) {
		return r.create(ctx, request, data)
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("reading ConfigMap %s: %w", r.key, err)
	}
	if maps.Equal(known.Data, data) {
		return r.conflicts.Result(ctx, request, nil)
	}

	changed := known.DeepCopy()
	changed.Data = data
	if err := r.client.Update(ctx, changed); err != nil {
		return r.conflicts.Result(ctx, request, fmt.Errorf("writing ConfigMap %s: %w", r.key, err))
	}
	return r.conflicts.Result(ctx, request, nil)
}

func (r *vocabularyReconciler) create(ctx context.Context, request reconcile.Request, data map[string]string) (reconcile.Result, error) {
	created := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: r.key.Namespace, Name: r.key.Name}, Data: data}
	err := r.client.Create(ctx, created)
	if apierrors.IsNotFound(err) { // A quiet retry would hide the missing namespace.
		return reconcile.Result{}, fmt.Errorf("creating ConfigMap %s: create the namespace, or name another with --namespace: %w", r.key, err)
	}
	if err != nil {
		err = fmt.Errorf("creating ConfigMap %s: %w", r.key, err)
	}
	return r.conflicts.Result(ctx, request, err)
}

// collect computes the vocabulary of the whole fleet from the cache.
func (r *vocabularyReconciler) collect(ctx context.Context) (map[string]string, error) {
	clusters := &clusterv1.ManagedClusterList{}
	if err := r.client.List(ctx, clusters, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing ManagedClusters: %w", err)
	}
	bindings := &clusterv1beta2.ManagedClusterSetBindingList{}
	if err := r.client.List(ctx, bindings, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing ManagedClusterSetBindings: %w", err)
	}
	placements := &clusterv1beta1.PlacementList{}
	if err := r.client.List(ctx, placements, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing Placements: %w", err)
	}
	return vocabulary(clusters.Items, bindings.Items, placements.Items), nil
}
