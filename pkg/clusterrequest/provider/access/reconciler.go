// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
)

// soonestRenewal is the shortest time between two renewals, however short the token lives by the clock of the provider.
const soonestRenewal = time.Minute

// reconciler gives and removes the access of AccessRequests.
type reconciler struct {
	Settings

	// connect returns the cluster of a client configuration.
	connect func(*rest.Config) (*target, error)
	cached  client.Reader
	// live reads Secrets from the API server, and clusters reads Clusters and lists AccessRequests.
	live      client.Reader
	clusters  client.Reader
	writer    client.Client
	left      *leftovers
	conflicts queue.ConflictBackoff[reconcile.Request]
	refusals  workqueue.TypedRateLimiter[reconcile.Request]
}

// refusal is why an AccessRequest is not granted, where the fault is not the provider's.
type refusal struct {
	phase           openmcpv1alpha1.RequestPhase
	reason, message string
}

// Error returns the message.
func (r *refusal) Error() string { return r.message }

// Reconcile does the writes of an AccessRequest.
func (r *reconciler) Reconcile(ctx context.Context, key reconcile.Request) (reconcile.Result, error) {
	if err := r.sweep(ctx, key.NamespacedName); err != nil {
		return r.conflicts.Result(ctx, key, err)
	}
	request := &openmcpv1alpha1.AccessRequest{}

	err := r.cached.Get(ctx, key.NamespacedName, request)
	if apierrors.IsNotFound(err) {
		r.refusals.Forget(key)
		return reconcile.Result{}, nil
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("reading AccessRequest %s: %w", key, err)
	}
	renewal, err := r.act(ctx, request)

	if refused, is := errors.AsType[*refusal](err); is {
		if err = r.writeOutcome(ctx, request, *refused, request.Status.SecretRef); err == nil {
			return reconcile.Result{RequeueAfter: r.refusals.When(key)}, nil
		}
	}

	if err != nil {
		if !apierrors.IsConflict(err) {
			err = errors.Join(err, r.writeFailure(ctx, request, err))
		}
		return r.conflicts.Result(ctx, key, err)
	}
	r.refusals.Forget(key)
	if renewal.IsZero() {
		return r.conflicts.Result(ctx, key, nil)
	}
	return reconcile.Result{RequeueAfter: max(renewal.Sub(r.Clock.Now()), soonestRenewal)}, nil
}

// act does what an AccessRequest needs of this provider. It returns when the token has to be renewed; zero for never.
func (r *reconciler) act(ctx context.Context, request *openmcpv1alpha1.AccessRequest) (time.Time, error) {
	if request.Status.ClusterRef == nil {
		return time.Time{}, nil
	}
	cluster, err := r.cluster(ctx, request)
	if err != nil {
		return time.Time{}, err
	}

	switch clusterrequest.AccessDutyOf(r.Provider, request, cluster) {
	case clusterrequest.AccessGrant:
		return r.grant(ctx, request, cluster)
	case clusterrequest.AccessWithdraw:
		return time.Time{}, r.withdraw(ctx, request, cluster)
	case clusterrequest.AccessRelease:
		return time.Time{}, r.letGo(ctx, request)
	default:
		return time.Time{}, nil
	}
}

// cluster returns the Cluster of an AccessRequest; nil if the API server says that it does not exist.
func (r *reconciler) cluster(ctx context.Context, request *openmcpv1alpha1.AccessRequest) (*openmcpv1alpha1.Cluster, error) {
	cluster := &openmcpv1alpha1.Cluster{}

	// What follows from its absence cannot be taken back.
	err := objects.Reader{Cached: r.cached, Live: r.clusters}.Get(ctx, clusterKey(request), cluster)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading Cluster %s: %w", clusterKey(request), err)
	default:
		return cluster, nil
	}
}

// grant gives the access of an AccessRequest, and returns when its token has to be renewed.
func (r *reconciler) grant(
	ctx context.Context, request *openmcpv1alpha1.AccessRequest, cluster *openmcpv1alpha1.Cluster,
) (time.Time, error) {
	config, err := r.Targets.Admin(ctx, cluster)
	if errors.Is(err, ErrNoAccess) {
		return time.Time{}, &refusal{openmcpv1alpha1.RequestDenied, openmcpv1alpha1.ReasonNoAccess, fmt.Sprintf(
			"ClusterProvider %s gives no access to its clusters: ask for a Cluster of another profile", r.Provider)}
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("reach the cluster of Cluster %s: %w", clusterKey(request), err)
	}

	target, err := r.connect(config)
	if err != nil {
		return time.Time{}, err
	}
	if err := objects.AddFinalizer(ctx, r.writer, request, openmcpv1alpha1.AccessFinalizer); err != nil {
		return time.Time{}, err
	}

	account, err := target.give(ctx, clusterrequest.NewAccess(r.Environment, r.Provider, request))
	if err != nil {
		return time.Time{}, err
	}
	renewal, err := r.writeSecret(ctx, request, target, account)
	if err != nil {
		return time.Time{}, err
	}
	granted := refusal{phase: openmcpv1alpha1.RequestGranted, reason: openmcpv1alpha1.ReasonSuccess}
	return renewal, r.writeOutcome(ctx, request, granted, &openmcpv1alpha1.ObjectName{Name: clusterrequest.SecretName(request.Name)})
}

// withdraw removes the access of an AccessRequest, and then its finalizer.
func (r *reconciler) withdraw(ctx context.Context, request *openmcpv1alpha1.AccessRequest, cluster *openmcpv1alpha1.Cluster) error {
	target, err := r.reach(ctx, cluster)
	if err != nil {
		return err
	}

	if target != nil { // Where the provider gives no access there is none.
		if err := target.withdraw(ctx, clusterrequest.NewAccess(r.Environment, r.Provider, request).ID); err != nil {
			return err
		}
	}
	return r.letGo(ctx, request)
}

// letGo removes the Secret of an AccessRequest, and then its finalizer.
func (r *reconciler) letGo(ctx context.Context, request *openmcpv1alpha1.AccessRequest) error {
	if err := r.deleteSecret(ctx, request); err != nil {
		return err
	}
	if err := r.writeNoSecret(ctx, request); err != nil {
		return err
	}
	if err := objects.RemoveFinalizer(ctx, r.writer, request, openmcpv1alpha1.AccessFinalizer); err != nil {
		return err
	}
	klog.FromContext(ctx).V(2).Info("Removed the access", "cluster", clusterKey(request))
	return nil
}
