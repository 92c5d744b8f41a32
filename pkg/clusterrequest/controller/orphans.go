// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
)

// The indexes of the cache.
const (
	requestUID = "metadata.uid"
	grantOwner = "owner"
)

// reasonOrphansRemoved is the reason of the Event on a Cluster that loses finalizers of requests that do not exist.
const reasonOrphansRemoved = "OrphanedRequestsRemoved"

// reasonOrphansHeld is the reason of the Event on a Cluster that keeps such finalizers, because the requests may have been lost with their
// definition.
const reasonOrphansHeld = "OrphanedRequestsHeld"

// orphans takes the finalizers of requests that do not exist off Clusters, with their prefixes. It never deletes a Cluster.
type orphans struct {
	ledger       *ledger
	cached, live client.Reader
	recorder     events.EventRecorder
	conflicts    queue.ConflictBackoff[reconcile.Request]
}

// indexRequests has requests and Grants found in the cache by the UID of the request.
func indexRequests(ctx context.Context, mgr manager.Manager) error {
	indexer := mgr.GetFieldIndexer()

	err := indexer.IndexField(ctx, &openmcpv1alpha1.ClusterRequest{}, requestUID, func(object client.Object) []string {
		return []string{string(object.GetUID())}
	})
	if err != nil {
		return fmt.Errorf("indexing ClusterRequests: %w", err)
	}

	err = indexer.IndexField(ctx, &openmcpv1alpha1.ClusterRequestGrant{}, grantOwner, func(object client.Object) []string {
		grant, isGrant := object.(*openmcpv1alpha1.ClusterRequestGrant)
		if !isGrant {
			return nil
		}
		return []string{string(clusterrequest.GrantOwner(grant))}
	})
	if err != nil {
		return fmt.Errorf("indexing ClusterRequestGrants: %w", err)
	}
	return nil
}

// Reconcile removes the finalizers of requests that do not exist from a Cluster. It finds candidates in the cache and confirms each by a read
// from the API server. A UID is never used again, so a request that is missing there after its finalizer was seen is gone. The finalizers stay
// where the definition of requests is not older than the Cluster: the requests may come back with their Grants.
func (o *orphans) Reconcile(ctx context.Context, key reconcile.Request) (reconcile.Result, error) {
	cluster := &openmcpv1alpha1.Cluster{}
	if err := o.cached.Get(ctx, key.NamespacedName, cluster); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	suspects, err := o.suspects(ctx, clusterrequest.RequestUIDs(cluster))
	if err != nil || len(suspects) == 0 {
		return reconcile.Result{}, err
	}

	gone, err := o.gone(ctx, suspects)
	if err != nil || len(gone) == 0 {
		return reconcile.Result{}, err
	}
	served, err := definition(ctx, o.live)
	if err != nil {
		return reconcile.Result{}, err
	}

	if served.MayHaveTaken(cluster) {
		o.recorder.Eventf(referenceTo(cluster, "Cluster"), nil, corev1.EventTypeWarning, reasonOrphansHeld, action,
			"%d ClusterRequests that have this Cluster are gone, perhaps with a former CustomResourceDefinition: their finalizers stay until "+
				"their ClusterRequestGrants are there again. Remove finalizers %s<UID> that nothing needs",
			len(gone), openmcpv1alpha1.RequestFinalizerPrefix)
		return reconcile.Result{}, nil
	}
	if err := o.ledger.read(ctx, key.NamespacedName); err != nil {
		return reconcile.Result{}, err
	}

	if err := o.ledger.leave(ctx, key.NamespacedName, gone...); err != nil {
		return o.conflicts.Result(ctx, key, err)
	}
	klog.FromContext(ctx).Info("Removed the finalizers of requests that do not exist", "requests", gone)
	o.recorder.Eventf(referenceTo(cluster, "Cluster"), nil, corev1.EventTypeNormal, reasonOrphansRemoved, action,
		"Removed the finalizers of %d ClusterRequests that do not exist", len(gone))
	return reconcile.Result{}, nil
}

// suspects returns the requests of which the cache has neither the ClusterRequest nor a Grant.
func (o *orphans) suspects(ctx context.Context, requests []types.UID) ([]types.UID, error) {
	var suspects []types.UID
	for _, uid := range requests {
		found := &openmcpv1alpha1.ClusterRequestList{}
		if err := o.cached.List(ctx, found, client.MatchingFields{requestUID: string(uid)}, client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("look for ClusterRequest %s: %w", uid, err)
		}
		grants := &openmcpv1alpha1.ClusterRequestGrantList{}
		if err := o.cached.List(ctx, grants, client.MatchingFields{grantOwner: string(uid)}, client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("look for the ClusterRequestGrant of %s: %w", uid, err)
		}

		if len(found.Items) == 0 && len(grants.Items) == 0 {
			suspects = append(suspects, uid)
		}
	}

	return suspects, nil
}

// gone returns the suspects of which the API server has neither the ClusterRequest nor a Grant.
func (o *orphans) gone(ctx context.Context, suspects []types.UID) ([]types.UID, error) {
	known := map[types.UID]bool{}
	for _, kind := range []string{"ClusterRequest", "ClusterRequestGrant"} {
		list := objects.MetadataList(openmcpv1alpha1.GroupVersion.WithKind(kind))
		if err := o.live.List(ctx, list); err != nil {
			return nil, fmt.Errorf("listing all %ss: %w", kind, err)
		}
		for i := range list.Items {
			known[list.Items[i].UID] = true
			for _, owner := range list.Items[i].OwnerReferences {
				known[owner.UID] = true
			}
		}
	}

	return slices.DeleteFunc(suspects, func(uid types.UID) bool { return known[uid] }), nil
}

// withRequest returns the Clusters that have the finalizer of a request.
func (l *ledger) withRequest(request types.UID) []types.NamespacedName {
	l.mu.Lock()
	defer l.mu.Unlock()
	return keysOf(l.catalog.ClustersOf(request))
}

// requestEvent concerns the Clusters of a request that is gone.
func (o *orphans) requestEvent(_, request *openmcpv1alpha1.ClusterRequest, deleted bool) []types.NamespacedName {
	if !deleted {
		return nil
	}
	return o.ledger.withRequest(request.UID)
}

// grantEvent concerns the Clusters of a request that has lost its Grant.
func (o *orphans) grantEvent(old, grant *openmcpv1alpha1.ClusterRequestGrant, deleted bool) []types.NamespacedName {
	switch {
	case deleted:
		return o.ledger.withRequest(clusterrequest.GrantOwner(grant))
	case old != nil && clusterrequest.GrantOwner(old) != clusterrequest.GrantOwner(grant):
		return o.ledger.withRequest(clusterrequest.GrantOwner(old))
	default:
		return nil
	}
}

// referenceTo returns a reference to an object of the system for an Event.
func referenceTo(object client.Object, kind string) *corev1.ObjectReference {
	return &corev1.ObjectReference{
		APIVersion: openmcpv1alpha1.GroupVersion.String(), Kind: kind, Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID(),
	}
}
