// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
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
func (f *eventHandlers) source() *sharedinventory.Source {
	return &sharedinventory.Source{
		Subscriber: f.state.Subscriber, Keys: "placements", Cause: "placement", Known: f.state.requests.keys, Listen: f.listen,
		Cache: f.cache, Live: f.live, Elected: f.elected, Recorder: f.recorder, FormerRenewal: f.formerRenewal,
	}
}

// withoutFields is the consequence of unreadable fields of the objects that the hub writes, and of ClusterProfiles.
const withoutFields = "The hub does without them."

// kinds returns the kinds that are watched beside those of the inventory: Placements, their decisions, and ClusterProfiles.
func (f *eventHandlers) kinds() []sharedinventory.Kind {
	var kinds []sharedinventory.Kind

	for _, adapter := range f.state.served.apis {
		kinds = append(kinds, sharedinventory.Kind{
			Object: adapter.Empty(), Handler: freshness.Observe(f.state.Shared.Observed, placements(adapter), f.placements(adapter)),
			Unreadable: "If they are in its spec, its decisions stay as they are.",
		})
	}

	for _, codec := range f.state.served.forms() {
		kinds = append(kinds, sharedinventory.Kind{Object: codec.Empty(), Handler: f.decisions(codec), Unreadable: withoutFields})
	}

	if f.state.served.profiles {
		kinds = append(kinds, sharedinventory.Kind{
			Object: &clusterinventory.ClusterProfile{}, Handler: objects.On(f.updateProfile, f.deleteProfile), Unreadable: withoutFields,
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
func (f *eventHandlers) listen(ctx context.Context) error {
	if err := f.state.Shared.Listen(ctx, f.cache, f.kinds()...); err != nil {
		return err
	}

	f.state.Synced.Store(true)

	return nil
}

// placements returns the event handler of the Placements of an API.
func (f *eventHandlers) placements(adapter api.Adapter) toolscache.ResourceEventHandler {
	return objects.On(func(before, after api.Object, initial bool) {
		f.updatePlacement(readOr(adapter.Read, before), adapter.Read(after), initial)
	}, func(last api.Object) {
		key := adapter.Read(last).Key()
		f.state.forget(key)
		f.state.Enqueue(queue.PriorityInitial, "placement", key) // An evaluation that is under way may remember it once more.
	})
}

// readOr reads an object; nil for none.
func readOr[T any](read func(runtime.Object) *T, object api.Object) *T {
	if object == nil {
		return nil
	}

	return read(object)
}

func (f *eventHandlers) updatePlacement(before, after *api.Placement, initial bool) {
	at, key := time.Now(), after.Key()
	if before != nil && before.UID != after.UID {
		f.state.forget(key) // It was deleted and made again while the watch was broken.
	}

	mine := f.state.statuses.Observe(key, after, false)

	if !managed(after) {
		f.state.skip(after)

		if before != nil && managed(before) {
			f.state.Enqueue(queue.PriorityInitial, "placement", key) // An evaluation that is under way may remember it once more.
		}

		return
	}

	f.state.requests.of(after)

	resync := before != nil && before.ResourceVersion == after.ResourceVersion
	if mine && before != nil && before.Generation == after.Generation && managed(before) {
		return // Our own status comes back.
	}

	f.state.EnqueueChanged(initial || resync, "placement", at, key)
}

func (f *eventHandlers) updateProfile(_, after *clusterinventory.ClusterProfile, _ bool) {
	at, profile := time.Now(), clusterinfo.Profile{Namespace: after.Namespace, Name: after.Name}
	f.state.Shared.Notify(at, f.state.inventory.SetProfile(profile, claimsOf(after)))
}

func (f *eventHandlers) deleteProfile(last *clusterinventory.ClusterProfile) {
	at := time.Now()
	f.state.Shared.Notify(at, f.state.inventory.DeleteProfile(clusterinfo.Profile{Namespace: last.Namespace, Name: last.Name}))
}

// decisions returns the event handler of the PlacementDecisions of a format. It enqueues the Placements that a page belongs to, and those
// that it belonged to, unless the event shows an own write.
func (f *eventHandlers) decisions(codec api.Codec) toolscache.ResourceEventHandler {
	return objects.On(func(before, after api.Object, initial bool) {
		page := codec.Read(after)
		f.countDecisions(codec, page)

		keys := owners(codec, page)
		if before := readOr(codec.Read, before); before != nil {
			keys = append(keys, owners(codec, before)...)
			initial = initial || before.ResourceVersion == page.ResourceVersion
		}

		f.enqueueOwners(codec, keys, page, false, initial)
	}, func(last api.Object) {
		page := codec.Read(last)
		f.state.inventory.DeleteDecision(codec.Key(page.Namespace, page.Name))
		f.enqueueOwners(codec, owners(codec, page), page, true, false)
	})
}

// countDecisions updates the decision counts of the inventory. It ignores mirrored formats, which repeat decisions.
func (f *eventHandlers) countDecisions(codec api.Codec, page *api.Page) {
	for _, adapter := range f.state.served.apis {
		if adapter.Codec() == codec {
			f.state.inventory.SetDecision(api.InventoryPage(adapter, page))
		}
	}
}

func (f *eventHandlers) enqueueOwners(codec api.Codec, keys []inventory.Key, page *api.Page, deleted, initial bool) {
	at, expected := time.Now(), map[inventory.Key]bool{}

	for _, key := range keys {
		if _, asked := expected[key]; !asked {
			expected[key] = f.state.pages[codec].Observe(key, page, deleted)
		}
	}

	for key, mine := range expected {
		if !mine {
			f.state.EnqueueChanged(initial, "decision", at, key)
		}

		f.state.countWritten(key)
	}
}

func owners(codec api.Codec, page *api.Page) []inventory.Key {
	names := placement.PlacementsOf(codec, page)
	keys := make([]inventory.Key, 0, len(names))

	for _, name := range names {
		keys = append(keys, inventory.NewPlacementKey(inventory.API(codec.Owner().Group), page.Namespace, name))
	}

	return keys
}
