// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
)

// reasonStateUnknown is the reason of ClusterHealthy=False while Provider.Ensure returns errors and the cluster was not healthy before.
const reasonStateUnknown = "StateUnknown"

// retryInterval is when Provider.Ensure is called again after an error. The queue would wait for longer than a Lease is valid.
const retryInterval = 5 * time.Second

// clusterReconciler keeps the Clusters of a provider.
type clusterReconciler struct {
	name      string
	provider  Provider
	cached    client.Reader
	live      client.Reader
	writer    client.Client
	clock     clock.PassiveClock
	leases    *leases
	conflicts queue.ConflictBackoff[reconcile.Request]
}

// Reconcile does what a Cluster needs now.
func (r *clusterReconciler) Reconcile(ctx context.Context, key reconcile.Request) (reconcile.Result, error) {
	cluster := &openmcpv1alpha1.Cluster{}

	err := r.cached.Get(ctx, key.NamespacedName, cluster)
	if apierrors.IsNotFound(err) || (err == nil && cluster.Spec.ClusterProviderRef.Name != r.name) {
		return reconcile.Result{}, r.forget(ctx, key.NamespacedName)
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("reading Cluster %s: %w", key, err)
	}
	var again time.Duration

	switch hasOurs := slices.Contains(cluster.Finalizers, openmcpv1alpha1.ProviderFinalizer); {
	case cluster.DeletionTimestamp == nil, hasOurs && inUse(cluster):
		again, err = r.keep(ctx, cluster)
	case hasOurs:
		err = r.tearDown(ctx, cluster)
	default: // It is gone in a moment, or stays as others want it: nothing of the provider's is left to do.
	}
	if err != nil {
		return r.conflicts.Result(ctx, key, err)
	}
	return reconcile.Result{RequeueAfter: again}, nil
}

// inUse reports whether others still hold a Cluster that is being deleted.
func inUse(cluster *openmcpv1alpha1.Cluster) bool {
	return slices.ContainsFunc(cluster.Finalizers, func(name string) bool { return name != openmcpv1alpha1.ProviderFinalizer })
}

// keep keeps the real cluster of a Cluster running, and returns when to look again.
func (r *clusterReconciler) keep(ctx context.Context, cluster *openmcpv1alpha1.Cluster) (time.Duration, error) {
	if !controllerutil.ContainsFinalizer(cluster, openmcpv1alpha1.ProviderFinalizer) {
		return 0, objects.AddFinalizer(ctx, r.writer, cluster, openmcpv1alpha1.ProviderFinalizer) // The event of this write continues.
	}
	state, err := r.provider.Ensure(ctx, cluster)
	if err != nil {
		klog.FromContext(ctx).Error(err, "The state of the cluster is not known")
		state = unknownState(cluster, err)
	}

	lease, err := r.lease(ctx, cluster)
	if err != nil {
		return 0, err
	}
	due, err := r.leases.renew(ctx, cluster, lease)
	if err != nil {
		return 0, err
	}

	if err := r.writeStatus(ctx, cluster, state); err != nil {
		return 0, err
	}
	if state.Again > 0 {
		due = min(due, state.Again)
	}
	return due, nil
}

// tearDown deletes the real cluster of a Cluster without other finalizers. It reads the Cluster from the API server first, because the cache
// may show a deleted Cluster when another one of the same name exists already.
func (r *clusterReconciler) tearDown(ctx context.Context, cached *openmcpv1alpha1.Cluster) error {
	key := client.ObjectKeyFromObject(cached)
	cluster := &openmcpv1alpha1.Cluster{}

	err := r.live.Get(ctx, key, cluster)
	if apierrors.IsNotFound(err) {
		return nil // The event of its deletion is on its way.
	}
	if err != nil {
		return fmt.Errorf("reading Cluster %s: %w", key, err)
	}
	if cluster.UID != cached.UID || cluster.DeletionTimestamp == nil || inUse(cluster) {
		return nil
	}

	if err := r.writePhase(ctx, cluster, openmcpv1alpha1.ClusterDeleting); err != nil {
		return err
	}
	if err := r.provider.TearDown(ctx, cluster); err != nil {
		return fmt.Errorf("tear down Cluster %s: %w", key, err)
	}
	lease, err := r.lease(ctx, cluster)
	if err != nil {
		return err
	}

	if err := r.leases.end(ctx, key, lease); err != nil {
		return err
	}
	klog.FromContext(ctx).V(2).Info("Tore the cluster down")

	// It needs no lock, because the API server refuses new finalizers on a Cluster that is being deleted.
	return objects.RemoveFinalizer(ctx, r.writer, cluster, openmcpv1alpha1.ProviderFinalizer, objects.WithoutLock())
}

// lease returns the key of the Lease of a Cluster.
func (r *clusterReconciler) lease(ctx context.Context, cluster *openmcpv1alpha1.Cluster) (types.NamespacedName, error) {
	provider := &openmcpv1alpha1.ClusterProvider{}
	err := r.cached.Get(ctx, types.NamespacedName{Name: r.name}, provider)
	if apierrors.IsNotFound(err) {
		return r.leases.key(cluster, nil), nil
	}
	if err != nil {
		return types.NamespacedName{}, fmt.Errorf("reading ClusterProvider %s: %w", r.name, err)
	}
	return r.leases.key(cluster, provider), nil
}

// forget ends what the provider does for a Cluster that does not exist.
func (r *clusterReconciler) forget(ctx context.Context, key types.NamespacedName) error {
	err := errors.Join(r.provider.Forget(ctx, key), r.leases.forget(ctx, key))
	if err != nil {
		return fmt.Errorf("forget Cluster %s: %w", key, err)
	}
	return nil
}
