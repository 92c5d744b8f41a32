package film

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
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

// Film is a recording. Its methods are for one goroutine.
type Film struct {
	events <-chan watch.Event
	pages  map[types.UID]*clusterv1beta1.PlacementDecision
	frames []Frame
}

// Record starts to watch the PlacementDecisions of a namespace until ctx ends. Those that exist already belong to the first frame.
func Record(ctx context.Context, config *rest.Config, namespace string) (*Film, error) {
	scheme := runtime.NewScheme()
	utilruntime.Must(clusterv1beta1.Install(scheme))

	api, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}

	list := &clusterv1beta1.PlacementDecisionList{}
	if err := api.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("listing PlacementDecisions of namespace %s: %w", namespace, err)
	}

	film := &Film{pages: map[types.UID]*clusterv1beta1.PlacementDecision{}}
	for i := range list.Items {
		film.pages[list.Items[i].UID] = &list.Items[i]
	}

	from := &client.ListOptions{Namespace: namespace, Raw: &metav1.ListOptions{ResourceVersion: list.ResourceVersion}}

	opened, err := api.Watch(ctx, &clusterv1beta1.PlacementDecisionList{}, from)
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
	page, ok := event.Object.(*clusterv1beta1.PlacementDecision)
	if !ok {
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
