// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/hub/consistency"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/metrics"
)

// reconciler keeps what each ClusterRequest was granted.
type reconciler struct {
	ledger    *ledger
	cached    client.Reader
	live      client.Reader
	writer    client.Client
	clock     clock.PassiveClock
	recorder  events.EventRecorder
	running   atomic.Int32 // how many reconciles run
	conflicts queue.ConflictBackoff[reconcile.Request]
	states    *metrics.RequestStates[types.NamespacedName]
	// written has the own writes of requests: a request that is reconciled before the cache shows them would be written again, with a
	// precondition that cannot hold.
	written *consistency.Store
}

// errTakenBack is the reason of a conflict with the failed write of another request to the same Cluster.
var errTakenBack = errors.New("the choice was taken back with that of another request")

// Reconcile does the writes of a request.
func (r *reconciler) Reconcile(ctx context.Context, key reconcile.Request) (reconcile.Result, error) {
	r.running.Add(1)
	defer r.running.Add(-1)
	request := &openmcpv1alpha1.ClusterRequest{}

	err := r.cached.Get(ctx, key.NamespacedName, request)
	if apierrors.IsNotFound(err) {
		r.ledger.forget(key.NamespacedName)
		r.states.Forget(key.NamespacedName)
		r.written.Clear(key.NamespacedName)
		return reconcile.Result{}, nil
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("reading ClusterRequest %s: %w", key, err)
	}

	r.states.Note(key.NamespacedName, metrics.RequestState{Status: string(request.Status.Status), Reason: request.Status.Reason})
	if clusterrequest.Ignored(request) {
		return reconcile.Result{}, nil
	}
	if stale, is := errors.AsType[*consistency.StaleError](r.written.EnsureReady(key.NamespacedName, request.ResourceVersion)); is {
		return reconcile.Result{RequeueAfter: stale.Left}, nil // The event of the write enqueues the request before that.
	}
	if request.DeletionTimestamp != nil {
		return r.conflicts.Result(ctx, key, r.release(ctx, request))
	}

	err = r.grant(ctx, request)
	if exceedsQuota(err) {
		return r.waitForQuota(ctx, request, err)
	}

	if err != nil && !apierrors.IsConflict(err) && !errors.Is(err, queue.ErrOutdated) && request.Status.Status != openmcpv1alpha1.RequestGranted {
		result := clusterrequest.Result{
			Status: openmcpv1alpha1.RequestPending, Reason: openmcpv1alpha1.ReasonError, Message: err.Error(),
		}
		if statusErr := r.writeStatus(ctx, request, result, nil); statusErr != nil {
			klog.FromContext(ctx).V(2).Info("The status could not be written", "err", statusErr)
		}
	}
	return r.conflicts.Result(ctx, key, err)
}

// grant decides on a request that is not being deleted, and does the writes.
func (r *reconciler) grant(ctx context.Context, request *openmcpv1alpha1.ClusterRequest) error {
	isNew, err := r.addFinalizer(ctx, request)
	if err != nil {
		return err
	}
	decided, err := r.decide(ctx, request, isNew)
	if err != nil {
		return err
	}

	if decided.Outcome == clusterrequest.OutcomeReplaced {
		metrics.ObserveRequestDecision(string(decided.Outcome))
		if err := r.replace(ctx, request, decided); err != nil {
			return err
		}
		if decided, err = r.decide(ctx, request, false); err != nil {
			return err
		}
	}
	metrics.ObserveRequestDecision(string(decided.Outcome))

	if decided.Grant == nil {
		return r.writeStatus(ctx, request, decided.Result, nil)
	}
	if err := r.writeGrant(ctx, request, decided); err != nil {
		return err
	}
	if err := r.leaveAll(ctx, r.prove(request), decided.Leave, request.UID); err != nil {
		return err
	}

	ref := decided.Grant.Spec.ClusterRef
	ready := clusterrequest.ClusterReady(request, r.ledger.cluster(types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}))
	return r.writeStatus(ctx, request, decided.Result, &ready)
}

// addFinalizer adds the finalizer to a request, and reports whether the request is new: it had no finalizer at the version that was written.
func (r *reconciler) addFinalizer(ctx context.Context, request *openmcpv1alpha1.ClusterRequest) (isNew bool, err error) {
	if controllerutil.ContainsFinalizer(request, openmcpv1alpha1.RequestFinalizer) {
		return false, nil
	}
	if err := objects.AddFinalizer(ctx, r.writer, request, openmcpv1alpha1.RequestFinalizer); err != nil {
		return false, err
	}
	r.written.WroteAt(client.ObjectKeyFromObject(request), request.ResourceVersion)
	return true, nil
}

// decide decides on a request. Before a choice counts it asks the API server for the Grant, because the cache may not have it yet. A new
// request needs no such read: no hub has written a Grant of it, because the finalizer comes before. If the Grant of a former request of that
// name is not in the cache, the creation of the Grant conflicts with it, and the request is decided again.
func (r *reconciler) decide(ctx context.Context, request *openmcpv1alpha1.ClusterRequest, isNew bool) (clusterrequest.Decision, error) {
	now := metav1.NewTime(r.clock.Now())
	decided := r.ledger.decide(request, now, isNew)
	if isNew || decided.Outcome != clusterrequest.OutcomeChosen {
		return decided, nil
	}
	if err := r.readGrant(ctx, client.ObjectKeyFromObject(request)); err != nil {
		return decided, err
	}
	return r.ledger.decide(request, now, true), nil
}

