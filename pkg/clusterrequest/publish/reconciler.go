// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// reconciler keeps the ManagedClusters of Clusters.
type reconciler struct {
	client client.Client
	// live reads from the API server, and objects is the cache of objectCache.
	live, objects client.Reader
	heartbeats    *heartbeats
	formats       []api.Codec
	recorder      events.EventRecorder
	clock         clock.PassiveClock
	drainTimeout  time.Duration
	defaultSet    string
	// served has the CustomResourceDefinition of Clusters under which this start of the system sees Clusters. The system ends with it.
	served    servedDefinition
	conflicts queue.ConflictBackoff[reconcile.Request]
}

// cycle is one reconcile of a Cluster.
type cycle struct {
	reconcile.Request

	// cluster is nil if there is none.
	cluster *openmcpv1alpha1.Cluster
	// managed is the ManagedCluster of the Cluster and namespace the metadata of its namespace. Each is nil if there is none.
	managed   *clusterv1.ManagedCluster
	namespace *metav1.PartialObjectMetadata
	// lease is that of the provider, if the Cluster is published.
	lease types.NamespacedName
	// providerLost reports whether the ClusterProvider, or its profile, may have been lost with its CustomResourceDefinition.
	providerLost bool
	// provedAt is when the API server said that the Cluster is being deleted or gone.
	provedAt time.Time
	// taken names an object that has the name of the ManagedCluster, but is not that of the Cluster; empty if there is none.
	taken string
}

// name returns the name of the ManagedCluster and of its namespace.
func (c *cycle) name() string { return clusterrequest.ManagedClusterName(c.NamespacedName) }

// Reconcile does the writes for a Cluster.
func (r *reconciler) Reconcile(ctx context.Context, key reconcile.Request) (reconcile.Result, error) {
	c, err := r.read(ctx, key)
	if err != nil {
		return reconcile.Result{}, err
	}
	var again time.Duration

	switch {
	case c.cluster == nil || c.cluster.DeletionTimestamp != nil:
		again, err = r.withdraw(ctx, c)
	case clusterrequest.IsToBePublished(c.cluster, c.managed != nil):
		again, err = r.publish(ctx, c)
	}
	if err != nil && !queue.Outdated(err) && !queue.Terminating(err) {
		r.event(c, corev1.EventTypeWarning, openmcpv1alpha1.ReasonError, err.Error())
	}

	if queue.Terminating(err) { // The deletion of the namespace enqueues the Cluster again.
		err = nil
	}
	result, err := r.conflicts.Result(ctx, key, err)
	if err != nil || result.RequeueAfter > 0 {
		return result, err
	}
	return reconcile.Result{RequeueAfter: again}, nil
}

// read reads what the caches have of a Cluster.
func (r *reconciler) read(ctx context.Context, key reconcile.Request) (*cycle, error) {
	c := &cycle{Request: key, cluster: &openmcpv1alpha1.Cluster{}, managed: &clusterv1.ManagedCluster{}, namespace: metadataOf("Namespace")}

	err := r.client.Get(ctx, key.NamespacedName, c.cluster)
	if apierrors.IsNotFound(err) {
		c.cluster, err = nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading Cluster %s: %w", key, err)
	}
	name := types.NamespacedName{Name: c.name()}

	err = r.client.Get(ctx, name, c.managed)
	switch {
	case apierrors.IsNotFound(err):
		c.managed = nil
	case err != nil:
		return nil, fmt.Errorf("reading ManagedCluster %s: %w", name.Name, err)
	case !clusterrequest.IsPublished(c.managed, key.NamespacedName):
		c.managed, c.taken = nil, "ManagedCluster"
	}
	err = r.objects.Get(ctx, name, c.namespace)
	switch {
	case apierrors.IsNotFound(err):
		c.namespace = nil
	case err != nil:
		return nil, fmt.Errorf("reading Namespace %s: %w", name.Name, err)
	case !clusterrequest.IsPublished(c.namespace, key.NamespacedName):
		c.namespace, c.taken = nil, "Namespace"
	}

	return c, nil
}
