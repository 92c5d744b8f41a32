// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/hub/freshness"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/hub/sharedinventory"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// eventHandlers are those of the source of the controller: it has the shared inventory updated, handles the events of Placements and their
// decisions, and enqueues the Placements that an event concerns. Changes of a Placement or its decisions have the highest priority, then
// changes of clusters, sets and bindings, then the initial lists.
type eventHandlers struct {
	// state is shared with the reconciler.
	state *state
	cache cache.Cache
	// live reads from the API server, not from the cache.
	live client.Reader
	// elected is closed when this process becomes the leader, whose workers take keys from the queue.
	elected <-chan struct{}
	// recorder sends events about unreadable objects from the election on.
	recorder events.EventRecorder
	// formerRenewal is queue.Settings.FormerRenewal.
	formerRenewal func() time.Time
}

// source returns the source of the controller.
func (e *eventHandlers) source() *sharedinventory.Source {
	return &sharedinventory.Source{
		Subscriber: e.state.Subscriber, Keys: "placements", Cause: "placement", Known: e.state.requests.keys, Listen: e.listen,
		Cache: e.cache, Live: e.live, Elected: e.elected, Recorder: e.recorder, FormerRenewal: e.formerRenewal,
	}
}

// withoutFields is the consequence of unreadable fields of the objects that the hub writes, and of ClusterProfiles.
const withoutFields = "The hub does without them."

// kinds returns the kinds that are watched beside those of the inventory: Placements, their decisions, and ClusterProfiles.
func (e *eventHandlers) kinds() []sharedinventory.Listener {
	var kinds []sharedinventory.Listener
	for _, adapter := range e.state.served.apis {
		kinds = append(kinds, sharedinventory.Listener{
			Object: adapter.Empty(), Handler: freshness.Observe(e.state.Shared.Observed, placements(adapter), e.placements(adapter)),
			Unreadable: "If they are in its spec, its decisions stay as they are.",
		})
	}
	for _, codec := range e.state.served.forms() {
		kinds = append(kinds, sharedinventory.Listener{Object: codec.Empty(), Handler: e.decisions(codec), Unreadable: withoutFields})
	}

	if e.state.served.profiles {
		kinds = append(kinds, sharedinventory.Listener{
			Object: &clusterinventory.ClusterProfile{}, Handler: objects.On(e.updateProfile, e.deleteProfile), Unreadable: withoutFields,
		})
	}
	return kinds
}

// placements returns the resource of the Placements of an API.
func placements(adapter api.Adapter) schema.GroupVersionResource {
	owner := adapter.Kind()
	return owner.GroupVersion().WithResource("placements")
}

// listen registers the event handlers, and returns when all of them have handled the initial lists.
func (e *eventHandlers) listen(ctx context.Context) error {
	if err := e.state.Shared.Listen(ctx, e.cache, e.kinds()...); err != nil {
		return err
	}
	e.state.Synced.Store(true)
	return nil
}

// placements returns the event handler of the Placements of an API.
func (e *eventHandlers) placements(adapter api.Adapter) toolscache.ResourceEventHandler {
	return objects.On(func(before, after api.Object, initial bool) {
		e.updatePlacement(readOr(adapter.Read, before), adapter.Read(after), initial)
	}, func(last api.Object) {
		key := adapter.Read(last).Key()
		e.state.forget(key)
		e.state.Enqueue(queue.PriorityInitial, "placement", key) // An evaluation that is under way may remember it once more.
	})
}

// readOr reads an object; nil for none.
func readOr[T any](read func(runtime.Object) *T, object api.Object) *T {
	if object == nil {
		return nil
	}
	return read(object)
}

func (e *eventHandlers) updatePlacement(before, after *api.Placement, initial bool) {
	at, key := time.Now(), after.Key()
	if before != nil && before.UID != after.UID {
		e.state.forget(key) // It was deleted and made again while the watch was broken.
	}
	mine := e.state.statuses.Observe(key, after, false)

	if !managed(after) {
		e.state.skip(after)
		if before != nil && managed(before) {
			e.state.Enqueue(queue.PriorityInitial, "placement", key) // An evaluation that is under way may remember it once more.
		}
		return
	}
	e.state.requests.of(after)

	resync := before != nil && before.ResourceVersion == after.ResourceVersion
	if mine && before != nil && before.Generation == after.Generation && managed(before) {
		return // Our own status comes back.
	}
	e.state.EnqueueChanged(initial || resync, "placement", at, key)
}

