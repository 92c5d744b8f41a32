// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/metrics"
)

// proofValidity is how long after the API server was asked for a Cluster its end counts as proved.
const proofValidity = 5 * time.Second

// staleDelay is how long a Cluster waits that the cache does not show, but the API server has.
const staleDelay = time.Second

// withdraw deletes what a Cluster has that is being deleted or gone, and then removes the finalizer. It returns after which time to look again;
// zero for never.
func (r *reconciler) withdraw(ctx context.Context, c *cycle) (time.Duration, error) {
	if again, err := r.verify(ctx, c); again > 0 || err != nil {
		return again, err
	}
	if again, held, err := r.holdForDefinition(ctx, c); held || err != nil {
		return again, err
	}
	c.provedAt = r.clock.Now()

	if c.managed != nil && c.managed.DeletionTimestamp == nil {
		if clusterrequest.TerminatingEffect(c.cluster) == clusterv1.TaintEffectNoSelectIfNew {
			return 0, r.hold(ctx, c)
		}
		if again, err := r.drain(ctx, c); again > 0 || err != nil {
			return again, err
		}
	}

	if c.namespace != nil && c.namespace.DeletionTimestamp == nil {
		if err := r.proceed(ctx, c); err != nil {
			return 0, err
		}
		if err := r.deleteNamespace(ctx, c); err != nil {
			return 0, err
		}
	}
	return 0, r.letGo(ctx, c)
}

// proceed is called before each deletion. Its error ends the reconcile: the Cluster or the ManagedCluster is not what it was, or what the API
// server said is older than proofValidity (docs/spec/differences.md B13).
func (r *reconciler) proceed(ctx context.Context, c *cycle) error {
	latest, err := r.read(ctx, c.Request)
	switch {
	case err != nil:
		return err
	case r.clock.Since(c.provedAt) > proofValidity:
		return fmt.Errorf("the proof that Cluster %s ends is older than %s: %w", c.Request, proofValidity, queue.ErrOutdated)
	case !sameObject(c.cluster, latest.cluster),
		latest.cluster != nil && latest.cluster.DeletionTimestamp == nil,
		latest.managed != nil && !sameObject(c.managed, latest.managed),
		latest.managed != nil && latest.managed.Annotations[openmcpv1alpha1.WithdrawAnnotation] !=
			c.managed.Annotations[openmcpv1alpha1.WithdrawAnnotation]:
		return fmt.Errorf("cluster %s or its ManagedCluster has changed: %w", c.Request, queue.ErrOutdated)
	}

	return nil
}

// sameObject reports whether two states are of one object, or both nil.
func sameObject[T any, P interface {
	*T
	metav1.Object
}](a, b P) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.GetUID() == b.GetUID()
}

// verify asks the API server for what the caches do not show, so that a cache that is behind withdraws nothing and leaves nothing. It returns
// after which time to look again; zero to go on.
func (r *reconciler) verify(ctx context.Context, c *cycle) (time.Duration, error) {
	switch {
	case c.cluster == nil && c.managed == nil && c.namespace == nil:
		r.heartbeats.unsubscribe(c.Request)
		return 0, nil
	case c.cluster == nil:
		_, found, err := objects.LiveMetadata(ctx, r.live, &openmcpv1alpha1.Cluster{}, c.NamespacedName)
		if err != nil || !found {
			return 0, err
		}
		return staleDelay, nil
	case !slices.Contains(c.cluster.Finalizers, openmcpv1alpha1.InventoryFinalizer):
		return 0, nil
	}

	for _, missing := range []struct {
		object  client.Object
		missing bool
	}{{&clusterv1.ManagedCluster{}, c.managed == nil}, {&corev1.Namespace{}, c.namespace == nil}} {
		if !missing.missing {
			continue
		}
		present, found, err := objects.LiveMetadata(ctx, r.live, missing.object, types.NamespacedName{Name: c.name()})
		if err != nil {
			return 0, err
		}
		if found && clusterrequest.IsPublished(present, c.NamespacedName) {
			return staleDelay, nil
		}
	}

	return 0, nil
}

// hold keeps new workload away from a ManagedCluster while requests have its Cluster. The event of the last one that leaves enqueues the Cluster.
func (r *reconciler) hold(ctx context.Context, c *cycle) error {
	now := metav1.NewTime(r.clock.Now()).Rfc3339Copy()
	tainted, _ := clusterrequest.Terminating(c.managed, clusterv1.TaintEffectNoSelectIfNew, now)
	if err := r.taint(ctx, c.managed, tainted); err != nil {
		return err
	}
	r.event(c, corev1.EventTypeNormal, clusterrequest.ReasonDraining, fmt.Sprintf("ManagedCluster %s keeps its workload until %d ClusterRequests "+
		"have left Cluster %s", c.name(), len(clusterrequest.RequestUIDs(c.cluster)), c.Request))
	return nil
}

