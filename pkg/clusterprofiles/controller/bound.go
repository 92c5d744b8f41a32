// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	utilsets "k8s.io/apimachinery/pkg/util/sets"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/clusterprofiles"
)

// bound has the bindings that count (clusterprofiles.Counts) by their sets. The event handler of bindings keeps it, so that an event of a cluster
// looks at each bound set once and copies no binding. It is safe for concurrent use.
type bound struct {
	mu    sync.Mutex
	setOf map[types.NamespacedName]string
	bySet map[string]utilsets.Set[types.NamespacedName]
}

func newBound() *bound {
	return &bound{setOf: map[types.NamespacedName]string{}, bySet: map[string]utilsets.Set[types.NamespacedName]{}}
}

// set adds or updates a binding.
func (b *bound) set(binding *clusterv1beta2.ManagedClusterSetBinding) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key, set := client.ObjectKeyFromObject(binding), binding.Spec.ClusterSet
	b.drop(key)
	if !clusterprofiles.Counts(binding) {
		return
	}
	b.setOf[key] = set
	if b.bySet[set] == nil {
		b.bySet[set] = utilsets.Set[types.NamespacedName]{}
	}
	b.bySet[set].Insert(key)
}

// delete drops a binding.
func (b *bound) delete(binding *clusterv1beta2.ManagedClusterSetBinding) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.drop(client.ObjectKeyFromObject(binding))
}

func (b *bound) drop(key types.NamespacedName) {
	set, known := b.setOf[key]
	if !known {
		return
	}
	delete(b.setOf, key)
	b.bySet[set].Delete(key)
	if b.bySet[set].Len() == 0 {
		delete(b.bySet, set)
	}
}

// sets returns the names of the bound sets, in any order.
func (b *bound) sets() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	names := make([]string, 0, len(b.bySet))
	for name := range b.bySet {
		names = append(names, name)
	}
	return names
}

// namespaces returns the namespaces that have bound one of the sets, in any order.
func (b *bound) namespaces(of ...string) utilsets.Set[string] {
	b.mu.Lock()
	defer b.mu.Unlock()
	namespaces := utilsets.Set[string]{}
	for _, set := range of {
		for binding := range b.bySet[set] {
			namespaces.Insert(binding.Namespace)
		}
	}
	return namespaces
}
