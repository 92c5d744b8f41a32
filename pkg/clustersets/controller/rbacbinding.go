// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/clustersets"
	"github.com/placement-hub/placement-hub/pkg/hub/consistency"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
)

// ClusterSetBindingRBAC is the name of the controller that derives ManagedClusterSetBindings from the RBAC of ServiceAccounts.
const ClusterSetBindingRBAC = clustersets.Manager

// rbacBindingReconciler writes the ManagedClusterSetBindings of a namespace that RBAC grants its ServiceAccount placement
// (docs/spec/scope.md S6, S11). Its only state are the writes that it has sent, pending deletions and reviews; everything else is read from
// the cache.
type rbacBindingReconciler struct {
	client    client.Client
	grants    *grantCache
	sent      *sentWrites
	grace     *graceTracker
	reviews   *recurringReviews
	left      *leftBindings
	review    review
	conflicts queue.ConflictBackoff[reconcile.Request]
}

// newRBACBindingReconciler returns a reconciler that reads from the cache of api, and from live where the cache may be behind.
func newRBACBindingReconciler(
	api client.Client, live client.Reader, recorder events.EventRecorder, c clock.PassiveClock,
) *rbacBindingReconciler {
	return &rbacBindingReconciler{
		client: api, grants: newGrantCache(), sent: newSentWrites(c, liveBindingVersion(live)), grace: newGraceTracker(c),
		reviews:   newRecurringReviews(c),
		left:      newLeftBindings(recorder),
		review:    reviewer(api),
		conflicts: queue.NewConflictBackoff[reconcile.Request](),
	}
}

// Reconcile writes the bindings of the namespace in the name of the request.
func (r *rbacBindingReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	namespace := request.Name

	found := &corev1.Namespace{}
	err := r.client.Get(ctx, types.NamespacedName{Name: namespace}, found, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) || err == nil && !found.DeletionTimestamp.IsZero() { // Its bindings are deleted with the namespace.
		r.grace.forget(namespace)
		r.reviews.forget(namespace)
		r.left.forget(namespace)
		return r.conflicts.Result(ctx, request, nil)
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("reading Namespace %s: %w", namespace, err)
	}

	wanted, err := r.entitlementOf(ctx, namespace)
	if err != nil {
		return reconcile.Result{}, err
	}
	bindings := &clusterv1beta2.ManagedClusterSetBindingList{}
	if err := r.client.List(ctx, bindings, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		return reconcile.Result{}, fmt.Errorf("listing the ManagedClusterSetBindings of namespace %s: %w", namespace, err)
	}
	reviews := r.newReviewCache(namespace)

	denied, unreviewed := r.reviews.denials(ctx, namespace, keptBindings(wanted.sets, bindings.Items), reviews)
	wanted = wanted.withoutDenied(denied)
	planned := planBindings(wanted.sets, bindings.Items)
	bound := r.bind(ctx, namespace, planned, reviews)
	due, wait := r.grace.expired(namespace, planned.revoke, bound.deletionGrace())
	unbound := r.unbind(ctx, due, wanted, reviews)
	unlooked := r.left.look(ctx, namespace, wanted, bindings.Items, reviews)
	err = errors.Join(unreviewed, unlooked, errors.Join(slices.Concat(bound.failed, unbound.failed)...))
	if err != nil && wait > 0 { // A failing write must not delay due deletions; its error is returned after them.
		klog.FromContext(ctx).V(4).Info("Failed before the second look; trying again then", "err", err)
		return reconcile.Result{RequeueAfter: min(wait, deletionGrace)}, nil
	}

	if err == nil {
		err = cmp.Or(bound.conflict, unbound.conflict)
	}
	if err == nil && !planned.empty() { // Without an event of the writes, the API server is read after consistency.Timeout.
		wait = shorterWait(wait, consistency.Timeout)
	}
	result, err := r.conflicts.Result(ctx, request, err)
	if err == nil {
		result.RequeueAfter = shorterWait(shorterWait(wait, r.reviews.wait(namespace)), result.RequeueAfter)
	}
	return result, err
}

// writeResults collects the errors of several writes.
type writeResults struct {
	failed   []error
	conflict error // the last conflict, of a write that was based on an old view
}

func (w *writeResults) add(err error) {
	switch {
	case err == nil, queue.Terminating(err):
	case queue.Outdated(err):
		w.conflict = err
	default:
		w.failed = append(w.failed, err)
	}
}

// deletionGrace returns how long a binding must have been unwanted before it is deleted. The grace is longer while bindings cannot be
// created that may keep the same clusters (docs/architecture.md law 5). Forbidden and invalid writes do not count, because a retry does not
// help.
func (w *writeResults) deletionGrace() time.Duration {
	hopeless := func(err error) bool { return apierrors.IsForbidden(err) || apierrors.IsInvalid(err) }
	if w.conflict != nil || slices.ContainsFunc(w.failed, func(err error) bool { return !hopeless(err) }) {
		return extendedDeletionGrace
	}
	return deletionGrace
}