func (e *eventHandlers) updateProfile(_, after *clusterinventory.ClusterProfile, _ bool) {
	at, profile := time.Now(), clusterinfo.Profile{Namespace: after.Namespace, Name: after.Name}
	e.state.Shared.Notify(at, e.state.inventory.SetProfile(profile, claimsOf(after)))
}

func (e *eventHandlers) deleteProfile(last *clusterinventory.ClusterProfile) {
	at := time.Now()
	e.state.Shared.Notify(at, e.state.inventory.DeleteProfile(clusterinfo.Profile{Namespace: last.Namespace, Name: last.Name}))
}

// decisions returns the event handler of the PlacementDecisions of a format. It enqueues the Placements that a page belongs to, and those
// that it belonged to, unless the event shows an own write.
func (e *eventHandlers) decisions(codec api.Codec) toolscache.ResourceEventHandler {
	return objects.On(func(before, after api.Object, initial bool) {
		page := codec.Read(after)
		e.countDecisions(codec, page)
		keys, former := owners(codec, page), (*api.Page)(nil)
		if before := readOr(codec.Read, before); before != nil {
			keys = append(keys, owners(codec, before)...)
			initial = initial || before.ResourceVersion == page.ResourceVersion
			if lacks(page, before) {
				former = before
			}
		}
		e.enqueueOwners(codec, keys, page, former, false, initial)
	}, func(last api.Object) {
		page := codec.Read(last)
		e.state.inventory.DeleteDecision(codec.Key(page.Namespace, page.Name))
		e.enqueueOwners(codec, owners(codec, page), page, page, true, false)
	})
}

// countDecisions updates the decision counts of the inventory. It ignores mirrored formats, which repeat decisions.
func (e *eventHandlers) countDecisions(codec api.Codec, page *api.Page) {
	for _, adapter := range e.state.served.apis {
		if adapter.Codec() == codec {
			e.state.inventory.SetDecision(api.InventoryPage(adapter, page))
		}
	}
}

// enqueueOwners enqueues the Placements of a page that shows no own write, and notes the clusters of the former page, from which others have taken
// some; it is nil if they have not.
func (e *eventHandlers) enqueueOwners(codec api.Codec, keys []inventory.Key, page, former *api.Page, deleted, initial bool) {
	at, expected := time.Now(), map[inventory.Key]bool{}
	for _, key := range keys {
		if _, asked := expected[key]; !asked {
			expected[key] = e.state.pages[codec].Observe(key, page, deleted)
		}
	}

	for key, mine := range expected {
		if !mine {
			if former != nil && e.leads() {
				e.noteTakenOut(key, former)
			}
			e.state.EnqueueChanged(initial, "decision", at, key)
		}
		e.state.countWritten(key)
	}
}

// leads reports whether this process is the leader. Before that, another process writes decisions.
func (e *eventHandlers) leads() bool {
	select {
	case <-e.elected:
		return true
	default:
		return false
	}
}

// noteTakenOut notes the clusters of a page of a Placement from which others have taken some. A page that others have changed before does not count:
// they could name any clusters on it.
func (e *eventHandlers) noteTakenOut(key inventory.Key, former *api.Page) {
	if e.state.requests.mayOwn(key, former) && len(e.state.contents.edited(key, []*api.Page{former})) == 0 {
		e.state.takenOut.note(key, former.Clusters())
	}
}

// lacks reports whether a page lacks a cluster that it had before.
func lacks(page, before *api.Page) bool {
	return !sets.New(page.Clusters()...).HasAll(before.Clusters()...)
}

func owners(codec api.Codec, page *api.Page) []inventory.Key {
	names := placement.PlacementsOf(codec, page)
	keys := make([]inventory.Key, 0, len(names))
	for _, name := range names {
		keys = append(keys, inventory.NewPlacementKey(inventory.API(codec.Owner().Group), page.Namespace, name))
	}
	return keys
}
