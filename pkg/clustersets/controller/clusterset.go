// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"maps"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// ClusterSet is the name of the controller that writes the status of ManagedClusterSets and restores the sets default and global.
const ClusterSet = "clusterset"

// clusterSetReconciler writes the condition ClusterSetEmpty of every ManagedClusterSet, and restores the sets default and global.
type clusterSetReconciler struct {
	client    client.Client
	members   *membership
	conflicts queue.ConflictBackoff[reconcile.Request]
}

// settleDelay is how long a ManagedClusterSet waits for further changes of its clusters or of its status before it is written, so that many
// changes at once, such as those of a new fleet, cause few writes.
const settleDelay = 200 * time.Millisecond

type rateLimitingQueue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// SetupClusterSet adds the controller ClusterSet to the manager. It returns an error if a watch cannot be added.
func SetupClusterSet(mgr manager.Manager, s queue.Settings) error {
	compiler := selector.NewCompiler()
	r := &clusterSetReconciler{
		client: mgr.GetClient(), conflicts: queue.NewConflictBackoff[reconcile.Request](),
		members: newMembership(func(set *clusterv1beta2.ManagedClusterSet) *inventory.ClusterSet {
			return inventory.NewClusterSet(compiler, set)
		}),
	}

	return builder.ControllerManagedBy(mgr). //nolint:wrapcheck // Named by the caller.
							Named(ClusterSet).
							Watches(&clusterv1beta2.ManagedClusterSet{}, r.setChanges()).
							Watches(&clusterv1.ManagedCluster{}, r.clusterChanges()).
							WatchesRawSource(standardSetsSource{}).
							WithOptions(queue.Options[reconcile.Request](s)).
							Complete(r)
}

// Reconcile creates or restores a standard ManagedClusterSet and writes the condition of the set.
func (r *clusterSetReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	set := &clusterv1beta2.ManagedClusterSet{}

	err := r.client.Get(ctx, request.NamespacedName, set)
	if client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, fmt.Errorf("reading ManagedClusterSet %s: %w", request.Name, err)
	}

	if apierrors.IsNotFound(err) {
		return r.conflicts.Result(ctx, request, r.createStandard(ctx, request.Name))
	}

	if !set.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, nil
	}

	if rolledBack, err := r.restoreSelector(ctx, set); err != nil || rolledBack {
		return r.conflicts.Result(ctx, request, err) // The event of the update enqueues the set again.
	}

	return r.conflicts.Result(ctx, request, r.writeEmpty(ctx, set))
}

func (r *clusterSetReconciler) writeEmpty(ctx context.Context, set *clusterv1beta2.ManagedClusterSet) error {
	compiled := r.members.get(set)
	if compiled.Err != nil {
		// The members are unknown: the Placements that use the set report it (docs/spec/differences.md A4), and the condition stays as it
		// was.
		return nil //nolint:nilerr // An edit of the set enqueues it again.
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

	_, err = objects.PatchStatus(ctx, r.client, set, func(changed *clusterv1beta2.ManagedClusterSet) {
		meta.SetStatusCondition(&changed.Status.Conditions, condition)
	})

	return err
}

// count returns the number of ManagedClusters in the set, including terminating ones.
func (r *clusterSetReconciler) count(ctx context.Context, set *inventory.ClusterSet) (int, error) {
	clusters := &clusterv1.ManagedClusterList{}
	if err := r.client.List(ctx, clusters, client.UnsafeDisableDeepCopy); err != nil {
		return 0, fmt.Errorf("listing ManagedClusters: %w", err)
	}

	count := 0

	for i := range clusters.Items {
		if contains(set, &clusters.Items[i]) {
			count++
		}
	}

	return count, nil
}

// setChanges returns a handler that updates the membership and enqueues every ManagedClusterSet that changes; settleDelay later if its spec is
// as it was.
func (r *clusterSetReconciler) setChanges() handler.EventHandler {
	take := func(object client.Object) reconcile.Request {
		if set, is := object.(*clusterv1beta2.ManagedClusterSet); is {
			r.members.update(set)
		}

		return requestFor(object.GetName())
	}

	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q rateLimitingQueue) { q.Add(take(e.Object)) },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q rateLimitingQueue) {
			request := take(e.ObjectNew)
			if e.ObjectOld.GetGeneration() == e.ObjectNew.GetGeneration() {
				q.AddAfter(request, settleDelay) // A change of the status or of the metadata, most often an own write.
			} else {
				q.Add(request)
			}
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q rateLimitingQueue) {
			r.members.forget(e.Object.GetName())
			q.Add(requestFor(e.Object.GetName()))
		},
	}
}

// clusterChanges returns a handler that enqueues the ManagedClusterSets that gain or lose a ManagedCluster. The initial list of clusters
// enqueues nothing: each set is enqueued by its own initial event, and workers start only after both lists are complete.
func (r *clusterSetReconciler) clusterChanges() handler.EventHandler {
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q rateLimitingQueue) {
			if !e.IsInInitialList {
				r.enqueue(q, nil, e.Object)
			}
		},
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q rateLimitingQueue) {
			if !maps.Equal(e.ObjectOld.GetLabels(), e.ObjectNew.GetLabels()) {
				r.enqueue(q, e.ObjectOld, e.ObjectNew)
			}
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q rateLimitingQueue) { r.enqueue(q, e.Object, nil) },
	}
}

func (r *clusterSetReconciler) enqueue(q rateLimitingQueue, before, after client.Object) {
	for _, name := range r.members.affected(before, after) {
		q.AddAfter(requestFor(name), settleDelay)
	}
}

func requestFor(set string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Name: set}}
}
