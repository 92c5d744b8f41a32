package clusterset

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
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/controller/queue"
	"github.com/placement-hub/placement-hub/pkg/decision"
	"github.com/placement-hub/placement-hub/pkg/scope"
)

// ClusterSetBindingRBAC is the name of the controller that keeps the bindings that follow from the RBAC of ServiceAccounts.
const ClusterSetBindingRBAC = scope.Manager

// rbacBindingReconciler keeps the bindings of a namespace as its account placement is granted them (docs/spec/scope.md S6, S11). It keeps
// no state but what it has just done and what it is about to delete: what is true stands in the cache, whose initial lists are there before
// the first look.
type rbacBindingReconciler struct {
	client    client.Client
	grants    *grantCache
	sent      *sentWrites
	grace     *graceTracker
	reviews   *recurringReviews
	review    review
	conflicts queue.ConflictBackoff[reconcile.Request]
}

// newRBACBindingReconciler reads from the cache of api, and where that may be behind, from live.
func newRBACBindingReconciler(api client.Client, live client.Reader, c clock.PassiveClock) *rbacBindingReconciler {
	return &rbacBindingReconciler{
		client: api, grants: newGrantCache(), sent: newSentWrites(c, liveBindingVersion(live)), grace: newGraceTracker(c),
		reviews:   newRecurringReviews(c),
		review:    reviewer(api),
		conflicts: queue.NewConflictBackoff[reconcile.Request](),
	}
}

// Reconcile keeps the bindings of one namespace, which is the name in the request.
func (r *rbacBindingReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	namespace := request.Name

	found := &corev1.Namespace{}
	err := r.client.Get(ctx, types.NamespacedName{Name: namespace}, found, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) || err == nil && !found.DeletionTimestamp.IsZero() { // It gets nothing, and what it has goes with it.
		r.grace.forget(namespace)
		r.reviews.forget(namespace)

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

	asked := r.newReviewCache(namespace)

	denied, unreviewed := r.reviews.denials(ctx, namespace, keptBindings(wanted.sets, bindings.Items), asked)
	wanted = wanted.withoutDenied(denied)
	planned := planBindings(wanted.sets, bindings.Items)
	made := r.bind(ctx, namespace, planned, asked)
	due, wait := r.grace.expired(namespace, planned.revoke, made.deletionGrace())
	unmade := r.unbind(ctx, due, wanted, asked)
	err = errors.Join(unreviewed, errors.Join(slices.Concat(made.failed, unmade.failed)...))

	if err != nil && wait > 0 { // What is to be deleted soon must not wait for what fails, and may fail for long. Then it is told.
		klog.FromContext(ctx).V(4).Info("Failed before the second look; trying again then", "err", err)

		return reconcile.Result{RequeueAfter: min(wait, deletionGrace)}, nil
	}

	if err == nil {
		err = cmp.Or(made.conflict, unmade.conflict)
	}

	if err == nil && !planned.empty() { // Events tell that it came to pass; if none comes, the API server is asked.
		wait = shorterWait(wait, confirmTimeout)
	}

	result, err := r.conflicts.Result(ctx, request, err)
	if err == nil {
		result.RequeueAfter = shorterWait(shorterWait(wait, r.reviews.wait(namespace)), result.RequeueAfter)
	}

	return result, err
}

// writeResults is what came of several writes.
type writeResults struct {
	failed   []error
	conflict error // of one that was based on an old view
}

func (o *writeResults) add(err error) {
	switch {
	case err == nil, decision.Terminating(err):
	case decision.Outdated(err):
		o.conflict = err
	default:
		o.failed = append(o.failed, err)
	}
}

// deletionGrace is how long a binding must have been unwanted until it is deleted. While what may take its place cannot be made, it is longer: a
// cluster that both hold is not to be lost meanwhile (docs/architecture.md law 5). What is forbidden will not come.
func (o *writeResults) deletionGrace() time.Duration {
	hopeless := func(err error) bool { return apierrors.IsForbidden(err) || apierrors.IsInvalid(err) }
	if o.conflict != nil || slices.ContainsFunc(o.failed, func(err error) bool { return !hopeless(err) }) {
		return extendedDeletionGrace
	}

	return deletionGrace
}

// bind makes and puts back what is planned. What the hub refuses does not keep the rest from being written.
func (r *rbacBindingReconciler) bind(ctx context.Context, namespace string, planned bindingPlan, asked *reviewCache) writeResults {
	var made writeResults

	for _, set := range planned.create {
		made.add(r.create(ctx, namespace, set, asked))
	}

	for _, binding := range planned.restore {
		made.add(r.restore(ctx, binding))
	}

	return made
}

// unbind deletes what is not wanted.
func (r *rbacBindingReconciler) unbind(
	ctx context.Context, unwanted []*clusterv1beta2.ManagedClusterSetBinding, wanted entitlement, asked *reviewCache,
) writeResults {
	var deleted writeResults

	for _, binding := range unwanted {
		deleted.add(r.revoke(ctx, binding, wanted.reasonUnbound(binding.Name), asked))
	}

	return deleted
}

// write sends a write that is based on a version of a binding, "" for none, if the cache shows that version and no such write was sent.
func (r *rbacBindingReconciler) write(ctx context.Context, key types.NamespacedName, base string, send func() error) error {
	return r.sent.write(ctx, key, base, func() error {
		// What was sent is forgotten as soon as the cache shows what came of it, which can be after the bindings were listed.
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

// conflict is the error of what was looked at on an old view: it is tried again quietly.
func conflict(binding, why string) error {
	return apierrors.NewConflict(clusterv1beta2.Resource("managedclustersetbindings"), binding, errors.New(why))
}

// create makes a binding, if the API server says that the account may bind the set.
func (r *rbacBindingReconciler) create(ctx context.Context, namespace, set string, asked *reviewCache) error {
	key := types.NamespacedName{Namespace: namespace, Name: set}

	return r.write(ctx, key, "", func() error {
		switch may, err := asked.mayBind(ctx, set); {
		case err != nil:
			return err
		case !may:
			return conflict(set, "the API server does not let the ServiceAccount bind the cluster set any more")
		}

		binding := &clusterv1beta2.ManagedClusterSetBinding{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: namespace, Name: set, Labels: map[string]string{scope.ManagedByLabel: scope.Manager},
			},
			Spec: clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: set},
		}
		if err := r.client.Create(ctx, binding); err != nil {
			return fmt.Errorf("creating ManagedClusterSetBinding %s: %w", key, err)
		}

		klog.FromContext(ctx).V(2).Info("Bound a cluster set that the ServiceAccount may bind",
			"managedClusterSetBinding", klog.KObj(binding), "serviceAccount", klog.KRef(namespace, scope.Account))

		return nil
	})
}

// restore puts the spec of a binding back.
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

// revoke deletes a binding as it was looked at: if it changed meanwhile, it may have been handed over. One for which the cache shows no right
// stays while the API server says that there is one.
func (r *rbacBindingReconciler) revoke(
	ctx context.Context, binding *clusterv1beta2.ManagedClusterSetBinding, why reason, asked *reviewCache,
) error {
	key := client.ObjectKeyFromObject(binding)

	return r.write(ctx, key, binding.ResourceVersion, func() error {
		if why == noRight || why == deniedRight {
			switch may, err := asked.mayBind(ctx, binding.Name); {
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
