// SPDX-License-Identifier: Apache-2.0

package systems

import (
	"errors"
	"testing"

	toolscache "k8s.io/client-go/tools/cache"
)

// The handlers of a system leave an informer of the hub at its end, those of others stay, and later ones are refused.
func TestReleaseRemovesTheHandlersOfASystem(t *testing.T) {
	informer := &fakeInformer{handlers: map[*registration]bool{}}
	if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{}); err != nil {
		t.Fatal(err)
	}
	b := &borrowed{Informer: informer}
	for range 2 {
		if _, err := b.AddEventHandler(toolscache.ResourceEventHandlerFuncs{}); err != nil {
			t.Fatal(err)
		}
	}

	if _, err := b.AddEventHandlerWithOptions(toolscache.ResourceEventHandlerFuncs{}, toolscache.HandlerOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := len(informer.handlers); got != 4 {
		t.Fatalf("the informer has %d handlers, want 4", got)
	}

	for range 2 { // Again it does nothing.
		if err := b.release(); err != nil {
			t.Fatal(err)
		}
		if got := len(informer.handlers); got != 1 {
			t.Errorf("after the release the informer has %d handlers, want the one of the hub", got)
		}
	}

	if _, err := b.AddEventHandler(toolscache.ResourceEventHandlerFuncs{}); !errors.Is(err, errReleased) {
		t.Errorf("a handler after the end of the system: error %v, want %v", err, errReleased)
	}
	if got := len(informer.handlers); got != 1 {
		t.Errorf("a handler after the end of the system was registered: %d handlers", got)
	}
}

// An error of the informer is returned, and the handlers that it could not remove are removed by the next release.
func TestReleaseReturnsErrors(t *testing.T) {
	informer := &fakeInformer{handlers: map[*registration]bool{}}
	b := &borrowed{Informer: informer}
	if _, err := b.AddEventHandler(toolscache.ResourceEventHandlerFuncs{}); err != nil {
		t.Fatal(err)
	}
	informer.stuck = errBroken
	if err := b.release(); !errors.Is(err, errBroken) {
		t.Errorf("error %v, want %v", err, errBroken)
	}

	informer.stuck = nil
	if err := b.release(); err != nil || len(informer.handlers) != 0 {
		t.Errorf("error %v, and %d handlers", err, len(informer.handlers))
	}
}
