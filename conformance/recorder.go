// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	inventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/cluster-inventory-api/client/clientset/versioned"
)

// event is a change of a slice.
type event struct {
	uid   types.UID
	what  string                       // ADDED, MODIFIED or DELETED and the name
	slice *inventory.PlacementDecision // after the change; nil if it was deleted
}

// recorder records every state of the slices of all namespaces, but for those that existed before.
type recorder struct {
	mu      sync.Mutex
	foreign map[types.UID]bool
	current map[types.UID]*inventory.PlacementDecision
	events  []event
	changed chan struct{} // closed and replaced at each event
	failed  error         // of the watch
}

// record begins to record. Slices that exist are foreign. It ends with the context.
func record(ctx context.Context, client versioned.Interface) (*recorder, error) {
	decisions := client.ApisV1alpha1().PlacementDecisions(metav1.NamespaceAll)
	list, err := decisions.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list PlacementDecisions: %w", err)
	}
	r := &recorder{foreign: map[types.UID]bool{}, current: map[types.UID]*inventory.PlacementDecision{}, changed: make(chan struct{})}
	for i := range list.Items {
		r.foreign[list.Items[i].UID] = true
	}
	watcher, err := watchtools.NewRetryWatcherWithContext(ctx, list.ResourceVersion, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return decisions.Watch(ctx, options)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("watch PlacementDecisions: %w", err)
	}
	go func() {
		for e := range watcher.ResultChan() {
			r.observe(e)
		}
	}()
	return r, nil
}

func (r *recorder) observe(e watch.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	slice, isSlice := e.Object.(*inventory.PlacementDecision)
	switch {
	case e.Type == watch.Bookmark:
		return
	case e.Type == watch.Error || !isSlice:
		r.failed = fmt.Errorf("the watch of PlacementDecisions ended: %v", e.Object)
	case r.foreign[slice.UID]:
		return
	case e.Type == watch.Deleted:
		delete(r.current, slice.UID)
		r.events = append(r.events, event{slice.UID, "DELETED " + nameOf(slice), nil})
	default:
		r.current[slice.UID] = slice
		r.events = append(r.events, event{slice.UID, string(e.Type) + " " + nameOf(slice), slice})
	}
	close(r.changed)
	r.changed = make(chan struct{})
}

// decision returns the slices that exist, by namespace and name, and how many events there were.
func (r *recorder) decision() ([]inventory.PlacementDecision, int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	decision := make([]inventory.PlacementDecision, 0, len(r.current))
	for _, slice := range r.current {
		decision = append(decision, *slice)
	}
	slices.SortFunc(decision, func(a, b inventory.PlacementDecision) int { return strings.Compare(nameOf(&a), nameOf(&b)) })
	return decision, len(r.events)
}

// next returns a channel that is closed at the next event.
func (r *recorder) next() (<-chan struct{}, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changed, r.failed
}

// await waits until a condition holds, and reports whether it does before the time is over.
func (r *recorder) await(ctx context.Context, within time.Duration, holds func() bool) (bool, error) {
	timer := time.NewTimer(within)
	defer timer.Stop()
	for {
		changed, err := r.next()
		if err != nil || holds() {
			return err == nil, err
		}
		select {
		case <-changed:
		case <-timer.C:
			return holds(), nil
		case <-ctx.Done():
			return false, context.Cause(ctx) //nolint:wrapcheck // The test has ended.
		}
	}
}

// quiet waits until there was no event for a time.
func (r *recorder) quiet(ctx context.Context, during, within time.Duration) error {
	end := time.Now().Add(within)
	for {
		changed, err := r.next()
		if err != nil {
			return err
		}
		select {
		case <-changed:
			if time.Now().After(end) {
				return fmt.Errorf("slices are still written after %s", within)
			}
		case <-time.After(during):
			return nil
		case <-ctx.Done():
			return context.Cause(ctx) //nolint:wrapcheck // The test has ended.
		}
	}
}

// since returns the events from a number on, as texts.
func (r *recorder) since(mark int) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	texts := make([]string, 0, len(r.events)-mark)
	for _, e := range r.events[mark:] {
		texts = append(texts, e.what)
	}
	return texts
}

// lost returns the profiles that some state from an event on lacks, each with the event that removed it.
func (r *recorder) lost(
	mark int, staying []ProfileRef, unionOf func([]inventory.PlacementDecision) map[ProfileRef]bool,
) map[ProfileRef]string {
	r.mu.Lock()
	events := slices.Clone(r.events)
	r.mu.Unlock()
	state := map[types.UID]*inventory.PlacementDecision{}
	lost := map[ProfileRef]string{}

	for i, e := range events {
		if state[e.uid] = e.slice; e.slice == nil {
			delete(state, e.uid)
		}
		if i < mark {
			continue
		}
		present := make([]inventory.PlacementDecision, 0, len(state))
		for slice := range maps.Values(state) {
			present = append(present, *slice)
		}
		union := unionOf(present)
		for _, profile := range staying {
			if _, known := lost[profile]; !known && !union[profile] {
				lost[profile] = e.what
			}
		}
	}
	return lost
}
