// SPDX-License-Identifier: Apache-2.0

package systems

import (
	"errors"
	"fmt"
	"sync"
	"time"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

// errReleased is returned for a handler that is registered after the system has ended.
var errReleased = errors.New("the system has ended")

// borrowed is an informer of the hub that keeps the handlers which are registered through it. It is safe for concurrent use.
type borrowed struct {
	cache.Informer

	mu            sync.Mutex
	released      bool
	registrations []toolscache.ResourceEventHandlerRegistration
}

// AddEventHandler registers a handler until the system ends.
func (b *borrowed) AddEventHandler(handler toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	return b.keep(func() (toolscache.ResourceEventHandlerRegistration, error) {
		return b.Informer.AddEventHandler(handler)
	})
}

// AddEventHandlerWithResyncPeriod registers a handler until the system ends.
func (b *borrowed) AddEventHandlerWithResyncPeriod(
	handler toolscache.ResourceEventHandler, resync time.Duration,
) (toolscache.ResourceEventHandlerRegistration, error) {
	return b.keep(func() (toolscache.ResourceEventHandlerRegistration, error) {
		return b.Informer.AddEventHandlerWithResyncPeriod(handler, resync)
	})
}

// AddEventHandlerWithOptions registers a handler until the system ends.
func (b *borrowed) AddEventHandlerWithOptions(
	handler toolscache.ResourceEventHandler, options toolscache.HandlerOptions,
) (toolscache.ResourceEventHandlerRegistration, error) {
	return b.keep(func() (toolscache.ResourceEventHandlerRegistration, error) {
		return b.Informer.AddEventHandlerWithOptions(handler, options)
	})
}

func (b *borrowed) keep(
	register func() (toolscache.ResourceEventHandlerRegistration, error),
) (toolscache.ResourceEventHandlerRegistration, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.released {
		return nil, errReleased
	}
	registration, err := register()
	if err == nil {
		b.registrations = append(b.registrations, registration)
	}
	return registration, err
}

// release removes all handlers.
func (b *borrowed) release() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.released = true
	for _, registration := range b.registrations {
		if err := b.RemoveEventHandler(registration); err != nil {
			return fmt.Errorf("removing an event handler: %w", err)
		}
	}
	b.registrations = nil
	return nil
}
