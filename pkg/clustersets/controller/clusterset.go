// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/clustersets"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/hub/sharedinventory"
)

// ClusterSet is the name of the controller that writes the status of ManagedClusterSets and restores the sets default and global.
const ClusterSet = clustersets.ClusterSet

// clusterSetReconciler writes the condition ClusterSetEmpty of every ManagedClusterSet, and restores the sets default and global.
type clusterSetReconciler struct {
	client client.Client
	// members returns the number of members of a set; false if they are unknown.
	members   func(*clusterv1beta2.ManagedClusterSet) (uint, bool)
	conflicts queue.ConflictBackoff[reconcile.Request]
}

// settleDelay is how long a ManagedClusterSet waits for further changes of its clusters or of its status before it is written, so that many
// changes at once, such as those of a new fleet, cause few writes.
const settleDelay = 200 * time.Millisecond

// SetupClusterSet returns a function that adds the controller ClusterSet, which asks an inventory for the members of sets, to the manager. It
// returns an error if a watch cannot be added.
func SetupClusterSet(shared *sharedinventory.Shared) func(manager.Manager, queue.Settings) error {
	return func(mgr manager.Manager, s queue.Settings) error {
		r := &clusterSetReconciler{
			client: mgr.GetClient(), conflicts: queue.NewConflictBackoff[reconcile.Request](), members: shared.Inventory.Members,
		}
		changed := &membership{
			sets: mgr.GetClient(), listen: func(ctx context.Context) error { return shared.Listen(ctx, mgr.GetCache()) },
		}
		shared.HandleSets(changed.enqueue)
		return builder.ControllerManagedBy(mgr).
			Named(ClusterSet).
			Watches(&clusterv1beta2.ManagedClusterSet{}, statusChanges).
			WatchesRawSource(changed).
			WithOptions(queue.Options[reconcile.Request](s)).
			Complete(r)
	}
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
	count, known := r.members(set)
	if !known {
		// The set has a mistake, which the Placements that use it report (docs/spec/differences.md A4), or the inventory handles a change of
		// it, and enqueues it afterwards. The condition stays as it was.
		return nil
	}

	condition := metav1.Condition{
		Type: clusterv1beta2.ManagedClusterSetConditionEmpty, Status: metav1.ConditionFalse, Reason: "ClustersSelected",
		Message: fmt.Sprintf("%d ManagedClusters selected", count),
	}
	if count == 0 {
		condition.Status, condition.Reason, condition.Message = metav1.ConditionTrue, "NoClusterMatched", "No ManagedCluster selected"
	}
	_, err := objects.PatchStatus(ctx, r.client, set, func(changed *clusterv1beta2.ManagedClusterSet) {
		meta.SetStatusCondition(&changed.Status.Conditions, condition)
	})
	return err
}

// statusChanges enqueues every ManagedClusterSet whose spec is as it was, settleDelay later: a change of the status or of the metadata, most
// often an own write. The source membership enqueues the sets of all other changes.
var statusChanges = handler.Funcs{
	UpdateFunc: func(_ context.Context, e event.UpdateEvent, q rateLimitingQueue) {
		if e.ObjectOld.GetUID() == e.ObjectNew.GetUID() && e.ObjectOld.GetGeneration() == e.ObjectNew.GetGeneration() {
			q.AddAfter(requestFor(e.ObjectNew.GetName()), settleDelay)
		}
	},
}

func requestFor(set string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Name: set}}
}
