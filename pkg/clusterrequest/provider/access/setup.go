// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
)

const (
	// Name is the name of the controller.
	Name = "clusterprovider/access"
	// DefaultTokenLifetime is the lifetime of tokens where Settings has none.
	DefaultTokenLifetime = 30 * 24 * time.Hour

	fieldManager = "placement-hub-provider"
	// clusterIndex finds AccessRequests by the <namespace>/<name> of their status.clusterRef.
	clusterIndex = "status.clusterRef"
	// firstRetry and longestRetry bound the backoff after a refusal that a change of the cluster may end: nothing there is watched.
	firstRetry   = time.Second
	longestRetry = 5 * time.Minute
)

// ErrNoAccess means that the provider gives no access to a Cluster: the AccessRequest is denied with the reason NoAccess.
var ErrNoAccess = errors.New("the provider gives no access to this cluster")

// Targets reaches the clusters of a provider. It has to be safe for concurrent use.
type Targets interface {
	// Admin returns a client configuration with all rights on the cluster of a Cluster. Kubeconfigs get its server and its certificate
	// authority. The error ErrNoAccess, also wrapped, is final; any other error is retried.
	Admin(ctx context.Context, cluster *openmcpv1alpha1.Cluster) (*rest.Config, error)
}

// Settings are the settings of a provider.
type Settings struct {
	// Provider is the name of the ClusterProvider.
	Provider string
	// Environment distinguishes hubs whose providers have the same name and reach the same cluster. After a
	// change, the objects of the former value stay on the clusters.
	Environment string
	// TokenLifetime is how long tokens live, DefaultTokenLifetime if it is 0. API servers refuse less than 10 minutes.
	TokenLifetime time.Duration
	// Targets reaches the clusters.
	Targets Targets
	// Clock has the time by which tokens are renewed.
	Clock clock.PassiveClock
	// Workers is how many AccessRequests are reconciled at the same time.
	Workers int
	// Timeout is the timeout of one reconcile with all its writes.
	Timeout time.Duration
}

// Setup adds the controllers of a provider to a manager.
func Setup(mgr manager.Manager, settings Settings) error {
	if settings.TokenLifetime == 0 {
		settings.TokenLifetime = DefaultTokenLifetime
	}
	err := mgr.GetFieldIndexer().IndexField(context.Background(), &openmcpv1alpha1.AccessRequest{}, clusterIndex, indexCluster)
	if err != nil {
		return fmt.Errorf("index AccessRequests by their Cluster: %w", err)
	}

	clusters, err := objects.NewConfirmed(mgr)
	if err != nil {
		return err
	}
	r := &reconciler{
		Settings: settings, connect: newTarget, cached: mgr.GetCache(), live: mgr.GetAPIReader(), clusters: clusters,
		writer:    client.WithFieldOwner(mgr.GetClient(), fieldManager),
		left:      &leftovers{},
		conflicts: queue.NewConflictBackoff[reconcile.Request](),
		refusals:  workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, longestRetry),
	}
	sweeps := &sweeper{reconciler: r, found: make(chan event.TypedGenericEvent[client.Object])}
	if err := setupSweeper(mgr, sweeps); err != nil {
		return err
	}
	return builder.ControllerManagedBy(mgr). //nolint:wrapcheck // Named by the caller.
							Named(Name).
							For(&openmcpv1alpha1.AccessRequest{}). // With its status: the hub writes what the provider acts by.
							Watches(&openmcpv1alpha1.Cluster{}, queue.Indexed[openmcpv1alpha1.AccessRequestList](r.cached, clusterIndex)).
							Watches(&openmcpv1alpha1.AccessRequest{}, handler.Funcs{DeleteFunc: r.deleted}).
							WatchesRawSource(source.Channel(sweeps.found, &handler.EnqueueRequestForObject{})).
							WithOptions(queue.Options[reconcile.Request](queue.Settings{Workers: settings.Workers, Timeout: settings.Timeout})).
							Complete(r)
}

// setupSweeper adds the controller of what is left to a manager. It looks at a cluster at the start, when its Cluster is created, and from then
// on by itself.
func setupSweeper(mgr manager.Manager, s *sweeper) error {
	own := predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool {
			cluster, is := e.Object.(*openmcpv1alpha1.Cluster)
			return is && cluster.Spec.ClusterProviderRef.Name == s.Provider
		},
		UpdateFunc: func(event.UpdateEvent) bool { return false },
		DeleteFunc: func(event.DeleteEvent) bool { return false },
	}
	err := builder.ControllerManagedBy(mgr).
		Named(SweepName).
		For(&openmcpv1alpha1.Cluster{}, builder.WithPredicates(own)).
		WithOptions(queue.Options[reconcile.Request](queue.Settings{Workers: s.Workers, Timeout: s.Timeout})).
		Complete(s)
	if err != nil {
		return fmt.Errorf("controller %s: %w", SweepName, err)
	}
	return nil
}

// indexCluster returns the values of clusterIndex.
func indexCluster(object client.Object) []string {
	request, isRequest := object.(*openmcpv1alpha1.AccessRequest)
	if !isRequest || request.Status.ClusterRef == nil {
		return nil
	}
	return []string{clusterKey(request).String()}
}

// clusterKey returns the key of the Cluster in the status of an AccessRequest.
func clusterKey(request *openmcpv1alpha1.AccessRequest) types.NamespacedName {
	return types.NamespacedName{Namespace: request.Status.ClusterRef.Namespace, Name: request.Status.ClusterRef.Name}
}
