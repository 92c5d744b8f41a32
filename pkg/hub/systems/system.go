// SPDX-License-Identifier: Apache-2.0

package systems

import (
	"fmt"
	"net/http"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/pkg/metrics"
)

// Need is a kind without which a system is off, by its resource, or by its kind where the resource is not known.
type Need struct {
	schema.GroupVersion

	Resource, Kind string
}

// String returns the name of the CustomResourceDefinition, or the kind.
func (n Need) String() string {
	if n.Resource == "" {
		return "the definition of " + n.GroupVersion.WithKind(n.Kind).String()
	}
	return "CustomResourceDefinition " + n.Resource + "." + n.Group
}

// System is an opt-in system: what it needs, and how it is built.
type System struct {
	// Name is the name of the system, as --controllers takes it.
	Name string
	// Groups are the API groups whose kinds the system has in a cache of its own.
	Groups []string
	// Needs are the kinds that the API server has to serve.
	Needs []Need
	// Cache returns the settings of that cache.
	Cache func() cache.Options
	// Setup adds the controllers of the system to a manager, which is a new one at each start, and returns the handlers of its webhooks by path.
	Setup func(manager.Manager) (map[string]http.Handler, error)

	mu sync.Mutex
	// reason is why the system is off; empty while it is on. started reports whether the system was on, or known to be off, before.
	reason  string
	started bool
	// handlers are those of the webhooks while the system is starting or on.
	handlers map[string]http.Handler
	// watches returns an error that names the broken watches of the system; nil while it is off.
	watches func() error
}

// starting is the reason before the first look at what the API server serves.
const starting = "it is starting"

// owns reports whether the system has the kinds of a group in its own cache.
func (s *System) owns(group string) bool {
	return slices.Contains(s.Groups, group)
}

// Off returns why the system is off; empty while it is on.
func (s *System) Off() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reason
}

// Ready returns an error until the caches of the system have synced, or the system is known to be off, for the first time.
func (s *System) Ready() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.started {
		return fmt.Errorf("the system %s is not ready: %s", s.Name, s.reason)
	}
	return nil
}

// Watches returns an error that names the watches of the system that have been broken for long.
func (s *System) Watches() error {
	s.mu.Lock()
	watches := s.watches
	s.mu.Unlock()
	if watches == nil {
		return nil
	}
	return watches()
}

// Handler returns the handler of a webhook. It returns an error while the system is off, which a server has to answer as its own failure and
// not as a review.
func (s *System) Handler(path string) (http.Handler, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if handler, found := s.handlers[path]; found {
		return handler, nil
	}
	return nil, fmt.Errorf("the system %s of the hub is off: %s", s.Name, s.reason)
}

// serve has the handlers answer. The caches may not have synced: a handler waits for what it needs, or says what it could not read.
func (s *System) serve(handlers map[string]http.Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handlers = handlers
}

// turnOn records that the system is on.
func (s *System) turnOn(watches func() error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reason, s.started, s.watches = "", true, watches
	metrics.SystemOn.WithLabelValues(s.Name).Set(1)
}

// turnOff records why the system is off, and reports whether that is new. known says that it stays off until the API server changes.
func (s *System) turnOff(reason string, known bool) (changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed = s.reason != reason
	s.reason, s.handlers, s.watches = reason, nil, nil
	s.started = s.started || known
	metrics.SystemOn.WithLabelValues(s.Name).Set(0)
	return changed
}
