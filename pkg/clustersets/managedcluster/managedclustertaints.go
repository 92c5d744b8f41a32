// SPDX-License-Identifier: Apache-2.0

package managedcluster

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
)

// ManagedClusterTaints is the name of the controller that writes the taints unavailable and unreachable of ManagedClusters.
const ManagedClusterTaints = "managedcluster-taints"

// managedClusterTaintsReconciler derives the taints of a ManagedCluster from its condition ManagedClusterConditionAvailable.
type managedClusterTaintsReconciler struct {
	client    client.Client
	clock     clock.PassiveClock
	conflicts queue.ConflictBackoff[reconcile.Request]
}

// SetupManagedClusterTaints adds the controller ManagedClusterTaints to the manager. It returns an error if a watch cannot be added.
func SetupManagedClusterTaints(mgr manager.Manager, s queue.Settings) error {
	r := &managedClusterTaintsReconciler{client: mgr.GetClient(), clock: s.Clock, conflicts: queue.NewConflictBackoff[reconcile.Request]()}
	// The predicate passes only ManagedClusters whose taints need a write, so that heartbeats enqueue nothing and a removed taint does.
	wrong := predicate.NewPredicateFuncs(func(object client.Object) bool {
		cluster, ok := object.(*clusterv1.ManagedCluster)
		return ok && withDesiredTaints(cluster, metav1.Time{}) != nil
	})
	return builder.ControllerManagedBy(mgr). //nolint:wrapcheck // Named by the caller.
							Named(ManagedClusterTaints).
							For(&clusterv1.ManagedCluster{}, builder.WithPredicates(wrong)).
							WithOptions(queue.Options[reconcile.Request](s)).
							Complete(r)
}

// Reconcile writes the taints of a ManagedCluster.
func (r *managedClusterTaintsReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	cluster := &clusterv1.ManagedCluster{}

	err := r.client.Get(ctx, request.NamespacedName, cluster)
	if apierrors.IsNotFound(err) {
		return reconcile.Result{}, nil
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("reading ManagedCluster %s: %w", request.Name, err)
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
