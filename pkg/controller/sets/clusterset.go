package sets

import (
	"context"
	"fmt"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/controller/work"
	"github.com/placement-hub/placement-hub/pkg/facts"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// ClusterSet is the name of the controller that keeps the status of sets, and the standard sets.
const ClusterSet = "clusterset"

// clusterSetReconciler writes the condition ClusterSetEmpty of every set, and keeps the sets default and global.
type clusterSetReconciler struct {
	client   client.Client
	compiler *selector.Compiler
	outdated work.Retry[reconcile.Request]
}

// SetupClusterSet adds the controller ClusterSet to the manager.
func SetupClusterSet(mgr manager.Manager, s work.Settings) error {
	r := &clusterSetReconciler{client: mgr.GetClient(), compiler: selector.NewCompiler(), outdated: work.NewRetry[reconcile.Request]()}

	return builder.ControllerManagedBy(mgr). //nolint:wrapcheck // Named by the caller.
							Named(ClusterSet).
							For(&clusterv1beta2.ManagedClusterSet{}).
							Watches(&clusterv1.ManagedCluster{}, r.membershipChanges()).
							WatchesRawSource(standardSetsSource{}).
							WithOptions(work.Queue[reconcile.Request](s)).
							Complete(r)
}

// Reconcile restores a standard set and writes the condition of the set.
func (r *clusterSetReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	set := &clusterv1beta2.ManagedClusterSet{}

	err := r.client.Get(ctx, request.NamespacedName, set)
	if client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, fmt.Errorf("reading ManagedClusterSet %s: %w", request.Name, err)
	}

	if apierrors.IsNotFound(err) {
		return r.outdated.Settle(ctx, request, r.createStandard(ctx, request.Name))
	}

	if !set.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, nil
	}

	if rolledBack, err := r.rollBack(ctx, set); err != nil || rolledBack {
		return r.outdated.Settle(ctx, request, err) // The event of the roll-back comes next.
	}

	return r.outdated.Settle(ctx, request, r.writeEmpty(ctx, set))
}

func (r *clusterSetReconciler) writeEmpty(ctx context.Context, set *clusterv1beta2.ManagedClusterSet) error {
	compiled := inventory.NewClusterSet(r.compiler, set)
	if compiled.Err != nil {
		// The members cannot be told; the placements that use the set say so (ours.md A4), and the condition stays as it was.
		return nil //nolint:nilerr // A state, not an error: an edit of the set brings it back here.
	}

	count, err := r.count(ctx, compiled)
	if err != nil {
		return err
	}

	condition := metav1.Condition{
		Type: clusterv1beta2.ManagedClusterSetConditionEmpty, Status: metav1.ConditionFalse, Reason: "ClustersSelected",
		Message: fmt.Sprintf("%d ManagedClusters selected", count),
	}
	if count == 0 {
		condition.Status, condition.Reason, condition.Message = metav1.ConditionTrue, "NoClusterMatched", "No ManagedCluster selected"
	}

	changed := set.DeepCopy()
	if !meta.SetStatusCondition(&changed.Status.Conditions, condition) {
		return nil
	}

	err = r.client.Status().Patch(ctx, changed, client.MergeFromWithOptions(set, client.MergeFromWithOptimisticLock{}))
	if err != nil {
		return fmt.Errorf("writing the status of ManagedClusterSet %s: %w", set.Name, err)
	}

	return nil
}

// count is how many clusters are members, terminating ones too.
func (r *clusterSetReconciler) count(ctx context.Context, set *inventory.ClusterSet) (int, error) {
	clusters := &clusterv1.ManagedClusterList{}
	if err := r.client.List(ctx, clusters, client.UnsafeDisableDeepCopy); err != nil {
		return 0, fmt.Errorf("listing ManagedClusters: %w", err)
	}

	count := 0

	for i := range clusters.Items {
		if set.Holds(&facts.Facts{Name: clusters.Items[i].Name, Labels: clusters.Items[i].Labels}) {
			count++
		}
	}

	return count, nil
}

// membershipChanges queues the sets that gain or lose a cluster.
func (r *clusterSetReconciler) membershipChanges() handler.EventHandler {
	type limiter = workqueue.TypedRateLimitingInterface[reconcile.Request]

	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q limiter) { r.enqueue(ctx, q, nil, e.Object) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q limiter) {
			if !maps.Equal(e.ObjectOld.GetLabels(), e.ObjectNew.GetLabels()) {
				r.enqueue(ctx, q, e.ObjectOld, e.ObjectNew)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q limiter) { r.enqueue(ctx, q, e.Object, nil) },
	}
}

func (r *clusterSetReconciler) enqueue(
	ctx context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request], before, after client.Object,
) {
	sets := &clusterv1beta2.ManagedClusterSetList{}
	if err := r.client.List(ctx, sets, client.UnsafeDisableDeepCopy); err != nil {
		// The cache answers; it fails only when it stops, and then every set is counted again at the next start.
		klog.FromContext(ctx).Error(err, "Listing ManagedClusterSets from the cache")

		return
	}

	for i := range sets.Items {
		set := inventory.NewClusterSet(r.compiler, &sets.Items[i])
		if holds(set, before) != holds(set, after) {
			q.Add(reconcile.Request{NamespacedName: types.NamespacedName{Name: set.Name}})
		}
	}
}

func holds(set *inventory.ClusterSet, cluster client.Object) bool {
	return cluster != nil && set.Holds(&facts.Facts{Name: cluster.GetName(), Labels: cluster.GetLabels()})
}
