package controller

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/placement-hub/placement-hub/pkg/controller/work"
	"github.com/placement-hub/placement-hub/pkg/decision/record"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

const (
	// unconfirmed is after which time a write is looked for whose event has not come, and how often from then on.
	unconfirmed = 30 * time.Second
	// sweepPeriod is how often the hub looks for such writes, and maxConfirmed how many of each kind it asks the API server about each time.
	sweepPeriod  = 10 * time.Second
	maxConfirmed = 50
)

// memento is a write whose event has not come for long.
type memento[T metav1.Object] struct {
	owner   inventory.PlacementKey
	object  T
	deleted bool
}

// confirmed reports whether the cache, which holds the given state or none, has caught up with the write.
func (m memento[T]) confirmed(cached T, found bool) bool {
	if m.deleted {
		return !found || cached.GetUID() != m.object.GetUID()
	}

	return found && !later(m.object, cached)
}

// stands reports whether the API server, which holds the given state or none, shows the write as the last thing that happened.
func (m memento[T]) stands(live metav1.Object, found bool) bool {
	if m.deleted {
		return !found
	}

	return found && live.GetUID() == m.object.GetUID() && live.GetResourceVersion() == m.object.GetResourceVersion()
}

// overdue returns the writes whose events have not come for long, the oldest first and no more than the limit. They are remembered on, and
// returned again when as much time has passed once more.
func (r *readback[T]) overdue(limit int) []memento[T] {
	r.mu.Lock()
	defer r.mu.Unlock()

	type aged struct {
		memento[T]

		at time.Time
	}

	var overdue []aged

	for owner, objects := range r.written {
		for _, last := range objects {
			if r.clock.Since(last.at) >= unconfirmed {
				overdue = append(overdue, aged{memento[T]{owner: owner, object: last.object, deleted: last.deleted}, last.at})
			}
		}
	}

	slices.SortFunc(overdue, func(a, b aged) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(keyOf(a.object).String(), keyOf(b.object).String()))
	})

	mementos := make([]memento[T], 0, min(limit, len(overdue)))

	for _, one := range overdue[:min(limit, len(overdue))] {
		mementos = append(mementos, one.memento)
		r.written[one.owner][keyOf(one.object)] = written[T]{object: one.object, deleted: one.deleted, at: r.clock.Now()}
	}

	return mementos
}

// dismiss forgets a write, unless a later one has taken its place, and reports whether it did.
func (r *readback[T]) dismiss(m memento[T]) bool {
	r.mu.Lock()
	defer r.mu.Unlock()

	key := keyOf(m.object)

	last, known := r.written[m.owner][key]
	if !known || last.deleted != m.deleted || last.object.GetUID() != m.object.GetUID() ||
		last.object.GetResourceVersion() != m.object.GetResourceVersion() {
		return false
	}

	r.drop(m.owner, key)

	return true
}

// forgetObject drops what is remembered of an object.
func (r *readback[T]) forgetObject(owner inventory.PlacementKey, key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.drop(owner, key)
}

// sweep looks for the writes whose events have not come for long. Where the cache is behind, which the API server shows, a write is
// remembered on: without it the placement would be planned on a state that every request is refused for. Where the API server shows that
// the write is not the last thing that happened, its event is lost, and the placement is woken.
func (f *feed) sweep(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, sweepPeriod)
	defer cancel()

	for form, written := range f.pages {
		sweep(ctx, f, written, func(*record.Page) client.Object { return form.Empty() }, form.Read)
	}

	sweep(ctx, f, f.statuses, func(lost *record.Placement) client.Object { return lost.API.Empty() }, record.Read)
}

func sweep[T metav1.Object](
	ctx context.Context, f *feed, written *readback[T], empty func(T) client.Object, read func(runtime.Object) T,
) {
	for _, write := range written.overdue(maxConfirmed) {
		cached, key := empty(write.object), keyOf(write.object)

		err := f.cache.Get(ctx, key, cached)
		if client.IgnoreNotFound(err) == nil && write.confirmed(read(cached), err == nil) {
			written.dismiss(write)
			f.countPages(write.owner)

			continue
		}

		live, found, err := readMetadata(ctx, f.live, empty(write.object), key)
		if err != nil {
			klog.FromContext(ctx).V(2).Info("Cannot ask the API server whether a write stands; it is believed on", "object", key, "err", err)

			continue
		}

		if !write.stands(live, found) && written.dismiss(write) {
			f.countPages(write.owner)
			f.wake(work.Interactive, "unconfirmed", write.owner)
		}
	}
}

// scheme is Scheme, made once.
var scheme = sync.OnceValue(Scheme)

// readMetadata reads the metadata of an object of the kind of example from the API server; false when there is none.
func readMetadata(
	ctx context.Context, live client.Reader, example client.Object, key types.NamespacedName,
) (*metav1.PartialObjectMetadata, bool, error) {
	kind, err := apiutil.GVKForObject(example, scheme())
	if err != nil {
		return nil, false, fmt.Errorf("naming %T: %w", example, err)
	}

	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))

	if err := readOne(ctx, live, list, key); err != nil {
		return nil, false, err
	}

	for i := range list.Items {
		return &list.Items[i], true, nil
	}

	return nil, false, nil
}

// readObject reads an object from the API server into an empty list of its kind; nil when there is none.
func readObject(ctx context.Context, live client.Reader, empty runtime.Object, key types.NamespacedName) (runtime.Object, error) {
	list, ok := empty.(client.ObjectList)
	if !ok {
		return nil, fmt.Errorf("reading %s: %T is no list", key, empty)
	}

	if err := readOne(ctx, live, list, key); err != nil {
		return nil, err
	}

	objects, err := meta.ExtractList(list)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", key, err)
	}

	for _, object := range objects {
		return object, nil
	}

	return nil, nil
}

// readOne lists the one object of a name: a list is as consistent as a get, and takes no right beyond those that the cache has.
func readOne(ctx context.Context, live client.Reader, list client.ObjectList, key types.NamespacedName) error {
	err := live.List(ctx, list, client.InNamespace(key.Namespace), client.MatchingFields{metav1.ObjectNameField: key.Name})
	if err != nil {
		return fmt.Errorf("reading %s from the API server: %w", key, err)
	}

	return nil
}
