package placement

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/controller/assumecache"
	"github.com/placement-hub/placement-hub/pkg/controller/queue"
	"github.com/placement-hub/placement-hub/pkg/decision/api"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

const (
	// sweepPeriod is how often the hub checks expired writes, and maxConfirmed how many of each kind it reads from the API server each
	// time.
	sweepPeriod  = 10 * time.Second
	maxConfirmed = 50
)

// sweep checks writes whose events have not come for long. Where the API server shows that the cache is behind, a write stays assumed:
// without it every request for the Placement would conflict. Where it shows that the write is not the latest change, the event was lost,
// and the Placement is enqueued.
func (f *eventHandlers) sweep(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, sweepPeriod)
	defer cancel()

	for codec, writes := range f.state.pages {
		sweep(ctx, f, writes, func(*api.Page) client.Object { return codec.Empty() }, codec.Read)
	}

	sweep(ctx, f, f.state.statuses, func(lost *api.Placement) client.Object { return lost.API.Empty() }, api.Read)
}

func sweep[T metav1.Object](
	ctx context.Context, f *eventHandlers, writes *assumecache.Cache[inventory.Key, T],
	empty func(T) client.Object, read func(runtime.Object) T,
) {
	for _, write := range writes.Expired(maxConfirmed) {
		cached, key := empty(write.Object), keyOf(write.Object)

		err := f.cache.Get(ctx, key, cached)
		if client.IgnoreNotFound(err) == nil && write.ShownBy(read(cached), err == nil) {
			writes.Drop(write)
			f.state.countWritten(write.Owner)

			continue
		}

		live, found, err := readMetadata(ctx, f.live, empty(write.Object), key)
		if err != nil {
			klog.FromContext(ctx).V(2).Info("Cannot ask the API server whether a write stands; it is believed on", "object", key, "err", err)

			continue
		}

		if !write.IsLatest(live, found) && writes.Drop(write) {
			f.state.countWritten(write.Owner)
			f.state.enqueue(queue.PriorityUser, "unconfirmed_write", write.Owner)
		}
	}
}

// knownTypes is the scheme of the hub, built once.
var knownTypes = sync.OnceValue(scheme.New)

// readMetadata reads the metadata of an object of the kind of example from the API server; false if there is none.
func readMetadata(
	ctx context.Context, live client.Reader, example client.Object, key types.NamespacedName,
) (*metav1.PartialObjectMetadata, bool, error) {
	kind, err := apiutil.GVKForObject(example, knownTypes())
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

// readObject reads an object from the API server into an empty list of its kind; nil if there is none.
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

// readOne lists the object of a name: a list is as consistent as a get, and needs no permission beyond those of the cache.
func readOne(ctx context.Context, live client.Reader, list client.ObjectList, key types.NamespacedName) error {
	err := live.List(ctx, list, client.InNamespace(key.Namespace), client.MatchingFields{metav1.ObjectNameField: key.Name})
	if err != nil {
		return fmt.Errorf("reading %s from the API server: %w", key, err)
	}

	return nil
}

func keyOf(object metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}
