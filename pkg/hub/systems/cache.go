// SPDX-License-Identifier: Apache-2.0

package systems

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// divided is the cache of a system: its own kinds are in a cache of its own, which ends with it, and all others in that of the hub, from which
// release removes the handlers of the system. It is safe for concurrent use.
type divided struct {
	own, hub cache.Cache
	// owns reports whether the kinds of a group are the system's own.
	owns   func(group string) bool
	scheme *runtime.Scheme

	mu       sync.Mutex
	released bool
	// borrowed are the informers of the hub with the handlers that the system has registered.
	borrowed []*borrowed
}

var _ cache.Cache = (*divided)(nil)

// of returns the cache of a kind.
func (d *divided) of(kind schema.GroupVersionKind) cache.Cache {
	if d.owns(kind.Group) {
		return d.own
	}
	return d.hub
}

func (d *divided) ofObject(object runtime.Object) (cache.Cache, error) {
	kind, err := apiutil.GVKForObject(object, d.scheme)
	if err != nil {
		return nil, fmt.Errorf("naming the kind of %T: %w", object, err)
	}
	return d.of(kind), nil
}

// Get reads an object.
func (d *divided) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	from, err := d.ofObject(object)
	if err != nil {
		return err
	}
	return from.Get(ctx, key, object, options...) //nolint:wrapcheck // The error is that of the wrapped cache.
}

// List reads objects.
func (d *divided) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	from, err := d.ofObject(list)
	if err != nil {
		return err
	}
	return from.List(ctx, list, options...) //nolint:wrapcheck // The error is that of the wrapped cache.
}

// GetInformer returns the informer of the kind of an object.
func (d *divided) GetInformer(ctx context.Context, object client.Object, options ...cache.InformerGetOption) (cache.Informer, error) {
	from, err := d.ofObject(object)
	if err != nil {
		return nil, err
	}
	return d.track(from, func() (cache.Informer, error) { return from.GetInformer(ctx, object, options...) })
}

// GetInformerForKind returns the informer of a kind.
func (d *divided) GetInformerForKind(
	ctx context.Context, kind schema.GroupVersionKind, options ...cache.InformerGetOption,
) (cache.Informer, error) {
	from := d.of(kind)
	return d.track(from, func() (cache.Informer, error) { return from.GetInformerForKind(ctx, kind, options...) })
}

// track returns an informer whose handlers release removes if the informer is that of the hub.
func (d *divided) track(from cache.Cache, get func() (cache.Informer, error)) (cache.Informer, error) {
	informer, err := get()
	if err != nil || from == d.own {
		return informer, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	tracked := &borrowed{Informer: informer, released: d.released}
	d.borrowed = append(d.borrowed, tracked)
	return tracked, nil
}

// RemoveInformer stops the informer of one of the system's own kinds.
func (d *divided) RemoveInformer(ctx context.Context, object client.Object) error {
	from, err := d.ofObject(object)
	if err != nil {
		return err
	}
	if from != d.own {
		return fmt.Errorf("the informer of %T belongs to the hub", object)
	}
	return d.own.RemoveInformer(ctx, object) //nolint:wrapcheck // The error is that of the wrapped cache.
}

// IndexField adds an index to one of the system's own kinds: an index of another kind would outlive the system.
func (d *divided) IndexField(ctx context.Context, object client.Object, field string, extract client.IndexerFunc) error {
	from, err := d.ofObject(object)
	if err != nil {
		return err
	}
	if from != d.own {
		return fmt.Errorf("the cache of %T belongs to the hub, and gets no index %s of a system", object, field)
	}
	return d.own.IndexField(ctx, object, field, extract) //nolint:wrapcheck // The error is that of the wrapped cache.
}

// Start runs the cache of the system's own kinds until ctx ends.
func (d *divided) Start(ctx context.Context) error {
	return d.own.Start(ctx) //nolint:wrapcheck // The error is that of the wrapped cache.
}

// GetCache makes a manager start the cache on every replica.
func (d *divided) GetCache() cache.Cache { return d }

// WaitForCacheSync waits until all informers that the system has asked for have synced.
func (d *divided) WaitForCacheSync(ctx context.Context) bool {
	if !d.own.WaitForCacheSync(ctx) {
		return false
	}
	d.mu.Lock()
	synced := make([]toolscache.InformerSynced, 0, len(d.borrowed))
	for _, informer := range d.borrowed {
		synced = append(synced, informer.HasSynced)
	}
	d.mu.Unlock()
	return toolscache.WaitForCacheSync(ctx.Done(), synced...)
}

// release removes the handlers of the system from the informers of the hub, and those that come later.
func (d *divided) release() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.released = true
	for _, informer := range d.borrowed {
		if err := informer.release(); err != nil {
			return err
		}
	}
	d.borrowed = nil
	return nil
}
