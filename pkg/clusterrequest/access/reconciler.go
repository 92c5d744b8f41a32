// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
)

// deniedPeriod is the time after which an AccessRequest is decided on again that was denied for another reason than a right.
const deniedPeriod = 5 * time.Minute

// reconciler resolves AccessRequests.
type reconciler struct {
	cached    client.Reader
	live      client.Reader
	writer    client.Client
	recorder  events.EventRecorder
	clock     clock.PassiveClock
	rights    *recentRights
	reviews   *reviews
	conflicts queue.ConflictBackoff[reconcile.Request]
}

// Reconcile does the writes of an AccessRequest.
func (r *reconciler) Reconcile(ctx context.Context, key reconcile.Request) (reconcile.Result, error) {
	access := &openmcpv1alpha1.AccessRequest{}

	err := r.cached.Get(ctx, key.NamespacedName, access)
	if apierrors.IsNotFound(err) {
		r.reviews.forget(key.NamespacedName)
		return reconcile.Result{}, nil
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("reading AccessRequest %s: %w", key, err)
	}
	if access.DeletionTimestamp != nil {
		return r.conflicts.Result(ctx, key, r.find(ctx, access))
	}

	expires, limited := clusterrequest.ExpiryTime(access)
	left := expires.Sub(r.clock.Now())
	if limited && left <= 0 {
		return r.conflicts.Result(ctx, key, r.expire(ctx, access))
	}

	again, err := r.resolve(ctx, access)
	if err != nil {
		if !apierrors.IsConflict(err) {
			err = errors.Join(err, r.writeFailure(ctx, access, err))
		}
		return r.conflicts.Result(ctx, key, err)
	}
	if limited && (again == 0 || left < again) {
		again = left
	}

	result, err := r.conflicts.Result(ctx, key, nil)
	result.RequeueAfter = again
	return result, err
}

// expire deletes an AccessRequest whose time is over.
func (r *reconciler) expire(ctx context.Context, access *openmcpv1alpha1.AccessRequest) error {
	err := client.IgnoreNotFound(r.writer.Delete(ctx, access, client.Preconditions{UID: &access.UID, ResourceVersion: &access.ResourceVersion}))
	if err != nil {
		return fmt.Errorf("deleting AccessRequest %s, whose ttl is over: %w", client.ObjectKeyFromObject(access), err)
	}
	klog.FromContext(ctx).V(2).Info("Deleted an AccessRequest whose ttl is over", "ttl", access.Spec.TTL.Duration)
	r.recorder.Eventf(access, nil, corev1.EventTypeNormal, "Expired", "DeleteAccessRequest", "deleted %s after its creation, as its ttl says",
		access.Spec.TTL.Duration)
	return nil
}

// release removes the finalizer of a provider that gives no access.
func (r *reconciler) release(ctx context.Context, access *openmcpv1alpha1.AccessRequest) error {
	klog.FromContext(ctx).V(2).Info("Removed the finalizer of a provider that gives no access")
	return objects.RemoveFinalizer(ctx, r.writer, access, openmcpv1alpha1.AccessFinalizer)
}

// find restores the Cluster in the status of an AccessRequest that is being deleted, and the labels: without the one no provider knows where to
// remove the access, and without the others admission does not let the provider remove its finalizer. It releases an AccessRequest whose provider
// gives no access.
func (r *reconciler) find(ctx context.Context, access *openmcpv1alpha1.AccessRequest) error {
	if !slices.Contains(access.Finalizers, openmcpv1alpha1.AccessFinalizer) {
		return nil
	}
	to, err := referents(ctx, r.live, access)
	if err != nil {
		return err
	}
	if clusterrequest.HubReleasesAccess(access, to) {
		return r.release(ctx, access)
	}

	if _, labelled := access.Labels[openmcpv1alpha1.ProviderLabel]; !labelled && to.Cluster != nil {
		if err := r.label(ctx, access, clusterrequest.AccessResolution{Cluster: to.Cluster}.Labels()); err != nil {
			return err
		}
	}
	if access.Status.ClusterRef != nil {
		return nil
	}
	resolution := clusterrequest.AccessResolution{Result: clusterrequest.Result{
		Status: openmcpv1alpha1.RequestPending, Reason: openmcpv1alpha1.ReasonInvalidReference, Message: fmt.Sprintf(
			"it is not known any more which Cluster the access is to: remove finalizer %s after a look for objects with label %s=%s on clusters",
			openmcpv1alpha1.AccessFinalizer, openmcpv1alpha1.AccessRequestNameLabel, access.Name),
	}}

	key, found := clusterrequest.AccessCluster(access, to)
	changed := access.DeepCopy()
	if !found {
		return r.writeStatus(ctx, access, changed, resolution)
	}
	changed.Status.ClusterRef = &openmcpv1alpha1.NamespacedName{Namespace: key.Namespace, Name: key.Name}
	return r.patchStatus(ctx, access, changed)
}

