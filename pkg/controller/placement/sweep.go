package placement

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
