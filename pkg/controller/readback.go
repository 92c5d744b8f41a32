package controller

import (
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/utils/clock"

	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// readback remembers what was written until the cache has caught up with it, so that an evaluation sees its own writes, and an event
// that only brings them back can be told from a change by somebody else. It is safe for concurrent use.
//
// An informer updates its store before it calls its handlers, and the two are seen by different goroutines. So a write is remembered until
// an event of it, or of a later state, was handled, and not only until the store shows it. A write whose event does not come for long is
// looked for (see overdue).
type readback[T metav1.Object] struct {
	clock clock.PassiveClock

	mu      sync.Mutex
	written map[inventory.PlacementKey]map[types.NamespacedName]written[T]
	// held are the events that came for an owner while it is being written for.
	held map[inventory.PlacementKey][]event[T]
}

// event is a state that a watch has shown, the last one if it is of a deletion.
type event[T metav1.Object] struct {
	object  T
	deleted bool
}

type written[T metav1.Object] struct {
	object  T
	deleted bool
	at      time.Time
}

func newReadback[T metav1.Object](c clock.PassiveClock) *readback[T] {
	return &readback[T]{
		clock: c, written: map[inventory.PlacementKey]map[types.NamespacedName]written[T]{}, held: map[inventory.PlacementKey][]event[T]{},
	}
}

// hold puts the judgement of events for an owner off until release: a watch may show a write before its answer is here.
func (r *readback[T]) hold(owner inventory.PlacementKey) {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.held[owner] = []event[T]{}
}

// release judges the events that came since hold, and reports whether one of them shows what was not written by us.
func (r *readback[T]) release(owner inventory.PlacementKey) (surprised bool) {
	r.mu.Lock()
	defer r.mu.Unlock()

	for _, event := range r.held[owner] {
		if !r.judge(owner, event.object, event.deleted) {
			surprised = true
		}
	}

	delete(r.held, owner)

	return surprised
}

// wrote notes the answer to a write for an owner; deleted says that the object was deleted.
func (r *readback[T]) wrote(owner inventory.PlacementKey, object T, deleted bool) {
	r.mu.Lock()
	defer r.mu.Unlock()

	if r.written[owner] == nil {
		r.written[owner] = map[types.NamespacedName]written[T]{}
	}

	r.written[owner][keyOf(object)] = written[T]{object: object, deleted: deleted, at: r.clock.Now()}
}

// expected reports whether an event shows a state that was written by us, or one before it. An event that shows the last write ends the
// memory of it. While the owner is held, everything is expected, and release tells.
func (r *readback[T]) expected(owner inventory.PlacementKey, object T, deleted bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()

	if events, held := r.held[owner]; held {
		r.held[owner] = append(events, event[T]{object: object, deleted: deleted})

		return true
	}

	return r.judge(owner, object, deleted)
}

func (r *readback[T]) judge(owner inventory.PlacementKey, object T, deleted bool) bool {
	key := keyOf(object)

	last, known := r.written[owner][key]
	if !known {
		return false
	}

	same := last.object.GetUID() == object.GetUID()

	switch {
	case deleted && same:
		r.drop(owner, key)

		return last.deleted
	case deleted:
		return later(last.object, object) // An earlier object of the name, which was gone when this one was made.
	case last.deleted:
		return same || later(last.object, object)
	}

	order, ordered := compareAge(object, last.object)
	if !ordered || order >= 0 {
		r.drop(owner, key)
	}

	return ordered && order <= 0
}

func (r *readback[T]) drop(owner inventory.PlacementKey, key types.NamespacedName) {
	delete(r.written[owner], key)

	if len(r.written[owner]) == 0 {
		delete(r.written, owner)
	}
}

// forget drops all that was written for an owner.
func (r *readback[T]) forget(owner inventory.PlacementKey) {
	r.mu.Lock()
	defer r.mu.Unlock()

	delete(r.written, owner)
}

// latest brings what the cache holds up to date with what was written for the owner.
func (r *readback[T]) latest(owner inventory.PlacementKey, cached []T) []T {
	r.mu.Lock()
	defer r.mu.Unlock()

	if len(r.written[owner]) == 0 {
		return cached
	}

	result := make([]T, 0, len(cached))
	seen := map[types.NamespacedName]bool{}

	for _, object := range cached {
		key := keyOf(object)
		seen[key] = true

		last, known := r.written[owner][key]

		switch {
		case !known:
			result = append(result, object)
		case last.deleted && last.object.GetUID() == object.GetUID():
			// Gone; the cache does not know it yet.
		case !last.deleted && later(last.object, object):
			result = append(result, last.object)
		default:
			result = append(result, object)
		}
	}

	for key, last := range r.written[owner] {
		if !seen[key] && !last.deleted {
			result = append(result, last.object)
		}
	}

	return result
}

// later reports whether a is a later state than b.
func later(a, b metav1.Object) bool {
	order, ordered := compareAge(a, b)

	return ordered && order > 0
}

// compareAge compares the ages of two states of an object: positive when a is the later one. Of two that cannot be compared, what the
// cache holds counts, so that nothing is remembered for ever.
func compareAge(a, b metav1.Object) (order int, ordered bool) {
	order, err := resourceversion.CompareResourceVersion(a.GetResourceVersion(), b.GetResourceVersion())

	return order, err == nil
}

func keyOf(object metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}