// resolve decides on an AccessRequest. It returns after which time it has to be decided on again; 0 for never.
func (r *reconciler) resolve(ctx context.Context, access *openmcpv1alpha1.AccessRequest) (time.Duration, error) {
	condition := meta.FindStatusCondition(access.Status.Conditions, openmcpv1alpha1.ConditionResolved)
	changed := access.DeepCopy()
	if access.Status.ClusterRef != nil && condition != nil && condition.Status == metav1.ConditionFalse {
		if slices.Contains(access.Finalizers, openmcpv1alpha1.AccessFinalizer) {
			return 0, r.releaseUnserved(ctx, access) // The provider removes the access.
		}
		if err := r.label(ctx, changed, nil); err != nil {
			return 0, err
		}
		changed.Status.ClusterRef = nil
	}

	resolution, err := r.decide(ctx, r.cached, changed)
	if err == nil && resolution.Resolved == metav1.ConditionFalse && changed.Status.ClusterRef != nil {
		resolution, err = r.decide(ctx, r.live, changed) // The cache may be old, and access is taken away.
	}
	if err != nil {
		return 0, err
	}
	if r.waits(access, resolution) {
		return rightsDelay, nil
	}

	if resolution.Resolved == metav1.ConditionTrue {
		if err := r.label(ctx, changed, resolution.Labels()); err != nil {
			return 0, err
		}
		changed.Status.ClusterRef = &openmcpv1alpha1.NamespacedName{Namespace: resolution.Cluster.Namespace, Name: resolution.Cluster.Name}
	}
	if err := r.writeStatus(ctx, access, changed, resolution); err != nil {
		return 0, err
	}
	return r.again(access, resolution), nil
}

// waits reports whether a refusal waits for the API server to learn of a role or a binding that has just changed: it would be final.
func (r *reconciler) waits(access *openmcpv1alpha1.AccessRequest, resolution clusterrequest.AccessResolution) bool {
	if resolution.Reason != openmcpv1alpha1.ReasonAccessNotAllowed || clusterrequest.AccessRefused(access) {
		return false
	}
	return slices.ContainsFunc(resolution.Rights, func(right clusterrequest.AccessRight) bool {
		return r.rights.concern(right.Object.Namespace)
	}) && r.reviews.delay(access)
}

// again returns after which time an AccessRequest has to be decided on again; 0 for never.
func (r *reconciler) again(access *openmcpv1alpha1.AccessRequest, resolution clusterrequest.AccessResolution) time.Duration {
	switch {
	case resolution.Reason == openmcpv1alpha1.ReasonAccessNotAllowed:
		return 0
	case resolution.Status == openmcpv1alpha1.RequestDenied:
		return deniedPeriod
	case len(resolution.Rights) > 0:
		return r.reviews.wait(access)
	default:
		return 0
	}
}

// releaseUnserved releases an AccessRequest that has to go if its provider gives no access.
func (r *reconciler) releaseUnserved(ctx context.Context, access *openmcpv1alpha1.AccessRequest) error {
	to, err := referents(ctx, r.cached, access)
	if err == nil && clusterrequest.HubReleasesAccess(access, to) {
		to, err = referents(ctx, r.live, access) // The cache may be old.
	}
	if err != nil || !clusterrequest.HubReleasesAccess(access, to) {
		return err
	}
	return r.release(ctx, access)
}

