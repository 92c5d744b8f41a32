// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
)

const (
	// SweepName is the name of the controller that looks for what is left of accesses.
	SweepName = "clusterprovider/access-sweep"
	// sweepInterval is the time between two looks at one cluster (docs/spec/trust.md R7).
	sweepInterval = 10 * time.Minute
	// sweepRetry is the time after which a cluster is looked at again that could not be reached, such as one that starts with the provider.
	sweepRetry = 30 * time.Second
)

// sweeper looks at the cluster of each Cluster for objects of accesses that have ended, and has their AccessRequests reconciled, whose
// reconciler removes them: so that an AccessRequest of the same name is not given its access at the same time.
type sweeper struct {
	*reconciler

	// found has an event for each AccessRequest with objects that are left.
	found chan event.TypedGenericEvent[client.Object]
}

// leftovers has the Clusters on which objects of accesses were found that have ended, by the key of the AccessRequest. It is safe for concurrent
// use.
type leftovers struct {
	mu       sync.Mutex
	clusters map[types.NamespacedName][]types.NamespacedName
}

// Reconcile looks at the cluster of a Cluster. A cluster that does not answer is looked at again, and is no error: the controllers of Clusters
// report it.
func (s *sweeper) Reconcile(ctx context.Context, key reconcile.Request) (reconcile.Result, error) {
	cluster := &openmcpv1alpha1.Cluster{}

	err := s.cached.Get(ctx, key.NamespacedName, cluster)
	if apierrors.IsNotFound(err) {
		return reconcile.Result{}, nil
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("reading Cluster %s: %w", key, err)
	}
	marks, err := s.marks(ctx, cluster)
	if err != nil {
		klog.FromContext(ctx).V(2).Info("The cluster could not be looked at for what is left of AccessRequests", "err", err)
		return reconcile.Result{RequeueAfter: sweepRetry}, nil
	}

	for _, mark := range marks {
		request := &openmcpv1alpha1.AccessRequest{}
		err := s.cached.Get(ctx, mark.Request, request)
		if apierrors.IsNotFound(err) {
			request, err = nil, nil
		}
		if err != nil {
			return reconcile.Result{}, fmt.Errorf("reading AccessRequest %s: %w", mark.Request, err)
		}
		if !mark.Left(request, key.NamespacedName) {
			continue
		}

		s.left.add(mark.Request, key.NamespacedName)
		named := &openmcpv1alpha1.AccessRequest{ObjectMeta: metav1.ObjectMeta{Namespace: mark.Request.Namespace, Name: mark.Request.Name}}
		select {
		case s.found <- event.TypedGenericEvent[client.Object]{Object: named}:
		case <-ctx.Done():
			return reconcile.Result{}, fmt.Errorf("sweeping Cluster %s: %w", key, ctx.Err())
		}
	}
	return reconcile.Result{RequeueAfter: sweepInterval}, nil
}

// deleted enqueues an AccessRequest that went before its access was removed, which is when its status has no Secret any more.
func (r *reconciler) deleted(
	_ context.Context, e event.DeleteEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request],
) {
	request, is := e.Object.(*openmcpv1alpha1.AccessRequest)
	if !is || request.Status.ClusterRef == nil || request.Status.SecretRef == nil {
		return
	}
	key := client.ObjectKeyFromObject(request)
	r.left.add(key, clusterKey(request))
	q.Add(reconcile.Request{NamespacedName: key})
}

// marks returns the marks of the objects that this provider made on the cluster of a Cluster, each once.
func (s *sweeper) marks(ctx context.Context, cluster *openmcpv1alpha1.Cluster) ([]clusterrequest.AccessMark, error) {
	target, err := s.reach(ctx, cluster)
	if target == nil || err != nil {
		return nil, err
	}
	present, err := target.list(ctx, client.HasLabels{openmcpv1alpha1.AccessIDLabel})
	if err != nil {
		return nil, err
	}

	var marks []clusterrequest.AccessMark
	for _, object := range present.missing(&accessObjects{}) {
		mark := clusterrequest.AccessMarkOf(object)
		if mark.By(s.Environment, s.Provider) && !slices.Contains(marks, mark) {
			marks = append(marks, mark)
		}
	}
	return marks, nil
}

