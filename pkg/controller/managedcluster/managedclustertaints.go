package managedcluster

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/controller/queue"
)

// ManagedClusterTaints is the name of the controller that keeps the taints unavailable and unreachable of clusters.
const ManagedClusterTaints = "managedcluster-taints"

// managedClusterTaintsReconciler makes the taints of a cluster follow its condition ManagedClusterConditionAvailable.
type managedClusterTaintsReconciler struct {
	client    client.Client
	clock     clock.PassiveClock
	conflicts queue.ConflictBackoff[reconcile.Request]
}

// SetupManagedClusterTaints adds the controller ManagedClusterTaints to the manager.
func SetupManagedClusterTaints(mgr manager.Manager, s queue.Settings) error {
	r := &managedClusterTaintsReconciler{client: mgr.GetClient(), clock: s.Clock, conflicts: queue.NewConflictBackoff[reconcile.Request]()}
	// A heartbeat wakes nobody, and whoever takes a taint away does.
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

// Reconcile writes the taints of one cluster.
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

// writeTaints sends the taints that follow from the condition. A taint without a time would have every toleration with tolerationSeconds
// expired, if only until the next write, so a new one carries its time from the start. An admission webhook that sets the times itself,
// upstream's for one, refuses a time that it is sent; what was refused is sent once more without.
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

	// The list is replaced as a whole, so it must be the one that was looked at.
	patch := client.MergeFromWithOptions(cluster, client.MergeFromWithOptimisticLock{})

	data, err := patch.Data(changed)
	if err != nil {
		return fmt.Errorf("encoding the patch: %w", err)
	}

	// Of the answer nothing is needed, and as a ManagedCluster it could be unreadable.
	answer := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: cluster.Name}}
	answer.SetGroupVersionKind(schema.GroupVersion(clusterv1.GroupVersion).WithKind("ManagedCluster"))

	err = r.client.Patch(ctx, answer, client.RawPatch(patch.Type(), data))
	if err == nil {
		klog.FromContext(ctx).V(2).Info("The taints follow the condition", "cluster", cluster.Name, "taints", changed.Spec.Taints)
	}

	return err //nolint:wrapcheck // Named by the caller.
}