// bind creates and restores the planned bindings. A rejected write does not keep the others from being sent.
func (r *rbacBindingReconciler) bind(ctx context.Context, namespace string, planned bindingPlan, reviews *reviewCache) writeResults {
	var bound writeResults
	for _, set := range planned.create {
		bound.add(r.create(ctx, namespace, set, reviews))
	}
	for _, binding := range planned.restore {
		bound.add(r.restore(ctx, binding))
	}
	return bound
}

// unbind deletes unwanted bindings.
func (r *rbacBindingReconciler) unbind(
	ctx context.Context, unwanted []*clusterv1beta2.ManagedClusterSetBinding, wanted entitlement, reviews *reviewCache,
) writeResults {
	var deleted writeResults
	for _, binding := range unwanted {
		deleted.add(r.revoke(ctx, binding, wanted.reasonUnbound(binding.Name), reviews))
	}
	return deleted
}

// write calls send, for a write that is based on a resourceVersion of a binding ("" for none), if the cache shows that version and no such
// write was sent before.
func (r *rbacBindingReconciler) write(ctx context.Context, key types.NamespacedName, base string, send func() error) error {
	return r.sent.write(ctx, key, base, func() error {
		// The event of a write can arrive after the bindings were listed, and it clears the record of the write. So the cache is read
		// again.
		shown := &clusterv1beta2.ManagedClusterSetBinding{}
		err := r.client.Get(ctx, key, shown, client.UnsafeDisableDeepCopy)
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("reading ManagedClusterSetBinding %s: %w", key, err)
		}
		if shown.ResourceVersion != base {
			return conflict(key.Name, "the binding has changed")
		}
		return send()
	})
}

// conflict returns an error that makes the reconcile be retried quietly, because its view was out of date.
func conflict(binding, why string) error {
	return apierrors.NewConflict(clusterv1beta2.Resource("managedclustersetbindings"), binding, errors.New(why))
}

// create creates a binding if the API server lets the ServiceAccount bind the set.
func (r *rbacBindingReconciler) create(ctx context.Context, namespace, set string, reviews *reviewCache) error {
	key := types.NamespacedName{Namespace: namespace, Name: set}
	return r.write(ctx, key, "", func() error {
		switch may, err := reviews.mayBind(ctx, set); {
		case err != nil:
			return err
		case !may:
			return conflict(set, "the API server does not let the ServiceAccount bind the cluster set any more")
		}

		binding := &clusterv1beta2.ManagedClusterSetBinding{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: namespace, Name: set, Labels: map[string]string{clustersets.ManagedByLabel: clustersets.Manager},
			},
			Spec: clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: set},
		}
		if err := r.client.Create(ctx, binding); err != nil {
			return fmt.Errorf("creating ManagedClusterSetBinding %s: %w", key, err)
		}

		klog.FromContext(ctx).V(2).Info("Bound a cluster set that the ServiceAccount may bind",
			"managedClusterSetBinding", klog.KObj(binding), "serviceAccount", klog.KRef(namespace, clustersets.Account))
		return nil
	})
}

// restore reverts the spec of a binding.
func (r *rbacBindingReconciler) restore(ctx context.Context, binding *clusterv1beta2.ManagedClusterSetBinding) error {
	return r.write(ctx, client.ObjectKeyFromObject(binding), binding.ResourceVersion, func() error {
		changed := binding.DeepCopy()
		changed.Spec.ClusterSet = binding.Name
		if err := r.client.Update(ctx, changed); err != nil {
			return fmt.Errorf("putting the spec of ManagedClusterSetBinding %s back: %w", client.ObjectKeyFromObject(binding), err)
		}
		klog.FromContext(ctx).V(2).Info("Put the spec of a ManagedClusterSetBinding back",
			"managedClusterSetBinding", klog.KObj(binding), "was", binding.Spec.ClusterSet)
		return nil
	})
}

// revoke deletes a binding at the resourceVersion that was read, because a later version may be managed by another user. A binding for which
// the cache shows no right stays if the API server grants the right.
func (r *rbacBindingReconciler) revoke(
	ctx context.Context, binding *clusterv1beta2.ManagedClusterSetBinding, why reason, reviews *reviewCache,
) error {
	key := client.ObjectKeyFromObject(binding)
	return r.write(ctx, key, binding.ResourceVersion, func() error {
		if why == noRight || why == deniedRight {
			switch may, err := reviews.mayBind(ctx, binding.Name); {
			case err != nil:
				return err
			case may:
				return conflict(binding.Name, "the API server lets the ServiceAccount bind the cluster set")
			}
		}
		doomed := &clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}

		err := r.client.Delete(ctx, doomed, client.Preconditions{UID: &binding.UID, ResourceVersion: &binding.ResourceVersion})
		if err != nil {
			return fmt.Errorf("deleting ManagedClusterSetBinding %s: %w", key, err)
		}
		klog.FromContext(ctx).V(2).Info("Deleted a ManagedClusterSetBinding",
			"managedClusterSetBinding", klog.KObj(binding), "reason", why)
		return nil
	})
}
