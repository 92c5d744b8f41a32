// SPDX-License-Identifier: Apache-2.0

package works

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/system"
)

// managed selects the works of federated objects.
var managed = client.MatchingLabels{federation.ManagedLabel: "true"}

// errWatchEnded means that the watch has ended, so that the History would have a gap.
var errWatchEnded = errors.New("the watch of ManifestWorks has ended")

// History has the events of a watch. It is safe for concurrent use.
type History struct {
	api client.Reader

	mu      sync.Mutex
	events  []Event
	current State
	// latest has the resourceVersion of the last event of each work, also of those that were deleted.
	latest map[types.UID]string
	// last is the resourceVersion of the last event, or of the list before all of them.
	last string
	// changed is closed with the next event, and with the end of the watch.
	changed chan struct{}
	err     error
}

// Record starts to watch the works of all clusters until ctx ends.
func Record(ctx context.Context, config *rest.Config) (*History, error) {
	api, err := client.NewWithWatch(config, client.Options{Scheme: system.Scheme()})
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	list := newList()
	if err := api.List(ctx, list, managed); err != nil {
		return nil, fmt.Errorf("listing ManifestWorks: %w", err)
	}

	h := newHistory(api, list)
	open := func() (watch.Interface, error) {
		return api.Watch(ctx, newList(), managed, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: h.version()}})
	}

	watcher, err := open()
	if err != nil {
		return nil, fmt.Errorf("watching ManifestWorks: %w", err)
	}
	go h.follow(ctx, watcher, open)
	return h, nil
}

// follow records events until ctx ends. An API server ends a watch that is read too slowly; the next one begins after the last event, so that
// there is no gap.
func (h *History) follow(ctx context.Context, watcher watch.Interface, open func() (watch.Interface, error)) {
	for {
		h.receive(watcher.ResultChan())
		watcher.Stop()
		if ctx.Err() != nil {
			h.end(errWatchEnded)
			return
		}

		var err error
		if watcher, err = open(); err != nil {
			h.end(fmt.Errorf("watching ManifestWorks again: %w", err))
			return
		}
	}
}

func newHistory(api client.Reader, list *metav1.PartialObjectMetadataList) *History {
	h := &History{api: api, current: State{}, latest: map[types.UID]string{}, last: list.ResourceVersion, changed: make(chan struct{})}
	for i := range list.Items {
		work := newWork(&list.Items[i])
		h.current[work.UID], h.latest[work.UID] = work, work.ResourceVersion
	}
	return h
}

// newList returns an empty list of the metadata of ManifestWorks.
func newList() *metav1.PartialObjectMetadataList {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(schema.GroupVersion(workv1.GroupVersion).WithKind("ManifestWorkList"))
	return list
}

// receive records events until the watch ends.
func (h *History) receive(events <-chan watch.Event) {
	for event := range events {
		h.add(event)
	}
}

// end notes that nothing is recorded any more.
func (h *History) end(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.err = errors.Join(h.err, err)
	close(h.changed)
	h.changed = make(chan struct{})
}

// version returns the resourceVersion of the last event.
func (h *History) version() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last
}

func (h *History) add(event watch.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	metadata, ok := event.Object.(*metav1.PartialObjectMetadata)
	switch {
	case !ok:
		h.err = errors.Join(h.err, fmt.Errorf("the watch of ManifestWorks says %s: %v", event.Type, event.Object))
	case event.Type != watch.Bookmark:
		h.last = metadata.ResourceVersion
		recorded := Event{Type: event.Type, Work: newWork(metadata)}
		h.events = append(h.events, recorded)
		h.current.apply(recorded)
		h.latest[recorded.Work.UID] = recorded.Work.ResourceVersion
	}

	close(h.changed)
	h.changed = make(chan struct{})
}

// Mark is a moment of a History.
type Mark struct {
	events int
	state  State
}

// Mark returns the present moment.
func (h *History) Mark() Mark {
	h.mu.Lock()
	defer h.mu.Unlock()
	return Mark{events: len(h.events), state: maps.Clone(h.current)}
}

// Keys returns the deliveries that have a work at the moment.
func (m Mark) Keys() map[Key]bool { return m.state.Keys() }

// Since returns what happened from a moment on until now.
func (h *History) Since(mark Mark) Passage {
	h.mu.Lock()
	defer h.mu.Unlock()
	return Passage{Before: mark.state, Events: slices.Clone(h.events[mark.events:]), After: maps.Clone(h.current)}
}

// CatchUp waits until the History has every event up to now. It returns an error when ctx or the watch ends.
func (h *History) CatchUp(ctx context.Context) error {
	list := newList()
	if err := h.api.List(ctx, list, managed); err != nil {
		return fmt.Errorf("listing ManifestWorks: %w", err)
	}

	for {
		h.mu.Lock()
		reached, changed, err := h.reaches(list), h.changed, h.err
		h.mu.Unlock()
		if err != nil {
			return err
		}
		if reached {
			return nil
		}

		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("waiting for %d ManifestWorks in the watch: %w", len(list.Items), ctx.Err())
		}
	}
}

// reaches reports whether every event up to a list was recorded; mu must be held.
func (h *History) reaches(list *metav1.PartialObjectMetadataList) bool {
	listed := make(map[types.UID]bool, len(list.Items))
	for i := range list.Items {
		work := &list.Items[i]
		listed[work.UID] = true
		if latest, known := h.latest[work.UID]; !known || older(latest, work.ResourceVersion) {
			return false
		}
	}

	for uid, work := range h.current {
		if !listed[uid] && !older(list.ResourceVersion, work.ResourceVersion) {
			return false // Its deletion is not recorded yet.
		}
	}
	return true
}

// older compares two versions, which are those of one API server.
func older(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order < 0
}
