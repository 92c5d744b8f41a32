package film

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/controller"
)

// reel is how many events wait to be played: an API server drops a watch that is read too slowly.
const reel = 20_000

// Frame is one event and the state of the namespace after it.
type Frame struct {
	// Type is what happened to Page, which is its state after the event, or its last one when it was deleted.
	Type watch.EventType
	Page *clusterv1beta1.PlacementDecision
	// Pages are all that exist after the event, by number.
	Pages State
}

func (f Frame) String() string {
	return fmt.Sprintf("%s of %s with %d decisions", f.Type, f.Page.Name, len(f.Page.Status.Decisions))
}

// Lens shows objects of another kind as PlacementDecisions.
type Lens struct {
	// List is an empty list of the kind.
	List client.ObjectList
	// Show makes a PlacementDecision of an object: its metadata, and the clusters as its decisions. Nil when it is of another type.
	Show func(runtime.Object) *clusterv1beta1.PlacementDecision
}

// plain is the lens for PlacementDecisions as they are.
func plain() Lens {
	return Lens{List: &clusterv1beta1.PlacementDecisionList{}, Show: func(object runtime.Object) *clusterv1beta1.PlacementDecision {
		page, _ := object.(*clusterv1beta1.PlacementDecision)

		return page
	}}
}

// Film is a recording. Its methods are for one goroutine.
type Film struct {
	lens   Lens
	events <-chan watch.Event
	pages  map[types.UID]*clusterv1beta1.PlacementDecision
	frames []Frame
}

// Record starts to watch the PlacementDecisions of a namespace until ctx ends. Those that exist already belong to the first frame.
func Record(ctx context.Context, config *rest.Config, namespace string) (*Film, error) {
	return RecordThrough(ctx, config, namespace, plain())
}

// RecordThrough is Record of what a lens shows.
func RecordThrough(ctx context.Context, config *rest.Config, namespace string, lens Lens) (*Film, error) {
	api, err := client.NewWithWatch(config, client.Options{Scheme: controller.Scheme()})
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}

	if err := api.List(ctx, lens.List, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("listing PlacementDecisions of namespace %s: %w", namespace, err)
	}

	film := &Film{lens: lens, pages: map[types.UID]*clusterv1beta1.PlacementDecision{}}

	err = meta.EachListItem(lens.List, func(object runtime.Object) error {
		page := lens.Show(object)
		film.pages[page.UID] = page

		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading PlacementDecisions of namespace %s: %w", namespace, err)
	}

	from := &client.ListOptions{Namespace: namespace, Raw: &metav1.ListOptions{ResourceVersion: lens.List.GetResourceVersion()}}

	opened, err := api.Watch(ctx, lens.List, from)
	if err != nil {
		return nil, fmt.Errorf("watching PlacementDecisions of namespace %s: %w", namespace, err)
	}

	events := make(chan watch.Event, reel)
	film.events = events

	go func() {
		defer close(events)
		defer opened.Stop()

		for event := range opened.ResultChan() {
			events <- event
		}
	}()

	return film, nil
}

// errCut says that the watch has ended, so that the film would have a gap.
var errCut = errors.New("the watch of PlacementDecisions has ended")

// Next waits for one event and plays it.
func (f *Film) Next(ctx context.Context) (Frame, error) {
	select {
	case event, open := <-f.events:
		if !open {
			return Frame{}, errCut
		}

		return f.play(event)
	case <-ctx.Done():
		return Frame{}, fmt.Errorf("waiting for an event of a PlacementDecision: %w", ctx.Err())
	}
}

// Until plays the film up to the point where it shows exactly these pages.
func (f *Film) Until(ctx context.Context, pages []clusterv1beta1.PlacementDecision) error {
	for !f.shows(pages) {
		if _, err := f.Next(ctx); err != nil {
			return err
		}
	}

	return nil
}

// Seen plays what has arrived, without waiting for more.
func (f *Film) Seen() error {
	for {
		select {
		case event, open := <-f.events:
			if !open {
				return errCut
			}

			if _, err := f.play(event); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

// Frames are all events that were played so far.
func (f *Film) Frames() []Frame { return slices.Clone(f.frames) }

// Now is the state after the last event that was played.
func (f *Film) Now() State { return newState(maps.Values(f.pages)) }

func (f *Film) play(event watch.Event) (Frame, error) {
	page := f.lens.Show(event.Object)
	if page == nil {
		return Frame{}, fmt.Errorf("the watch of PlacementDecisions says %s: %v", event.Type, event.Object)
	}

	if event.Type == watch.Deleted {
		delete(f.pages, page.UID)
	} else {
		f.pages[page.UID] = page
	}

	frame := Frame{Type: event.Type, Page: page, Pages: f.Now()}
	f.frames = append(f.frames, frame)

	return frame, nil
}

func (f *Film) shows(pages []clusterv1beta1.PlacementDecision) bool {
	return len(f.pages) == len(pages) && !slices.ContainsFunc(pages, func(page clusterv1beta1.PlacementDecision) bool {
		seen := f.pages[page.UID]

		return seen == nil || seen.ResourceVersion != page.ResourceVersion
	})
}
