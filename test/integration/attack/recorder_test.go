// SPDX-License-Identifier: Apache-2.0

package attack

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/test/history"
)

// recorder watches the pages of all placements of both APIs. A History ends with its watch; the recorder continues when the API server has
// crashed. What happened between its last event and the crash may then be shown as one event for each page.
type recorder struct {
	api client.WithWatch

	mu         sync.Mutex
	recordings map[inventory.Key]*recording
	// last is when the last event came.
	last time.Time
	// err says why nothing is recorded any more.
	err error
}

// recording is what was recorded of one placement.
type recording struct {
	// before is the state at the beginning, and frames are all later ones.
	before history.State
	frames []history.Event
	times  []time.Time
	pages  map[types.UID]clusterv1beta1.PlacementDecision
}

func (r *recording) now() history.State { return history.StateOf(slices.Collect(maps.Values(r.pages))) }

// newRecorder starts to record until the context ends.
func newRecorder(ctx context.Context, hub client.WithWatch) (*recorder, error) {
	r := &recorder{api: hub, recordings: map[inventory.Key]*recording{}, last: time.Now()}
	for _, of := range api.Adapters() {
		version, err := r.relist(ctx, of)
		if err != nil {
			return nil, err
		}
		go r.follow(ctx, of, version)
	}
	return r, nil
}

// follow watches the pages of an API, and begins anew with a list where it cannot go on.
func (r *recorder) follow(ctx context.Context, of api.Adapter, version string) {
	for ctx.Err() == nil {
		list := emptyPages(of)
		opened, err := r.api.Watch(ctx, list, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: version}})
		if err == nil {
			version = r.play(of, opened, version)
			opened.Stop()
		}

		err = persist(ctx, func() error {
			listed, err := r.relist(ctx, of)
			if err == nil {
				version = listed
			}
			return err
		})
		if err != nil && ctx.Err() == nil {
			r.mu.Lock()
			r.err = err
			r.mu.Unlock()
			return
		}
	}
}

// play takes in the events of a watch up to its end, and returns the last version.
func (r *recorder) play(of api.Adapter, opened watch.Interface, version string) string {
	for event := range opened.ResultChan() {
		page := pageOf(of, event.Object)
		if page == nil {
			return version
		}
		r.mu.Lock()
		r.take(of, event.Type, *page)
		r.mu.Unlock()
		version = page.ResourceVersion
	}
	return version
}

// relist takes in all pages of an API as they are now: one frame for each placement that has changed, because the order is not known. The frame
// is after a gap: a page may have been emptied, joined another group and been filled again while no watch was open.
func (r *recorder) relist(ctx context.Context, of api.Adapter) (version string, err error) {
	list := emptyPages(of)
	if err := r.api.List(ctx, list); err != nil {
		return "", fmt.Errorf("listing %T: %w", list, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	listed := map[types.UID]bool{}
	changed := map[inventory.Key]history.Event{}

	err = meta.EachListItem(list, func(object runtime.Object) error {
		page := pageOf(of, object)
		owner := ownerOf(of, page)
		pages := r.recorded(owner).pages
		listed[page.UID] = true
		if known := pages[page.UID]; known.ResourceVersion != page.ResourceVersion {
			pages[page.UID] = *page
			changed[owner] = history.Event{Type: watch.Modified, Page: page, Gap: true}
		}
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("reading %T: %w", list, err)
	}

	for owner, recorded := range r.recordings {
		for uid, page := range recorded.pages {
			if owner.API() == of.Name() && !listed[uid] {
				delete(recorded.pages, uid)
				changed[owner] = history.Event{Type: watch.Deleted, Page: &page, Gap: true}
			}
		}
	}

	for owner, frame := range changed {
		r.recorded(owner).add(frame)
	}
	return list.GetResourceVersion(), nil
}

// take plays an event. The caller holds mu.
func (r *recorder) take(of api.Adapter, event watch.EventType, page clusterv1beta1.PlacementDecision) {
	recorded := r.recorded(ownerOf(of, &page))
	r.last = time.Now()
	if event == watch.Deleted {
		delete(recorded.pages, page.UID)
	} else {
		recorded.pages[page.UID] = page
	}
	recorded.add(history.Event{Type: event, Page: &page})
}

// add adds a frame of the state as it is now.
func (r *recording) add(frame history.Event) {
	frame.Pages = r.now()
	r.frames = append(r.frames, frame)
	r.times = append(r.times, time.Now())
}

func (r *recorder) recorded(owner inventory.Key) *recording {
	if r.recordings[owner] == nil {
		r.recordings[owner] = &recording{pages: map[types.UID]clusterv1beta1.PlacementDecision{}}
	}
	return r.recordings[owner]
}

// cut forgets all frames, and begins with the state as it is now.
func (r *recorder) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for owner, old := range r.recordings {
		if len(old.pages) == 0 {
			delete(r.recordings, owner)
			continue
		}
		r.recordings[owner] = &recording{before: old.now(), pages: old.pages}
	}
}

// shows says which of these pages are not recorded as they are yet.
func (r *recorder) shows(of api.Adapter, owner inventory.Key, pages []*api.Page) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return r.err
	}
	recorded := r.recorded(owner).pages

	for _, page := range pages {
		if recorded[page.UID].ResourceVersion != page.ResourceVersion {
			return fmt.Errorf("page %s of %s is not recorded at version %s yet", page.Name, of.Name(), page.ResourceVersion)
		}
	}
	if len(recorded) != len(pages) {
		return fmt.Errorf("%d pages of %v are recorded, and there are %d", len(recorded), owner, len(pages))
	}
	return nil
}

// idle is how long nothing has happened.
func (r *recorder) idle() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Since(r.last)
}

func emptyPages(of api.Adapter) client.ObjectList {
	list, ok := of.Codec().EmptyList().(client.ObjectList)
	if !ok {
		panic(fmt.Sprintf("%T is no list", of.Codec().EmptyList()))
	}
	return list
}

// pageOf shows a page of any API as one of v1beta1: one of v1alpha1 has no group, as if it were the first one. Nil for other objects.
func pageOf(of api.Adapter, object runtime.Object) *clusterv1beta1.PlacementDecision {
	if page, ok := object.(*clusterv1beta1.PlacementDecision); ok {
		return page
	}
	if _, isStatus := object.(*metav1.Status); isStatus {
		return nil
	}
	page := of.Codec().Read(object)
	if page == nil {
		return nil
	}

	shown := &clusterv1beta1.PlacementDecision{ObjectMeta: *page.ObjectMeta.DeepCopy()}
	shown.Labels[clusterv1beta1.PlacementLabel] = of.Codec().Placement(page)
	shown.Labels[clusterv1beta1.DecisionGroupIndexLabel] = "0"
	shown.Labels[clusterv1beta1.DecisionGroupNameLabel] = ""
	for _, cluster := range page.Clusters() {
		shown.Status.Decisions = append(shown.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: cluster})
	}
	return shown
}

// ownerOf is the placement that a page is labeled with.
func ownerOf(of api.Adapter, page *clusterv1beta1.PlacementDecision) inventory.Key {
	return inventory.NewPlacementKey(of.Name(), page.Namespace, page.Labels[clusterv1beta1.PlacementLabel])
}
