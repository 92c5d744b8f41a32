// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/clusterprofiles"
	"github.com/placement-hub/placement-hub/pkg/hub/consistency"
	"github.com/placement-hub/placement-hub/pkg/hub/problems"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/metrics"
)

// namespaceDelay is after which time a namespace is looked for again.
const namespaceDelay = 5 * time.Second

// reconciler keeps one ClusterProfile, whose name is that of the ManagedCluster.
type reconciler struct {
	client   client.Client
	sets     *sets
	patterns clusterprofiles.Patterns
	slices   *sliceReader
	recorder events.EventRecorder
	clock    clock.PassiveClock
	// hold is how long decisions are kept that have lost their scope: a ClusterProfile that is to go waits for them.
	hold time.Duration
	// formerWriters are the field managers from which ClusterProfiles are taken over, and looked has those that takeOver has looked at.
	formerWriters []string
	looked        *times
	lost          *times
	yielded       *times
	problems      *problems.Memory[types.NamespacedName]
	states        *metrics.ProfileStates[types.NamespacedName]
	conflicts     queue.ConflictBackoff[reconcile.Request]
	// written has the own writes that the cache does not show yet.
	written *consistency.Store
}

// Reconcile applies or deletes a ClusterProfile.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	again, err := r.keep(ctx, request.NamespacedName)
	if queue.Terminating(err) {
		err = nil // Its ClusterProfiles are deleted with the namespace.
	}
	result, err := r.conflicts.Result(ctx, request, err)
	if err != nil || result.RequeueAfter > 0 {
		return result, err
	}
	return reconcile.Result{RequeueAfter: again}, nil
}

func (r *reconciler) keep(ctx context.Context, key types.NamespacedName) (again time.Duration, err error) {
	namespace := &corev1.Namespace{}
	err = r.client.Get(ctx, types.NamespacedName{Name: key.Namespace}, namespace, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) {
		r.forget(key)
		return r.lookForNamespace(ctx, key.Namespace)
	}
	if err == nil && !namespace.DeletionTimestamp.IsZero() {
		r.forget(key)
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading Namespace %s: %w", key.Namespace, err)
	}

	profile, err := get(ctx, r.client, key, &clusterinventory.ClusterProfile{})
	if err != nil {
		return 0, fmt.Errorf("reading ClusterProfile %s: %w", key, err)
	}
	if left := r.unshown(key, profile); left > 0 {
		return left, nil // The event of the write comes before that.
	}
	cluster, err := get(ctx, r.client, types.NamespacedName{Name: key.Name}, &clusterv1.ManagedCluster{})
	if err != nil {
		return 0, fmt.Errorf("reading ManagedCluster %s: %w", key.Name, err)
	}

	membership, err := r.membership(ctx, key.Namespace, cluster, profile != nil)
	if err != nil {
		return 0, err
	}
	if membership != clusterprofiles.NotMember {
		r.lost.forget(key)
	}
	if membership == clusterprofiles.Unknown {
		return lookAtSets(profile), nil
	}
	if profile, err = r.takeOver(ctx, key, profile); err != nil {
		return 0, err
	}
	switch {
	case membership == clusterprofiles.Member:
		return r.apply(ctx, key, cluster, profile)
	case profile == nil:
		r.forget(key)
		return 0, nil
	}
	return r.withdraw(ctx, key, profile)
}

// lookForNamespace returns when a namespace is looked for again that the cache does not have: it has bindings, and the watch of the namespaces is
// behind. It is 0 if it has none.
func (r *reconciler) lookForNamespace(ctx context.Context, name string) (time.Duration, error) {
	bindings, err := listBindings(ctx, r.client, client.InNamespace(name))
	if err != nil || len(bindings) == 0 {
		return 0, err
	}
	return namespaceDelay, nil
}

// unshown returns how long the last own write of a ClusterProfile is waited for, which the cache does not show yet; 0 if it shows it. Otherwise an
// event of the cluster in between would have the same written again.
func (r *reconciler) unshown(key types.NamespacedName, profile *clusterinventory.ClusterProfile) time.Duration {
	version := ""
	if profile != nil {
		version = profile.ResourceVersion
	}
	if stale, is := errors.AsType[*consistency.StaleError](r.written.EnsureReady(key, version)); is {
		return stale.Left
	}
	return 0
}

// lookAtSets returns when a ClusterProfile is looked at again of which is unknown whether it is to go: a set that had no cluster may have one without
// an event of this cluster. It is 0 if there is none.
func lookAtSets(profile *clusterinventory.ClusterProfile) time.Duration {
	if profile == nil {
		return 0
	}
	return time.Minute
}

// membership says whether a namespace has the ClusterProfile of a cluster, which is nil if there is none. A cluster that is being deleted is a member
// of no set. Where there is a ClusterProfile, a set without any cluster counts as one with a mistake.
func (r *reconciler) membership(
	ctx context.Context, namespace string, cluster *clusterv1.ManagedCluster, exists bool,
) (clusterprofiles.Membership, error) {
	if cluster == nil || !cluster.DeletionTimestamp.IsZero() {
		return clusterprofiles.NotMember, nil
	}
	bindings, err := listBindings(ctx, r.client, client.InNamespace(namespace))
	if err != nil {
		return clusterprofiles.Unknown, err
	}
	scope, err := r.sets.scope(ctx, cluster, bindings)
	if err != nil {
		return clusterprofiles.Unknown, err
	}
	membership := scope[namespace]
	if membership != clusterprofiles.NotMember || !exists {
		return membership, nil
	}

	empty, err := r.sets.anyEmpty(ctx, clusterprofiles.Counted(bindings))
	if empty || err != nil {
		return clusterprofiles.Unknown, err
	}
	return clusterprofiles.NotMember, nil
}

// forget drops what is known of a ClusterProfile that there is none of.
func (r *reconciler) forget(key types.NamespacedName) {
	r.looked.forget(key)
	r.lost.forget(key)
	r.yielded.forget(key)
	r.problems.Forget(key)
	r.states.Forget(key)
	r.written.Clear(key)
}

// listBindings returns ManagedClusterSetBindings, which must not be changed.
func listBindings(
	ctx context.Context, reader client.Reader, options ...client.ListOption,
) ([]*clusterv1beta2.ManagedClusterSetBinding, error) {
	list := &clusterv1beta2.ManagedClusterSetBindingList{}
	if err := reader.List(ctx, list, append(options, client.UnsafeDisableDeepCopy)...); err != nil {
		return nil, fmt.Errorf("listing ManagedClusterSetBindings: %w", err)
	}
	bindings := make([]*clusterv1beta2.ManagedClusterSetBinding, len(list.Items))
	for i := range list.Items {
		bindings[i] = &list.Items[i]
	}
	return bindings, nil
}

// get reads an object, which must not be changed; nil if there is none.
func get[T client.Object](ctx context.Context, reader client.Reader, key types.NamespacedName, empty T) (T, error) {
	err := reader.Get(ctx, key, empty, client.UnsafeDisableDeepCopy)
	if err != nil {
		var none T
		return none, client.IgnoreNotFound(err)
	}
	return empty, nil
}
