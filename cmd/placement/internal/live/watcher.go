package live

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/decision/api"
)

// Watcher reads tables from the informers of the manager, and is notified of changes.
type Watcher struct {
	informers cache.Cache
	changed   chan struct{}
}

// NewWatcher adds event handlers to the informers, which may be started later.
func NewWatcher(ctx context.Context, informers cache.Cache) (*Watcher, error) {
	watcher := &Watcher{informers: informers, changed: make(chan struct{}, 1)}
	handler := toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { watcher.notify() },
		UpdateFunc: func(any, any) { watcher.notify() },
		DeleteFunc: func(any) { watcher.notify() },
	}
	kinds := make([]client.Object, 0, 3+2*len(api.Adapters()))
	kinds = append(kinds, &clusterv1beta2.ManagedClusterSet{}, &clusterv1beta2.ManagedClusterSetBinding{}, &clusterv1.ManagedCluster{})
	for _, adapter := range api.Adapters() {
		kinds = append(kinds, adapter.Empty(), adapter.Codec().Empty())
	}
	for _, object := range kinds {
		informer, err := informers.GetInformer(ctx, object, cache.BlockUntilSynced(false))
		if err != nil {
			return nil, fmt.Errorf("watching %T: %w", object, err)
		}
		if _, err := informer.AddEventHandler(handler); err != nil {
			return nil, fmt.Errorf("watching %T: %w", object, err)
		}
	}
	return watcher, nil
}

func (w *Watcher) notify() {
	select {
	case w.changed <- struct{}{}:
	default: // The pending notification covers this change too.
	}
}

// WaitForSync returns when the informers are in sync, or with an error when they cannot be.
func (w *Watcher) WaitForSync(ctx context.Context) error {
	if w.informers.WaitForCacheSync(ctx) {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errors.New("the caches of the controllers did not sync; start again with -v=1 to see why")
}

// read returns the table of the current state of the informers.
func (w *Watcher) read(ctx context.Context) (*table, error) {
	var (
		sets     clusterv1beta2.ManagedClusterSetList
		bindings clusterv1beta2.ManagedClusterSetBindingList
		clusters clusterv1.ManagedClusterList
	)
	for _, list := range []client.ObjectList{&sets, &bindings, &clusters} {
		if err := w.informers.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("reading %T: %w", list, err)
		}
	}
	state := hubState{sets: sets.Items, bindings: bindings.Items, clusters: len(clusters.Items)}
	for _, adapter := range api.Adapters() {
		if err := w.readAPI(ctx, adapter, &state); err != nil {
			return nil, err
		}
	}
	return newTable(state), nil
}

// readAPI adds the Placements of an API and their decisions to state.
func (w *Watcher) readAPI(ctx context.Context, adapter api.Adapter, state *hubState) error {
	each := func(list runtime.Object, take func(runtime.Object)) error {
		objects, ok := list.(client.ObjectList)
		if !ok {
			return fmt.Errorf("reading %T: it is no list", list)
		}
		if err := w.informers.List(ctx, objects, client.UnsafeDisableDeepCopy); err != nil {
			return fmt.Errorf("reading %T: %w", list, err)
		}
		return meta.EachListItem(list, func(object runtime.Object) error {
			take(object)
			return nil
		})
	}
	if err := each(adapter.EmptyList(), func(object runtime.Object) {
		state.placements = append(state.placements, adapter.Read(object))
	}); err != nil {
		return err
	}
	return each(adapter.Codec().EmptyList(), func(object runtime.Object) {
		state.addPage(adapter, adapter.Codec().Read(object))
	})
}
