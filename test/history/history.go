// SPDX-License-Identifier: Apache-2.0

package history

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/system"
)

// bufferSize is the number of events that wait to be applied. The API server drops a watch that is read too slowly.
const bufferSize = 20_000

// Event is one event of the watch and the state of the namespace after it.
type Event struct {
	// Type is the type of the event. Page is the PlacementDecision after it, or its last state if it was deleted.
	Type watch.EventType
	Page *clusterv1beta1.PlacementDecision
	// Pages are all pages after the event, by number.
	Pages State
	// Gap means that other events came before this one and were not seen, because a watch ended and the pages were listed again.
	Gap bool
}

func (e Event) String() string {
	return fmt.Sprintf("%s of %s with %d decisions", e.Type, e.Page.Name, len(e.Page.Status.Decisions))
}

// Text has a line for every event, with the pages after it.
func Text(events []Event) string {
	var lines strings.Builder
	for _, event := range events {
		fmt.Fprintf(&lines, "%s: %s\n", event, event.Pages)
	}
	return lines.String()
}

// Adapter converts objects of another kind to PlacementDecisions.
type Adapter struct {
	// List is an empty list of the kind.
	List client.ObjectList
	// Convert returns a PlacementDecision with the metadata and the clusters of an object; nil if it has another type.
	Convert func(runtime.Object) *clusterv1beta1.PlacementDecision
}

// identity returns the Adapter for PlacementDecisions of v1beta1.
func identity() Adapter {
	return Adapter{List: &clusterv1beta1.PlacementDecisionList{}, Convert: func(object runtime.Object) *clusterv1beta1.PlacementDecision {
		page, _ := object.(*clusterv1beta1.PlacementDecision)
		return page
	}}
}

// History has the events of a watch. It is not safe for concurrent use.
type History struct {
	adapter  Adapter
	received <-chan watch.Event
	pages    map[types.UID]*clusterv1beta1.PlacementDecision
	events   []Event
}

// Record starts to watch the PlacementDecisions of a namespace until ctx ends. PlacementDecisions that exist already are in the Pages of
// the first event.
func Record(ctx context.Context, config *rest.Config, namespace string) (*History, error) {
	return RecordWith(ctx, config, namespace, identity())
}

// RecordWith is Record for another kind of objects.
func RecordWith(ctx context.Context, config *rest.Config, namespace string, adapter Adapter) (*History, error) {
	api, err := client.NewWithWatch(config, client.Options{Scheme: system.Scheme()})
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	if err := api.List(ctx, adapter.List, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("listing PlacementDecisions of namespace %s: %w", namespace, err)
	}
	h := &History{adapter: adapter, pages: map[types.UID]*clusterv1beta1.PlacementDecision{}}

	err = meta.EachListItem(adapter.List, func(object runtime.Object) error {
		page := adapter.Convert(object)
		h.pages[page.UID] = page
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading PlacementDecisions of namespace %s: %w", namespace, err)
	}
	from := &client.ListOptions{Namespace: namespace, Raw: &metav1.ListOptions{ResourceVersion: adapter.List.GetResourceVersion()}}

	opened, err := api.Watch(ctx, adapter.List, from)
	if err != nil {
		return nil, fmt.Errorf("watching PlacementDecisions of namespace %s: %w", namespace, err)
	}
	events := make(chan watch.Event, bufferSize)
	h.received = events

	go func() {
		defer close(events)
		defer opened.Stop()
		for event := range opened.ResultChan() {
			events <- event
		}
	}()
	return h, nil
}

// errWatchEnded means that the watch has ended, so that the History would have a gap.
var errWatchEnded = errors.New("the watch of PlacementDecisions has ended")

// Next waits for one event and applies it. It returns an error when ctx or the watch ends.
func (h *History) Next(ctx context.Context) (Event, error) {
	select {
	case event, open := <-h.received:
		if !open {
			return Event{}, errWatchEnded
		}
		return h.apply(event)
	case <-ctx.Done():
		return Event{}, fmt.Errorf("waiting for an event of a PlacementDecision: %w", ctx.Err())
	}
}

// Until applies events until the state has exactly these pages. It returns an error when ctx or the watch ends.
func (h *History) Until(ctx context.Context, pages []clusterv1beta1.PlacementDecision) error {
	for !h.shows(pages) {
		if _, err := h.Next(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Drain applies the events that have arrived, without waiting for more. It returns an error if the watch has ended.
func (h *History) Drain() error {
	for {
		select {
		case event, open := <-h.received:
			if !open {
				return errWatchEnded
			}
			if _, err := h.apply(event); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

// Events returns all events that were applied so far.
func (h *History) Events() []Event { return slices.Clone(h.events) }

// Current returns the state after the last applied event.
func (h *History) Current() State { return newState(maps.Values(h.pages)) }

func (h *History) apply(event watch.Event) (Event, error) {
	page := h.adapter.Convert(event.Object)
	if page == nil {
		return Event{}, fmt.Errorf("the watch of PlacementDecisions says %s: %v", event.Type, event.Object)
	}
	if event.Type == watch.Deleted {
		delete(h.pages, page.UID)
	} else {
		h.pages[page.UID] = page
	}

	recorded := Event{Type: event.Type, Page: page, Pages: h.Current()}
	h.events = append(h.events, recorded)
	return recorded, nil
}

func (h *History) shows(pages []clusterv1beta1.PlacementDecision) bool {
	return len(h.pages) == len(pages) && !slices.ContainsFunc(pages, func(page clusterv1beta1.PlacementDecision) bool {
		seen := h.pages[page.UID]
		return seen == nil || seen.ResourceVersion != page.ResourceVersion
	})
}