// readGrant takes the Grant that the API server has into the ledger.
func (r *reconciler) readGrant(ctx context.Context, key types.NamespacedName) error {
	grant := &openmcpv1alpha1.ClusterRequestGrant{}
	err := r.live.Get(ctx, key, grant)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("reading ClusterRequestGrant %s: %w", key, err)
	}
	r.ledger.change(func(c *clusterrequest.Catalog) { c.SetGrant(grant) })
	return nil
}

// writeGrant writes the Cluster of a decision, and then the Grant.
func (r *reconciler) writeGrant(ctx context.Context, request *openmcpv1alpha1.ClusterRequest, decided clusterrequest.Decision) error {
	key := client.ObjectKeyFromObject(request)
	if decided.Cluster != nil {
		cluster, err := r.ledger.write(ctx, client.ObjectKeyFromObject(decided.Cluster))
		if err != nil {
			return err
		}
		if cluster != decided.Cluster && !carries(cluster, request.UID, decided.Grant.Spec.Prefix) {
			return apierrors.NewConflict(openmcpv1alpha1.GroupVersion.WithResource("clusters").GroupResource(), decided.Cluster.Name, errTakenBack)
		}
	}

	grant := decided.Grant.DeepCopy()
	switch decided.Outcome {
	case clusterrequest.OutcomeChosen, clusterrequest.OutcomeRecovered:
		if err := r.writer.Create(ctx, grant); err != nil {
			if apierrors.IsAlreadyExists(err) {
				return errors.Join(r.readGrant(ctx, key), apierrors.NewConflict(
					openmcpv1alpha1.GroupVersion.WithResource("clusterrequestgrants").GroupResource(), key.Name, err))
			}
			return fmt.Errorf("creating ClusterRequestGrant %s: %w", key, err)
		}
	case clusterrequest.OutcomeAdopted:
		if err := r.writer.Update(ctx, grant); err != nil {
			return fmt.Errorf("adopting ClusterRequestGrant %s: %w", key, err)
		}
	default:
		return nil
	}

	klog.FromContext(ctx).V(2).Info("Granted a Cluster", "outcome", decided.Outcome, "cluster", grant.Spec.ClusterRef)
	r.ledger.change(func(c *clusterrequest.Catalog) { c.SetGrant(grant) })
	return nil
}

// carries reports whether a Cluster, which may be nil, has a request with its prefix.
func carries(cluster *openmcpv1alpha1.Cluster, request types.UID, prefix string) bool {
	return cluster != nil && clusterrequest.HasRequest(cluster, request) && clusterrequest.Prefix(cluster, request) == prefix
}

// replace removes the Grant and the finalizers of a former request.
func (r *reconciler) replace(ctx context.Context, request *openmcpv1alpha1.ClusterRequest, decided clusterrequest.Decision) error {
	proved := r.prove(request)
	if err := r.leaveAll(ctx, proved, decided.Leave, clusterrequest.GrantOwner(decided.Obsolete)); err != nil {
		return err
	}
	return r.deleteGrant(ctx, proved, decided.Obsolete)
}

// leaveAll removes the finalizer of a request from Clusters.
func (r *reconciler) leaveAll(ctx context.Context, proved *proof, clusters []*openmcpv1alpha1.Cluster, request types.UID) error {
	for _, cluster := range clusters {
		if err := proved.proceed(ctx); err != nil {
			return err
		}
		if err := r.ledger.leave(ctx, client.ObjectKeyFromObject(cluster), request); err != nil {
			return err
		}
	}
	return nil
}

// deleteGrant deletes a Grant, unless it is another one meanwhile or has changed.
func (r *reconciler) deleteGrant(ctx context.Context, proved *proof, grant *openmcpv1alpha1.ClusterRequestGrant) error {
	key := client.ObjectKeyFromObject(grant)
	if err := proved.proceed(ctx); err != nil {
		return err
	}
	err := r.writer.Delete(ctx, grant, client.Preconditions{UID: &grant.UID, ResourceVersion: &grant.ResourceVersion})
	if apierrors.IsConflict(err) {
		err = errors.Join(err, r.readGrant(ctx, key)) // It is decided again on the present one.
	}

	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting ClusterRequestGrant %s: %w", key, err)
	}
	r.ledger.change(func(c *clusterrequest.Catalog) { c.DeleteGrant(key) })
	return nil
}

// release does the writes for a request that is being deleted. It returns without an error while it waits for the Cluster.
func (r *reconciler) release(ctx context.Context, request *openmcpv1alpha1.ClusterRequest) error {
	key := client.ObjectKeyFromObject(request)
	if !slices.Contains(request.Finalizers, openmcpv1alpha1.RequestFinalizer) {
		return nil
	}
	if err := r.readGrant(ctx, key); err != nil { // The cache may not have it yet.
		return err
	}

	for proved := r.prove(request); ; {
		if err := proved.proceed(ctx); err != nil {
			return err
		}
		switch left := r.ledger.release(request); {
		case len(left.Delete) > 0:
			if err := r.ledger.remove(ctx, left.Delete[0]); err != nil {
				return err
			}
		case len(left.Leave) > 0:
			if err := r.ledger.leave(ctx, client.ObjectKeyFromObject(left.Leave[0]), request.UID); err != nil {
				return err
			}
		case left.WaitFor != nil:
			return nil
		case left.Grant != nil:
			if err := r.deleteGrant(ctx, proved, left.Grant); err != nil {
				return err
			}
		default:
			return r.letGo(ctx, request)
		}
	}
}

// letGo removes the finalizer of a request.
func (r *reconciler) letGo(ctx context.Context, request *openmcpv1alpha1.ClusterRequest) error {
	r.ledger.forget(client.ObjectKeyFromObject(request))
	return objects.RemoveFinalizer(ctx, r.writer, request, openmcpv1alpha1.RequestFinalizer)
}