// drain deletes the ManagedCluster when it may be deleted. It returns after which time to look again; zero if it is deleted.
func (r *reconciler) drain(ctx context.Context, c *cycle) (time.Duration, error) {
	now := metav1.NewTime(r.clock.Now()).Rfc3339Copy()

	tainted, since := clusterrequest.Terminating(c.managed, clusterv1.TaintEffectNoSelect, now)
	if err := r.taint(ctx, c.managed, tainted); err != nil {
		return 0, err
	}
	left, err := r.remaining(ctx, c.name())
	if err != nil {
		return 0, err
	}

	drain := clusterrequest.NewDrain(since.Time, r.clock.Now(), r.drainTimeout, left)
	if !drain.Done {
		r.event(c, corev1.EventTypeNormal, clusterrequest.ReasonDraining, fmt.Sprintf("ManagedCluster %s waits for %s", c.name(), left))
		return drain.Again, nil
	}
	if err := r.proceed(ctx, c); err != nil {
		return 0, err
	}

	// The cache may show a state from before the taint, or a ManagedCluster of that name that is gone.
	err = observe(requestDelete, r.client.Delete(ctx, c.managed, client.Preconditions{UID: &c.managed.UID}))
	if client.IgnoreNotFound(err) != nil {
		return 0, fmt.Errorf("deleting ManagedCluster %s: %w", c.name(), err)
	}
	metrics.ObserveDrain(drain.TimedOut)

	if drain.TimedOut {
		r.event(c, corev1.EventTypeWarning, clusterrequest.ReasonDrainTimedOut,
			fmt.Sprintf("ManagedCluster %s is deleted after %s although there are %s", c.name(), r.drainTimeout, left))
	} else {
		r.event(c, corev1.EventTypeNormal, clusterrequest.ReasonDrained, "ManagedCluster "+c.name()+" is deleted, and nothing used it")
	}
	return 0, nil
}

// taint adds the taint to a ManagedCluster. An admission webhook that sets the times itself, such as the upstream one, rejects a taint with a
// time; then the taint is sent once more without.
func (r *reconciler) taint(ctx context.Context, managed, tainted *clusterv1.ManagedCluster) error {
	err := r.patch(ctx, managed, tainted, false)
	if !apierrors.IsBadRequest(err) {
		return err
	}
	untimed := tainted.DeepCopy()
	untimed.Spec.Taints[len(untimed.Spec.Taints)-1].TimeAdded = metav1.Time{}
	return r.patch(ctx, managed, untimed, false)
}

// remaining returns what uses a ManagedCluster: the decisions by the cache, and the works by the API server, because the cache may have those of
// the hub only.
func (r *reconciler) remaining(ctx context.Context, name string) (clusterrequest.Remaining, error) {
	var left clusterrequest.Remaining
	for _, format := range r.formats {
		list, is := format.EmptyList().(client.ObjectList)
		if !is {
			return left, fmt.Errorf("%T is no list", format.EmptyList())
		}
		if err := r.client.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			return left, fmt.Errorf("listing PlacementDecisions: %w", err)
		}

		err := meta.EachListItem(list, func(object runtime.Object) error {
			if page := format.Read(object); page != nil && slices.Contains(page.Clusters(), name) {
				left.Decisions = append(left.Decisions, page.Namespace+"/"+page.Name)
			}
			return nil
		})
		if err != nil {
			return left, fmt.Errorf("listing PlacementDecisions: %w", err)
		}
	}

	works := objects.MetadataList(schema.GroupVersion(workv1.GroupVersion).WithKind("ManifestWork"))

	err := r.live.List(ctx, works, client.InNamespace(name))
	if err != nil && !meta.IsNoMatchError(err) { // A hub without ManifestWorks has none.
		return left, fmt.Errorf("listing ManifestWorks of namespace %s: %w", name, err)
	}
	for i := range works.Items {
		left.Works = append(left.Works, works.Items[i].Name)
	}
	return left, nil
}

// deleteNamespace deletes what the hub made in the namespace of the ManagedCluster, and the namespace.
func (r *reconciler) deleteNamespace(ctx context.Context, c *cycle) error {
	for _, object := range []*metav1.PartialObjectMetadata{metadataOf("RoleBinding"), metadataOf("ServiceAccount"), metadataOf("Namespace")} {
		kind := object.GroupVersionKind().Kind
		preconditions := client.Preconditions{}
		if kind == "Namespace" {
			object.SetName(c.name())
			preconditions.UID = &c.namespace.UID
		} else {
			object.SetNamespace(c.name())
			object.SetName(clusterrequest.WorkAgent)
		}

		err := observe(requestDelete, client.IgnoreNotFound(r.client.Delete(ctx, object, preconditions)))
		if err != nil {
			return fmt.Errorf("deleting %s %s: %w", kind, client.ObjectKeyFromObject(object), err)
		}
	}

	return nil
}

// letGo removes the finalizer from the Cluster.
func (r *reconciler) letGo(ctx context.Context, c *cycle) error {
	if c.cluster == nil {
		return nil
	}
	r.heartbeats.unsubscribe(c.Request)
	return objects.RemoveFinalizer(ctx, r.client, c.cluster, openmcpv1alpha1.InventoryFinalizer,
		objects.WithObserver(func(err error) { count(requestFinalizer, client.IgnoreNotFound(err)) }))
}
