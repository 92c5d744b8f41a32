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

	"github.com/placement-hub/placement-hub/pkg/decision/record"
)

// Feed reads boards from the informers of the manager, and tells when the next one may differ.
type Feed struct {
	informers cache.Cache
	changed   chan struct{}
}

// NewFeed subscribes to the informers; they may be started later.
func NewFeed(ctx context.Context, informers cache.Cache) (*Feed, error) {
	feed := &Feed{informers: informers, changed: make(chan struct{}, 1)}
	handler := toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { feed.note() },
		UpdateFunc: func(any, any) { feed.note() },
		DeleteFunc: func(any) { feed.note() },
	}
	kinds := make([]client.Object, 0, 3+2*len(record.APIs()))
	kinds = append(kinds, &clusterv1beta2.ManagedClusterSet{}, &clusterv1beta2.ManagedClusterSetBinding{}, &clusterv1.ManagedCluster{})
	for _, api := range record.APIs() {
		kinds = append(kinds, api.Empty(), api.Form().Empty())
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
	return feed, nil
}

func (f *Feed) note() {
	select {
	case f.changed <- struct{}{}:
	default: // The reader has not taken the last note yet, and will see this change too.
	}
}

// WaitForSync returns when the informers know all that the hub holds.
func (f *Feed) WaitForSync(ctx context.Context) error {
	if f.informers.WaitForCacheSync(ctx) {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errors.New("the caches of the controllers did not sync; start again with -v=1 to see why")
}

// read makes the board of what the informers know now.
func (f *Feed) read(ctx context.Context) (*board, error) {
	var (
		sets     clusterv1beta2.ManagedClusterSetList
		bindings clusterv1beta2.ManagedClusterSetBindingList
		clusters clusterv1.ManagedClusterList
	)
	for _, list := range []client.ObjectList{&sets, &bindings, &clusters} {
		if err := f.informers.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("reading %T: %w", list, err)
		}
	}
	w := world{sets: sets.Items, bindings: bindings.Items, clusters: len(clusters.Items)}
	for _, api := range record.APIs() {
		if err := f.readAPI(ctx, api, &w); err != nil {
			return nil, err
		}
	}
	return newBoard(w), nil
}

// readAPI adds the placements of an API and their decisions.
func (f *Feed) readAPI(ctx context.Context, api record.API, w *world) error {
	each := func(list runtime.Object, take func(runtime.Object)) error {
		objects, ok := list.(client.ObjectList)
		if !ok {
			return fmt.Errorf("reading %T: it is no list", list)
		}
		if err := f.informers.List(ctx, objects, client.UnsafeDisableDeepCopy); err != nil {
			return fmt.Errorf("reading %T: %w", list, err)
		}
		return meta.EachListItem(list, func(object runtime.Object) error {
			take(object)
			return nil
		})
	}
	if err := each(api.EmptyList(), func(object runtime.Object) {
		w.placements = append(w.placements, api.Read(object))
	}); err != nil {
		return err
	}
	return each(api.Form().EmptyList(), func(object runtime.Object) {
		w.addPage(api, api.Form().Read(object))
	})
}
