package managedcluster

import (
	"context"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/placement-hub/placement-hub/pkg/controller/queue"
)

// Vocabulary is the name of the controller that keeps the words of the fleet.
const Vocabulary = "vocabulary"

// VocabularyConfigMap is the name of the ConfigMap that holds the words a Placement can use.
const VocabularyConfigMap = "placement-vocabulary"

// vocabularyPeriod is the least time between two looks at the whole fleet.
const vocabularyPeriod = time.Second

// vocabularyReconciler keeps the ConfigMap that the admission policies look into.
type vocabularyReconciler struct {
	client    client.Client
	clock     clock.PassiveClock
	key       types.NamespacedName
	next      time.Time // not to look again before
	conflicts queue.ConflictBackoff[reconcile.Request]
}

// SetupVocabulary adds the controller Vocabulary to the manager.
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
	// A binding has the name of its set, which never changes.
	existence := predicate.Funcs{UpdateFunc: func(event.UpdateEvent) bool { return false }}
	start := source.Func(func(_ context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		q.Add(request) // Also where there is neither a cluster nor a binding.

		return nil
	})

	return builder.ControllerManagedBy(mgr). //nolint:wrapcheck // Named by the caller.
							Named(Vocabulary).
							WatchesRawSource(start).
							Watches(&clusterv1.ManagedCluster{}, enqueue, builder.WithPredicates(predicate.Funcs{UpdateFunc: vocabularyChanged})).
							Watches(&clusterv1beta2.ManagedClusterSetBinding{}, enqueue, builder.WithPredicates(existence)).
							Watches(&corev1.ConfigMap{}, enqueue, builder.WithPredicates(ours)).
							WithOptions(queue.SingleWorkerOptions[reconcile.Request](s)).
							Complete(r)
}

// vocabularyChanged reports whether a cluster has other labels or claims than before, by name.
func vocabularyChanged(e event.UpdateEvent) bool {
	before, okBefore := e.ObjectOld.(*clusterv1.ManagedCluster)
	after, okAfter := e.ObjectNew.(*clusterv1.ManagedCluster)

	return !okBefore || !okAfter || !sameVocabulary(before, after)
}

// Reconcile writes the words of the fleet when they are not those of the ConfigMap. A storm of changes has it look once in a period.
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
	if apierrors.IsNotFound(err) { // To wait for it quietly would be to wait for ever.
		return reconcile.Result{}, fmt.Errorf("creating ConfigMap %s: create the namespace, or name another with --namespace: %w", r.key, err)
	}

	if err != nil {
		err = fmt.Errorf("creating ConfigMap %s: %w", r.key, err)
	}

	return r.conflicts.Result(ctx, request, err)
}

// collect reads the words of the whole fleet from the cache.
func (r *vocabularyReconciler) collect(ctx context.Context) (map[string]string, error) {
	clusters := &clusterv1.ManagedClusterList{}
	if err := r.client.List(ctx, clusters, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing ManagedClusters: %w", err)
	}

	bindings := &clusterv1beta2.ManagedClusterSetBindingList{}
	if err := r.client.List(ctx, bindings, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing ManagedClusterSetBindings: %w", err)
	}

	return vocabulary(clusters.Items, bindings.Items), nil
}
