// SPDX-License-Identifier: Apache-2.0

package assumecache

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/hub/objects"
)

const (
	// SweepPeriod is how often a controller sweeps, and the timeout of all its Caches together.
	SweepPeriod = 10 * time.Second
	// maxConfirmed is how many writes of a Cache one sweep reads from the API server.
	maxConfirmed = 50
)

// Sweeper checks expired writes.
type Sweeper[K comparable] struct {
	// Cache reads from the informer cache, and Live from the API server.
	Cache, Live client.Reader
	// Dropped is called with the owner of each write that is not assumed any more. Lost reports that the event of the write was lost, so
	// that the owner must be reconciled.
	Dropped func(owner K, lost bool)
}

// Sweep checks the expired writes of a Cache. Empty returns an empty object of the kind of a write, and read converts it. Where the API
// server shows that the informer cache is behind, or does not answer, a write stays assumed: without it every request for the object would
// conflict. Where it shows that the write is not the latest change, the event was lost.
func Sweep[K comparable, T metav1.Object](
	ctx context.Context, s Sweeper[K], writes *Cache[K, T], empty func(T) client.Object, read func(runtime.Object) T,
) {
	for _, write := range writes.Expired(maxConfirmed) {
		cached, key := empty(write.Object), nameOf(write.Object)

		err := s.Cache.Get(ctx, key, cached)
		if client.IgnoreNotFound(err) == nil && write.ShownBy(read(cached), err == nil) {
			writes.Drop(write)
			s.Dropped(write.Owner, false)
			continue
		}

		live, found, err := objects.LiveMetadata(ctx, s.Live, empty(write.Object), key)
		if err != nil {
			klog.FromContext(ctx).V(2).Info("Cannot ask the API server whether a write stands; it is believed on", "object", key, "err", err)
			continue
		}
		if !write.IsLatest(live, found) && writes.Drop(write) {
			s.Dropped(write.Owner, true)
		}
	}
}
