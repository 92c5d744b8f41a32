// SPDX-License-Identifier: Apache-2.0

package managedcluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
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

const (
	// vocabularyPeriod is the least time between two collections over the whole fleet.
	vocabularyPeriod = time.Second
	// placementsPeriod is the least time before a collection for Placements alone, which everybody may write who may write in one namespace.
	placementsPeriod = 30 * time.Second
)

// vocabularyReconciler writes the ConfigMap that the admission policies read.
type vocabularyReconciler struct {
	client client.Client
	clock  clock.PassiveClock
	key    types.NamespacedName
	// placements is the request after changes of Placements; that with key is after all others.
	placements reconcile.Request
	last       time.Time // of the last collection
	conflicts  queue.ConflictBackoff[reconcile.Request]
	// written is the data of the last write.
	written atomic.Pointer[map[string]string]
}

// SetupVocabulary adds the controller Vocabulary to the manager. It returns an error if a watch cannot be added.
func SetupVocabulary(mgr manager.Manager, s queue.Settings) error {
	r := newVocabularyReconciler(mgr.GetClient(), s.Clock, s.Namespace)
	request := reconcile.Request{NamespacedName: r.key}
	enqueueRequest := func(request reconcile.Request) handler.EventHandler {
		return handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request { return []reconcile.Request{request} })
	}
	enqueue := enqueueRequest(request)
	// Of sets only the names count, and a ManagedClusterSetBinding has that of its set, which is immutable.
	existence := predicate.Funcs{UpdateFunc: func(event.UpdateEvent) bool { return false }}
	start := source.Func(func(_ context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		q.Add(request) // Even without any ManagedCluster or binding.
		return nil
	})
	ofSets := builder.WithPredicates(predicate.Funcs{UpdateFunc: clusterSetsChanged})
	notOwn := builder.WithPredicates(predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return r.differs(e.Object) },
		UpdateFunc: func(e event.UpdateEvent) bool { return r.differs(e.ObjectNew) },
		DeleteFunc: func(e event.DeleteEvent) bool { return client.ObjectKeyFromObject(e.Object) == r.key },
	})
	return builder.ControllerManagedBy(mgr). //nolint:wrapcheck // Named by the caller.
							Named(Vocabulary).
							WatchesRawSource(start).
							Watches(&clusterv1.ManagedCluster{}, enqueue, builder.WithPredicates(predicate.Funcs{UpdateFunc: vocabularyChanged})).
							Watches(&clusterv1beta2.ManagedClusterSet{}, enqueue, builder.WithPredicates(existence)).
							Watches(&clusterv1beta2.ManagedClusterSetBinding{}, enqueue, builder.WithPredicates(existence)).
							Watches(&clusterv1beta1.Placement{}, enqueueRequest(r.placements), ofSets).
							Watches(&corev1.ConfigMap{}, enqueue, notOwn).
							WithOptions(queue.SingleWorkerOptions[reconcile.Request](s)).
							Complete(r)
}

func newVocabularyReconciler(hub client.Client, of clock.PassiveClock, namespace string) *vocabularyReconciler {
	key := types.NamespacedName{Namespace: namespace, Name: VocabularyConfigMap}
	return &vocabularyReconciler{
		client: hub, clock: of, conflicts: queue.NewConflictBackoff[reconcile.Request](), key: key,
		placements: reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: VocabularyConfigMap + "/placements"}},
	}
}

// differs reports whether an object is the ConfigMap with other data than the last write. An own write needs no collection; it would make that for
// Placements as frequent as that for others.
func (r *vocabularyReconciler) differs(object client.Object) bool {
	configMap, is := object.(*corev1.ConfigMap)
	written := r.written.Load()
	return client.ObjectKeyFromObject(object) == r.key && (!is || written == nil || !maps.Equal(configMap.Data, *written))
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

// Reconcile writes the ConfigMap if the vocabulary of the fleet has changed: once per vocabularyPeriod at most, and after changes of Placements alone
// once per placementsPeriod.
func (r *vocabularyReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	period := vocabularyPeriod
	if request == r.placements {
		period = placementsPeriod
	}
	now := r.clock.Now()
	if wait := r.last.Add(period).Sub(now); wait > 0 {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	r.last = now

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
	r.written.Store(&data) // Its event may come before the response.
	if err := r.client.Update(ctx, changed); err != nil {
		return r.conflicts.Result(ctx, request, fmt.Errorf("writing ConfigMap %s: %w", r.key, err))
	}
	return r.conflicts.Result(ctx, request, nil)
}

func (r *vocabularyReconciler) create(ctx context.Context, request reconcile.Request, data map[string]string) (reconcile.Result, error) {
	r.written.Store(&data)
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
	clusters, sets := &clusterv1.ManagedClusterList{}, &clusterv1beta2.ManagedClusterSetList{}
	bindings, placements := &clusterv1beta2.ManagedClusterSetBindingList{}, &clusterv1beta1.PlacementList{}
	for _, each := range []struct {
		kind string
		list client.ObjectList
	}{{"ManagedClusters", clusters}, {"ManagedClusterSets", sets}, {"ManagedClusterSetBindings", bindings}, {"Placements", placements}} {
		if err := r.client.List(ctx, each.list, client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("listing %s: %w", each.kind, err)
		}
	}
	return vocabulary(&hubObjects{
		clusters: clusters.Items, sets: sets.Items, bindings: bindings.Items, placements: placements.Items,
	}), nil
}
