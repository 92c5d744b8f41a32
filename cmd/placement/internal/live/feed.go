package live

import (
	"context"
	"errors"
	"fmt"

	toolscache "k8s.io/client-go/tools/cache"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
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
	for _, object := range []client.Object{
		&clusterv1beta1.Placement{},
		&clusterv1beta1.PlacementDecision{},
		&clusterv1beta2.ManagedClusterSet{},
		&clusterv1beta2.ManagedClusterSetBinding{},
		&clusterv1.ManagedCluster{},
	} {
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
		placements clusterv1beta1.PlacementList
		pages      clusterv1beta1.PlacementDecisionList
		sets       clusterv1beta2.ManagedClusterSetList
		bindings   clusterv1beta2.ManagedClusterSetBindingList
		clusters   clusterv1.ManagedClusterList
	)
	for _, list := range []client.ObjectList{&placements, &pages, &sets, &bindings, &clusters} {
		if err := f.informers.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("reading %T: %w", list, err)
		}
	}
	return newBoard(world{
		placements: placements.Items, pages: pages.Items, sets: sets.Items, bindings: bindings.Items, clusters: len(clusters.Items),
	}), nil
}
