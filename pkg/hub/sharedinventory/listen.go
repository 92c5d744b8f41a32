// SPDX-License-Identifier: Apache-2.0

package sharedinventory

import (
	"context"
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/metrics"
)

// Listener is an event handler of a kind of objects.
type Listener struct {
	// Object is an empty object of the kind, which may be a PartialObjectMetadata.
	Object  client.Object
	Handler toolscache.ResourceEventHandler
	// Cache has the informer of the kind; nil for the cache that Listen is called with.
	Cache cache.Cache
	// Unreadable is a sentence about what the hub does without fields that cannot be decoded. Of a kind with several handlers, the sentence
	// of the first one is told.
	Unreadable string
}

// Listeners returns the kinds of the inventory with the handlers that Listen registers.
func (s *Shared) Listeners() []Listener {
	all := inventory.Kinds()
	kinds := make([]Listener, 0, len(all))
	for _, of := range all {
		handler := objects.On(func(_, after client.Object, _ bool) { s.Set(of, after) }, func(last client.Object) { s.Delete(of, last) })
		kinds = append(kinds, Listener{
			Object: of.New(), Handler: handler, Unreadable: of.Unreadable,
		})
	}
	return kinds
}

// Listen registers the event handlers of a controller's own kinds with the informers of a cache and, on the first call, those of the
// inventory, unless Connect has. It returns when all of them have handled the initial lists, or an error if these did not arrive. The metrics of
// the kinds end with ctx, after which another call may listen to the same kinds.
func (s *Shared) Listen(ctx context.Context, informers cache.Cache, own ...Listener) error {
	if s.followed != nil {
		select {
		case <-s.followed:
		case <-ctx.Done():
			return fmt.Errorf("waiting for the inventory: %w", ctx.Err())
		}
	}

	synced, err := s.registerAll(ctx, informers, own)
	if err != nil {
		return err
	}
	if !toolscache.WaitFor(ctx, "", synced...) {
		return errors.Join(errors.New("the initial lists did not arrive"), ctx.Err())
	}
	return nil
}

// Synced reports whether the inventory has every object of the initial lists.
func (s *Shared) Synced() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, checker := range s.synced {
		select {
		case <-checker.Done():
		default:
			return false
		}
	}
	return len(s.synced) > 0
}

// registerAll registers the handlers of the inventory, unless an earlier call has, and of a controller's own kinds. It returns what tells of
// the initial lists of both.
func (s *Shared) registerAll(ctx context.Context, informers cache.Cache, own []Listener) ([]toolscache.DoneChecker, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.synced == nil {
		synced, err := s.register(ctx, informers, s.Listeners())
		if err != nil {
			return nil, err
		}
		s.synced = synced
	}
	synced, err := s.register(ctx, informers, own)
	return append(synced, s.synced...), err
}

// follow registers the handlers of the inventory, unless an earlier call has.
func (s *Shared) follow(ctx context.Context, informers cache.Cache) error {
	_, err := s.registerAll(ctx, informers, nil)
	return err
}

// register registers the handlers of kinds; mu must be held.
func (s *Shared) register(ctx context.Context, informers cache.Cache, kinds []Listener) ([]toolscache.DoneChecker, error) {
	synced := make([]toolscache.DoneChecker, 0, len(kinds))
	for _, kind := range kinds {
		from := informers
		if kind.Cache != nil {
			from = kind.Cache
		}
		informer, err := from.GetInformer(ctx, kind.Object, cache.BlockUntilSynced(false)) // They list at the same time.
		if err != nil {
			return nil, fmt.Errorf("watching %T: %w", kind.Object, err)
		}

		registration, err := informer.AddEventHandler(kind.Handler)
		if err != nil {
			return nil, fmt.Errorf("listening to %T: %w", kind.Object, err)
		}
		synced = append(synced, registration.HasSyncedChecker())

		known, err := apiutil.GVKForObject(kind.Object, scheme.Known())
		if err != nil {
			return nil, fmt.Errorf("naming %T: %w", kind.Object, err)
		}
		if listening := s.known[known]; listening != nil && listening.Err() == nil {
			continue
		}
		s.known[known] = ctx //nolint:fatcontext // It is the same for all kinds.

		if _, err := informer.AddEventHandler(s.unreadables.handler(known, kind.Unreadable)); err != nil {
			return nil, fmt.Errorf("listening to unreadable %T: %w", kind.Object, err)
		}
		go tellSynced(ctx, metrics.Synced.WithLabelValues(known.GroupKind().String()), registration.HasSyncedChecker())
	}

	return synced, nil
}

// tellSynced sets the gauge of a kind when its initial list was handled, and resets it when the source ends.
func tellSynced(ctx context.Context, reported prometheus.Gauge, synced toolscache.DoneChecker) {
	select {
	case <-synced.Done():
		reported.Set(1)
		<-ctx.Done()
	case <-ctx.Done():
	}
	reported.Set(0)
}