// decide decides on an AccessRequest by what a reader has.
func (r *reconciler) decide(
	ctx context.Context, reader client.Reader, access *openmcpv1alpha1.AccessRequest,
) (clusterrequest.AccessResolution, error) {
	to, err := referents(ctx, reader, access)
	if err != nil {
		return clusterrequest.AccessResolution{}, err
	}
	if to.RequestLost, err = r.lost(ctx, access, to); err != nil {
		return clusterrequest.AccessResolution{}, err
	}

	resolution := clusterrequest.ResolveAccess(access, to)
	given := access.Status.ClusterRef != nil && !clusterrequest.AccessRefused(access)
	again := given && len(resolution.Rights) > 0 && r.reviews.due(access)
	if !resolution.Review && !again {
		return resolution, nil
	}
	refused, err := r.review(ctx, access, resolution.RightsThatLast(access))
	if err == nil && refused == nil {
		resolution.Usable, err = r.usable(ctx, access, resolution.Uses)
	}
	switch {
	case err != nil:
		return clusterrequest.AccessResolution{}, err
	case refused == nil:
		r.reviews.allowed(access)
	case resolution.Review || r.reviews.refused(access):
		return resolution.Refused(access, *refused), nil
	default:
		klog.FromContext(ctx).Info("The requester of an access has lost a right; the access ends unless the next review says otherwise",
			"user", clusterrequest.AccessRequester(access), "right", refused.String(), "after", clusterrequest.AccessReviewGrace)
	}
	return resolution, nil
}

// usable returns the status of the condition PurposesUsable of an access that is given, or was given before the condition was known; empty if the
// condition stays as it is.
func (r *reconciler) usable(
	ctx context.Context, access *openmcpv1alpha1.AccessRequest, uses []clusterrequest.AccessRight,
) (metav1.ConditionStatus, error) {
	if len(uses) == 0 || clusterrequest.UsesRecorded(access) {
		return "", nil
	}
	missing, err := r.review(ctx, access, uses)
	switch {
	case err != nil:
		return "", err
	case missing != nil:
		return metav1.ConditionFalse, nil
	default:
		return metav1.ConditionTrue, nil
	}
}

// requestDefinition is the name of the CustomResourceDefinition of ClusterRequests.
const requestDefinition = "clusterrequests." + openmcpv1alpha1.GroupName

// lost reports whether the ClusterRequest of an access that was given may be gone, or is being deleted, with its CustomResourceDefinition.
func (r *reconciler) lost(
	ctx context.Context, access *openmcpv1alpha1.AccessRequest, to clusterrequest.AccessReferents,
) (bool, error) {
	_, isRequest := clusterrequest.AccessReference(access)
	if !isRequest || access.Status.ClusterRef == nil || to.Request != nil && to.Request.DeletionTimestamp == nil {
		return false, nil
	}
	found, err := objects.Definition(ctx, r.live, requestDefinition)
	if err != nil {
		return false, err
	}
	served := clusterrequest.DefinitionOf(found)
	return served.Terminating || to.Request == nil && served.MayHaveTaken(access), nil
}

// referents reads what an AccessRequest refers to.
func referents(ctx context.Context, reader client.Reader, access *openmcpv1alpha1.AccessRequest) (clusterrequest.AccessReferents, error) {
	var (
		to  clusterrequest.AccessReferents
		err error
	)

	key, isRequest := clusterrequest.AccessReference(access)
	if isRequest {
		if to.Request, err = read(ctx, reader, key, "ClusterRequest", &openmcpv1alpha1.ClusterRequest{}); err != nil {
			return to, err
		}
		if to.Grant, err = read(ctx, reader, key, "ClusterRequestGrant", &openmcpv1alpha1.ClusterRequestGrant{}); err != nil {
			return to, err
		}
	}

	if key, found := clusterrequest.AccessCluster(access, to); found {
		if to.Cluster, err = read(ctx, reader, key, "Cluster", &openmcpv1alpha1.Cluster{}); err != nil {
			return to, err
		}
	}
	name := clusterrequest.AccessProvider(access, to.Cluster)
	if name == "" {
		return to, nil
	}

	provider, err := read(ctx, reader, types.NamespacedName{Name: name}, "ClusterProvider", &openmcpv1alpha1.ClusterProvider{})
	to.NoAccess = err == nil && (provider == nil || !provider.Spec.Access)
	return to, err
}

// read returns an object; nil if it does not exist.
func read[T client.Object](ctx context.Context, reader client.Reader, key types.NamespacedName, kind string, object T) (T, error) {
	var none T
	err := reader.Get(ctx, key, object)
	if apierrors.IsNotFound(err) {
		return none, nil
	}
	if err != nil {
		return none, fmt.Errorf("reading %s %s: %w", kind, strings.TrimPrefix(key.String(), "/"), err)
	}
	return object, nil
}
