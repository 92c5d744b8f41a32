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
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/controller"
	"github.com/placement-hub/placement-hub/pkg/federation"
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
	// changed is closed with the next event, and with the end of the watch.
	changed chan struct{}
	err     error
}

// Record starts to watch the works of all clusters until ctx ends.
func Record(ctx context.Context, config *rest.Config) (*History, error) {
	api, err := client.NewWithWatch(config, client.Options{Scheme: controller.Scheme()})
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}

	list := newList()
	if err := api.List(ctx, list, managed); err != nil {
		return nil, fmt.Errorf("listing ManifestWorks: %w", err)
	}

	h := newHistory(api, list)

	watcher, err := api.Watch(ctx, newList(), managed, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.ResourceVersion}})
	if err != nil {
		return nil, fmt.Errorf("watching ManifestWorks: %w", err)
	}

	go func() {
		defer watcher.Stop()

		h.receive(watcher.ResultChan())
	}()

	return h, nil
}

func newHistory(api client.Reader, list *metav1.PartialObjectMetadataList) *History {
	h := &History{api: api, current: State{}, changed: make(chan struct{})}

	for i := range list.Items {
		work := newWork(&list.Items[i])
		h.current[work.UID] = work
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

	h.mu.Lock()
	defer h.mu.Unlock()

	h.err = errors.Join(h.err, errWatchEnded)
	close(h.changed)
	h.changed = make(chan struct{})
}

func (h *History) add(event watch.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()

	metadata, ok := event.Object.(*metav1.PartialObjectMetadata)

	switch {
	case !ok:
		h.err = errors.Join(h.err, fmt.Errorf("the watch of ManifestWorks says %s: %v", event.Type, event.Object))
	case event.Type != watch.Bookmark:
		recorded := Event{Type: event.Type, Work: newWork(metadata)}
		h.events = append(h.events, recorded)
		h.current.apply(recorded)
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

// Since returns what happened from a moment on until now.
func (h *History) Since(mark Mark) Passage {
	h.mu.Lock()
	defer h.mu.Unlock()

	return Passage{Before: mark.state, Events: slices.Clone(h.events[mark.events:]), After: maps.Clone(h.current)}
}

// CatchUp waits until the History shows the works that the API server has now. It returns an error when ctx or the watch ends.
func (h *History) CatchUp(ctx context.Context) error {
	list := newList()
	if err := h.api.List(ctx, list, managed); err != nil {
		return fmt.Errorf("listing ManifestWorks: %w", err)
	}

	wanted := newHistory(nil, list).current

	for {
		h.mu.Lock()
		shown, changed, err := maps.Equal(h.current, wanted), h.changed, h.err
		h.mu.Unlock()

		if err != nil {
			return err //nolint:wrapcheck // It names the watch.
		}

		if shown {
			return nil
		}

		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("waiting for %d ManifestWorks in the watch: %w", len(wanted), ctx.Err())
		}
	}
}
