// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/hub/problems"
)

// changes has when what decides about many objects was changed last, as far as first looks have asked for it: Namespaces, with the bindings in
// them, by their name alone, and Placements. It is safe for concurrent use.
type changes struct {
	// live reads from the API server.
	live client.Reader

	mu sync.Mutex
	of map[types.NamespacedName]time.Time
}

func newChanges(live client.Reader) *changes {
	return &changes{live: live, of: map[types.NamespacedName]time.Time{}}
}

// last returns when the object of a cycle, its Namespace, a binding there or its Placement was changed last.
func (c *changes) last(ctx context.Context, current *cycle) (time.Time, error) {
	last := current.memory.changed

	at, err := c.get(types.NamespacedName{Namespace: current.key.Namespace}, func() (time.Time, error) {
		return c.namespaceChange(ctx, current.key.Namespace)
	})
	if err != nil {
		return time.Time{}, err
	}
	last = problems.Later(last, at)
	if current.Target.Placement == "" {
		return last, nil
	}

	placement := types.NamespacedName{Namespace: current.key.Namespace, Name: current.Target.Placement}

	at, err = c.get(placement, func() (time.Time, error) {
		found := &clusterv1beta1.Placement{}
		if err := client.IgnoreNotFound(c.live.Get(ctx, placement, found)); err != nil {
			return time.Time{}, fmt.Errorf("reading Placement %s: %w", placement, err)
		}
		return problems.LastChange(found), nil
	})
	return problems.Later(last, at), err
}

// namespaceChange returns when a Namespace or a binding in it was changed last.
func (c *changes) namespaceChange(ctx context.Context, name string) (time.Time, error) {
	namespace := &corev1.Namespace{}
	if err := client.IgnoreNotFound(c.live.Get(ctx, types.NamespacedName{Name: name}, namespace)); err != nil {
		return time.Time{}, fmt.Errorf("reading Namespace %s: %w", name, err)
	}
	last := problems.LastChange(namespace)
	bindings := &clusterv1beta2.ManagedClusterSetBindingList{}
	if err := c.live.List(ctx, bindings, client.InNamespace(name)); err != nil {
		return time.Time{}, fmt.Errorf("listing the ManagedClusterSetBindings of Namespace %s: %w", name, err)
	}

	for i := range bindings.Items {
		last = problems.Later(last, problems.LastChange(&bindings.Items[i]))
	}
	return last, nil
}

// get returns what is known of a name, or reads it.
func (c *changes) get(name types.NamespacedName, read func() (time.Time, error)) (time.Time, error) {
	c.mu.Lock()
	at, known := c.of[name]
	c.mu.Unlock()
	if known {
		return at, nil
	}
	at, err := read()
	if err != nil {
		return time.Time{}, err
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	c.of[name] = at
	return at, nil
}
