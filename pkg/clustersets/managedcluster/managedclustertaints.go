// SPDX-License-Identifier: Apache-2.0

package managedcluster

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/clustersets"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
)

// ManagedClusterTaints is the name of the controller that writes the taints unavailable and unreachable of ManagedClusters.
const ManagedClusterTaints = clustersets.ManagedClusterTaints

// managedClusterTaintsReconciler derives the taints of a ManagedCluster from its condition ManagedClusterConditionAvailable.
type managedClusterTaintsReconciler struct {
	client    client.Client
	clock     clock.PassiveClock
	grace     *gracePeriod
	conflicts queue.ConflictBackoff[reconcile.Request]
}

// SetupManagedClusterTaints returns a function that adds the controller ManagedClusterTaints to the manager. The first taint of a cluster that
// becomes unavailable waits for the grace period, which may be zero. The function returns an error if a watch cannot be added.
func SetupManagedClusterTaints(grace time.Duration) func(manager.Manager, queue.Settings) error {
	return func(mgr manager.Manager, s queue.Settings) error {
		r := &managedClusterTaintsReconciler{
			client: mgr.GetClient(), clock: s.Clock, grace: newGracePeriod(grace, s.Clock),
			conflicts: queue.NewConflictBackoff[reconcile.Request](),
		}
		return builder.ControllerManagedBy(mgr).
			Named(ManagedClusterTaints).
			For(&clusterv1.ManagedCluster{}, builder.WithPredicates(r.changes())).
			WithOptions(queue.Options[reconcile.Request](s)).
			Complete(r)
	}
}

// changes passes only ManagedClusters whose taints need a write, so that heartbeats enqueue nothing and a removed taint does. The grace period
// observes every state, also on a standby.
func (r *managedClusterTaintsReconciler) changes() predicate.Predicate {
	need := func(object client.Object) bool {
		cluster, ok := object.(*clusterv1.ManagedCluster)
		if !ok {
			return false
		}
		r.grace.observe(cluster)
		return withDesiredTaints(cluster, metav1.Time{}) != nil
	}
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return need(e.Object) },
		UpdateFunc: func(e event.UpdateEvent) bool { return need(e.ObjectNew) },
		DeleteFunc: func(e event.DeleteEvent) bool { r.grace.forget(e.Object.GetName()); return false },
	}
}

// Reconcile writes the taints of a ManagedCluster, or waits until its grace period ends.
func (r *managedClusterTaintsReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	cluster := &clusterv1.ManagedCluster{}

	err := r.client.Get(ctx, request.NamespacedName, cluster)
	if apierrors.IsNotFound(err) {
		return reconcile.Result{}, nil
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("reading ManagedCluster %s: %w", request.Name, err)
	}
	if wait := r.grace.observe(cluster); wait > 0 {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	if err := r.writeTaints(ctx, cluster); err != nil {
		return r.conflicts.Result(ctx, request, fmt.Errorf("writing the taints of ManagedCluster %s: %w", request.Name, err))
	}
	return r.conflicts.Result(ctx, request, nil)
}

// writeTaints writes the taints that follow from the condition. A new taint carries its time, because without a time every toleration with
// tolerationSeconds counts as expired until the next write. An admission webhook that sets the times itself, such as the upstream one,
// rejects a taint with a time; then writeTaints sends it once more without.
func (r *managedClusterTaintsReconciler) writeTaints(ctx context.Context, cluster *clusterv1.ManagedCluster) error {
	err := r.send(ctx, cluster, metav1.NewTime(r.clock.Now()).Rfc3339Copy())
	if apierrors.IsBadRequest(err) {
		klog.FromContext(ctx).V(4).Info("A taint with a time was refused; trying without", "err", err)
		return r.send(ctx, cluster, metav1.Time{})
	}
	return err
}

func (r *managedClusterTaintsReconciler) send(ctx context.Context, cluster *clusterv1.ManagedCluster, now metav1.Time) error {
	changed := withDesiredTaints(cluster, now)
	if changed == nil {
		return nil
	}
	err := objects.Patch(ctx, r.client, cluster, changed, objects.MetadataOnly()) // The response might be undecodable as a ManagedCluster.
	if err == nil {
		klog.FromContext(ctx).V(2).Info("The taints follow the condition", "cluster", cluster.Name, "taints", changed.Spec.Taints)
	}
	return err
}