// reach returns the cluster of a Cluster; nil if the provider gives no access to it.
func (r *reconciler) reach(ctx context.Context, cluster *openmcpv1alpha1.Cluster) (*target, error) {
	config, err := r.Targets.Admin(ctx, cluster)
	if errors.Is(err, ErrNoAccess) {
		return nil, nil //nolint:nilnil // There is nothing to reach, and that is no error.
	}
	if err != nil {
		return nil, fmt.Errorf("reach the cluster of Cluster %s: %w", client.ObjectKeyFromObject(cluster), err)
	}
	return r.connect(config)
}

// sweep removes what is left of the accesses of a name, on the clusters where it was found. The API server says first which AccessRequest has
// the name now: a list, because a kind that is not served has no objects to a get.
func (r *reconciler) sweep(ctx context.Context, key types.NamespacedName) error {
	clusters := r.left.of(key)
	if len(clusters) == 0 {
		return nil
	}
	found, err := objects.LiveObject(ctx, r.clusters, &openmcpv1alpha1.AccessRequestList{}, key)
	if err != nil {
		return err
	}
	request, is := found.(*openmcpv1alpha1.AccessRequest)
	if found != nil && !is {
		return fmt.Errorf("reading AccessRequest %s: the API server has a %T", key, found)
	}

	for _, name := range clusters {
		if err := r.sweepCluster(ctx, key, request, name); err != nil {
			return err
		}
		r.left.remove(key, name)
	}
	return nil
}

// sweepCluster removes what is left of the accesses of a name on the cluster of a Cluster.
func (r *reconciler) sweepCluster(
	ctx context.Context, key types.NamespacedName, request *openmcpv1alpha1.AccessRequest, name types.NamespacedName,
) error {
	cluster := &openmcpv1alpha1.Cluster{}
	err := r.cached.Get(ctx, name, cluster)
	if apierrors.IsNotFound(err) || err == nil && cluster.Spec.ClusterProviderRef.Name != r.Provider {
		return nil // Its cluster goes with it, and a new one of the name is looked at again.
	}
	if err != nil {
		return fmt.Errorf("reading Cluster %s: %w", name, err)
	}
	target, err := r.reach(ctx, cluster)
	if target == nil || err != nil {
		return err
	}

	removed, err := target.sweep(ctx, clusterrequest.AccessID(r.Environment, r.Provider, key),
		func(mark clusterrequest.AccessMark) bool { return mark.Left(request, name) })
	if removed > 0 {
		klog.FromContext(ctx).Info("Removed what was left of an access: its AccessRequest has gone without its finalizer",
			"cluster", name, "objects", removed)
	}
	return err
}

// sweep deletes the objects with an ID that are left, and what binds roles before the roles. It returns their number.
func (t *target) sweep(ctx context.Context, id string, left func(clusterrequest.AccessMark) bool) (int, error) {
	present, err := t.present(ctx, id)
	if err != nil {
		return 0, err
	}
	removed := 0
	for _, object := range present.inOrderOfDeletion(&accessObjects{}) {
		if !left(clusterrequest.AccessMarkOf(object)) {
			continue
		}
		if err := remove(ctx, t.client, object); err != nil {
			return removed, err
		}
		removed++
	}
	return removed, nil
}

// add takes note of objects on a Cluster.
func (l *leftovers) add(request, cluster types.NamespacedName) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.clusters == nil {
		l.clusters = map[types.NamespacedName][]types.NamespacedName{}
	}
	if !slices.Contains(l.clusters[request], cluster) {
		l.clusters[request] = append(l.clusters[request], cluster)
	}
}

// of returns the Clusters of an AccessRequest.
func (l *leftovers) of(request types.NamespacedName) []types.NamespacedName {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.clusters[request])
}

// remove forgets the objects on a Cluster.
func (l *leftovers) remove(request, cluster types.NamespacedName) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clusters[request] = slices.DeleteFunc(l.clusters[request], func(c types.NamespacedName) bool { return c == cluster })
	if len(l.clusters[request]) == 0 {
		delete(l.clusters, request)
	}
}
