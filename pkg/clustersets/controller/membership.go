// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"sync/atomic"

	"k8s.io/client-go/util/workqueue"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/clustersets"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

type rateLimitingQueue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// membership is a source that enqueues the ManagedClusterSets whose members or spec have changed, as the inventory reports them. Until the
// initial lists were handled it enqueues nothing; then it enqueues every set, and the standard ones whether they exist or not.
type membership struct {
	// listen returns when the inventory has the initial lists.
	listen func(context.Context) error
	sets   client.Reader

	queue  atomic.Pointer[rateLimitingQueue] // nil until the initial lists were handled
	synced chan error
}

// Start begins to enqueue sets and returns. WaitForSync waits for the initial lists.
func (m *membership) Start(ctx context.Context, q rateLimitingQueue) error {
	m.synced = make(chan error, 1)
	go func() { m.synced <- m.start(ctx, q) }()
	return nil
}

// WaitForSync returns when every set of the initial lists is in the queue.
func (m *membership) WaitForSync(ctx context.Context) error {
	select {
	case err := <-m.synced:
		return err
	case <-ctx.Done():
		return fmt.Errorf("waiting for the initial lists: %w", ctx.Err())
	}
}

func (m *membership) start(ctx context.Context, q rateLimitingQueue) error {
	if err := m.listen(ctx); err != nil {
		return err
	}
	m.queue.Store(&q) // Before the list, so that each set is in the list or enqueued by a later change.
	sets := &clusterv1beta2.ManagedClusterSetList{}
	if err := m.sets.List(ctx, sets, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("listing ManagedClusterSets: %w", err)
	}

	for i := range sets.Items {
		q.Add(requestFor(sets.Items[i].Name))
	}
	for _, name := range clustersets.StandardSets() {
		q.Add(requestFor(name))
	}
	return nil
}

// enqueue enqueues the sets that a change affects: settleDelay later if clusters have joined or left them.
func (m *membership) enqueue(affected inventory.Affected) {
	queue := m.queue.Load()
	if queue == nil {
		return
	}

	for _, name := range affected.Sets {
		if affected.Cause == inventory.CauseClusterSet {
			(*queue).Add(requestFor(name))
		} else {
			(*queue).AddAfter(requestFor(name), settleDelay)
		}
	}
}
