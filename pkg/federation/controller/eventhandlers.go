// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/history/recorder"
	"github.com/placement-hub/placement-hub/pkg/hub/freshness"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/hub/sharedinventory"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// eventHandlers are those of the source of the controller: it enqueues the objects that an event concerns. Changes of an object or its works have the
// highest priority, then changes of clusters, sets, bindings, namespaces and decisions, then the initial lists.
type eventHandlers struct {
	state *state
	// cache is that of the manager, and objects that of the delivered objects.
	cache, objects cache.Cache
	// live reads from the API server, not from a cache.
	live client.Reader
	// elected is closed when this process becomes the leader, whose workers take keys from the queue.
	elected <-chan struct{}
	// recorder sends events about unreadable objects from the election on.
	recorder events.EventRecorder
	// formerRenewal is queue.Settings.FormerRenewal.
	formerRenewal func() time.Time
	// history records where objects are delivered.
	history *recorder.Recorder
}

// source returns the source of the controller.
func (e *eventHandlers) source() *sharedinventory.Source {
	return &sharedinventory.Source{
		Subscriber: e.state.Subscriber, Keys: "delivered objects", Known: e.state.memories.keys, Listen: e.listen,
		Cache: e.cache, Live: e.live, Elected: e.elected, Recorder: e.recorder, FormerRenewal: e.formerRenewal,
	}
}

func (e *eventHandlers) listen(ctx context.Context) error {
	e.history.ForgetWorks()
	if err := e.state.Shared.Listen(ctx, e.cache, append(e.kinds(ctx), e.objectKinds(ctx)...)...); err != nil {
		return err
	}
	e.state.findGuard(ctx, e.live)
	e.state.Synced.Store(true)
	return e.state.logLeftovers(ctx, e.cache)
}

// without is the consequence of fields of works and objects that cannot be decoded.
const without = "The hub does without them."

// kinds returns what is watched beside the delivered objects and the kinds of the inventory.
func (e *eventHandlers) kinds(ctx context.Context) []sharedinventory.Listener {
	return []sharedinventory.Listener{
		{Object: &corev1.Namespace{}, Handler: freshness.Observe(e.state.Shared.Observed, namespaceResource,
			objects.On(func(before, after *corev1.Namespace, initial bool) { e.updateNamespace(ctx, before, after, initial) },
				func(*corev1.Namespace) {})), Unreadable: without},
		{Object: &workv1.ManifestWork{}, Handler: objects.On(e.updateWork,
			func(last *workv1.ManifestWork) { e.deleteWork(ctx, last) }), Unreadable: without},
		{Object: &clusterv1beta1.Placement{}, Handler: objects.On(e.updatePlacement, e.deletePlacement), Unreadable: without},
		{Object: &clusterv1beta1.PlacementDecision{}, Handler: objects.On(e.updateDecision, e.enqueueFollowers), Unreadable: without},
	}
}

// objectKinds returns the kinds of the delivered objects.
func (e *eventHandlers) objectKinds(ctx context.Context) []sharedinventory.Listener {
	kinds := make([]sharedinventory.Listener, 0, len(e.state.kinds))
	for of, kind := range e.state.kinds {
		handler := objects.On(
			func(before, after *metav1.PartialObjectMetadata, initial bool) {
				e.updateObject(ctx, keyOf(of, after), before, after, initial)
			},
			func(last *metav1.PartialObjectMetadata) { e.deleteObject(ctx, keyOf(of, last)) })
		kinds = append(kinds, sharedinventory.Listener{
			Object: objects.Metadata(kind.GroupVersionKind), Cache: e.objects, Unreadable: without,
			Handler: freshness.Observe(e.state.Shared.Observed, resourceOf(kind), handler),
		})
	}

	return kinds
}

// updateObject enqueues an object that takes part, or has taken part.
func (e *eventHandlers) updateObject(
	ctx context.Context, key inventory.Key, before, after *metav1.PartialObjectMetadata, initial bool,
) {
	if before != nil && before.ResourceVersion == after.ResourceVersion {
		initial = true // A resync.
	}
	if e.concerns(ctx, key, after) {
		e.state.memories.get(key)
		e.state.EnqueueChanged(initial, "", time.Now(), key)
	}
}

func (e *eventHandlers) deleteObject(ctx context.Context, key inventory.Key) {
	if e.state.memories.known(key) {
		e.state.enqueue(queue.PriorityUser, key)
		e.forgetOnStandby(ctx, key)
	}
}

// forgetOnStandby forgets an object that is gone with its works, which a reconcile does once this process is the leader. An object that has
// appeared since the event, on another watch, is remembered again.
func (e *eventHandlers) forgetOnStandby(ctx context.Context, key inventory.Key) {
	if e.state.Queue.Open() {
		return
	}
	e.state.memories.forget(key)
	if !e.gone(ctx, key) {
		e.state.memories.get(key)
		e.state.enqueue(queue.PriorityUser, key) // The election may have come in between.
	}
}

// gone reports whether the caches have neither an object nor its works.
func (e *eventHandlers) gone(ctx context.Context, key inventory.Key) bool {
	err := e.objects.Get(ctx, key.NamespacedName, objects.Metadata(e.state.kinds[key.GroupKind].GroupVersionKind), client.UnsafeDisableDeepCopy)
	if !apierrors.IsNotFound(err) {
		return false
	}
	works := &workv1.ManifestWorkList{}
	err = e.cache.List(ctx, works, client.MatchingFields{workName: e.state.identity(key).WorkName()}, client.UnsafeDisableDeepCopy)
	return err == nil && len(works.Items) == 0
}

