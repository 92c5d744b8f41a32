package main

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

// boardFeed reads boards from the informers of the manager, and tells when the next one may differ.
type boardFeed struct {
	informers cache.Cache
	changed   chan struct{}
}

// newBoardFeed subscribes to the informers; they may be started later.
func newBoardFeed(ctx context.Context, informers cache.Cache) (*boardFeed, error) {
	feed := &boardFeed{informers: informers, changed: make(chan struct{}, 1)}
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
		if _, err := informer.AddEventHandler(feed); err != nil {
			return nil, fmt.Errorf("watching %T: %w", object, err)
		}
	}
	return feed, nil
}

var _ toolscache.ResourceEventHandler = &boardFeed{}

// OnAdd notes a new object.
func (f *boardFeed) OnAdd(any, bool) { f.note() }

// OnUpdate notes a changed object.
func (f *boardFeed) OnUpdate(any, any) { f.note() }

// OnDelete notes a deleted object.
func (f *boardFeed) OnDelete(any) { f.note() }

func (f *boardFeed) note() {
	select {
	case f.changed <- struct{}{}:
	default: // The reader has not taken the last note yet, and will see this change too.
	}
}

func (f *boardFeed) waitForSync(ctx context.Context) error {
	if f.informers.WaitForCacheSync(ctx) {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errors.New("the caches of the controllers did not sync; start again with -v=1 to see why")
}

// read makes the board of what the informers know now.
func (f *boardFeed) read(ctx context.Context) (*board, error) {
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