// concerns reports whether something may have to be done for an object.
func (e *eventHandlers) concerns(ctx context.Context, key inventory.Key, object *metav1.PartialObjectMetadata) bool {
	if slices.Contains(object.Finalizers, federation.Finalizer) || e.state.memories.known(key) {
		return true
	}
	namespace := &corev1.Namespace{}
	err := e.cache.Get(ctx, types.NamespacedName{Name: key.Namespace}, namespace, client.UnsafeDisableDeepCopy)
	return err != nil || namespace.Labels[federation.FederatedLabel] != "" // The event of the Namespace enqueues what appears before it.
}

// updateNamespace enqueues the objects of a namespace whose label or default annotations have changed.
func (e *eventHandlers) updateNamespace(ctx context.Context, before, after *corev1.Namespace, initial bool) {
	takesPart := after.Labels[federation.FederatedLabel] != "" || before != nil && before.Labels[federation.FederatedLabel] != ""
	if !takesPart || before != nil && federation.SameDefaults(before, after) {
		return
	}

	for of, kind := range e.state.kinds {
		list := objects.MetadataList(kind.GroupVersionKind)
		if err := e.objects.List(ctx, list, client.InNamespace(after.Name), client.UnsafeDisableDeepCopy); err != nil {
			continue // The manager ends.
		}

		for i := range list.Items {
			key := keyOf(of, &list.Items[i])
			e.state.memories.get(key)
			if initial {
				e.state.enqueue(queue.PriorityInitial, key)
			} else {
				e.state.enqueue(queue.PriorityFleet, key)
			}
		}
	}
}

// updateWork enqueues the object of a work, unless the event shows an own write or nothing that counts.
func (e *eventHandlers) updateWork(before, after *workv1.ManifestWork, initial bool) {
	key, ours := e.workKey(after)
	if ours {
		e.history.SetWork(key, after, initial)
	}
	if ours && !e.state.works.Observe(key, after, false) && (before == nil || e.changed(key, before, after)) {
		e.state.memories.get(key)
		e.enqueueWork(initial, key, before, after)
	}
	if before == nil {
		return
	}

	if former, ours := e.workKey(before); ours && former != key {
		e.state.enqueue(queue.PriorityUser, former) // Somebody has changed the annotation.
	}
}

// changed reports whether two states of a work differ in what is read of it.
func (e *eventHandlers) changed(key inventory.Key, before, after *workv1.ManifestWork) bool {
	identity := e.state.identity(key)
	old, errOld := federation.ExistingWorkOf(identity, before)
	latest, errLatest := federation.ExistingWorkOf(identity, after)
	return errOld != nil || errLatest != nil || old != latest || before.UID != after.UID
}

// enqueueWork enqueues the object of a work: reports of the agents are gathered, and everything else goes first.
func (e *eventHandlers) enqueueWork(initial bool, key inventory.Key, before, after *workv1.ManifestWork) {
	switch {
	case initial:
		e.state.enqueue(queue.PriorityInitial, key)
	case before != nil && federation.StoredHash(before) == federation.StoredHash(after):
		e.state.enqueue(queue.PriorityFleet, key)
	default:
		e.state.enqueue(queue.PriorityUser, key)
	}
}

func (e *eventHandlers) deleteWork(ctx context.Context, last *workv1.ManifestWork) {
	key, ours := e.workKey(last)
	if ours {
		e.history.DeleteWork(key, last)
	}
	if ours && !e.state.works.Observe(key, last, true) {
		e.state.memories.get(key)
		e.state.enqueue(queue.PriorityUser, key)
		e.forgetOnStandby(ctx, key)
	}
}

// workKey returns the key of the object of a work, and whether that is of a kind that is delivered. An annotation that names another object
// than the name of the work is a forged one.
func (e *eventHandlers) workKey(work *workv1.ManifestWork) (inventory.Key, bool) {
	of, name, valid := federation.ParseObject(work.Annotations[federation.ObjectAnnotation])
	key := inventory.Key{NamespacedName: name, GroupKind: inventory.GroupKind(of)}
	return key, valid && e.state.owns(key) && e.state.identity(key).WorkName() == work.Name
}

func (e *eventHandlers) updatePlacement(before, after *clusterv1beta1.Placement, _ bool) {
	if before == nil || before.UID != after.UID || before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero() {
		e.deletePlacement(after)
	}
}

func (e *eventHandlers) deletePlacement(of *clusterv1beta1.Placement) {
	e.state.enqueue(queue.PriorityFleet, e.state.links.following(nameOf(of))...)
}

func (e *eventHandlers) updateDecision(before, after *clusterv1beta1.PlacementDecision, _ bool) {
	if before != nil {
		e.enqueueFollowers(before)
	}
	e.enqueueFollowers(after)
}

// enqueueFollowers enqueues the objects that follow the Placement of a PlacementDecision.
func (e *eventHandlers) enqueueFollowers(page *clusterv1beta1.PlacementDecision) {
	placement := types.NamespacedName{Namespace: page.Namespace, Name: page.Labels[clusterv1beta1.PlacementLabel]}
	e.state.enqueue(queue.PriorityFleet, e.state.links.following(placement)...)
}
