// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// membership has every ManagedClusterSet compiled, once per generation, and finds the sets that gain or lose a cluster by an event. Sets of
// the type ExclusiveClusterSetLabel are found by the value of the label; the others are matched one by one. It is safe for concurrent use.
type membership struct {
	compile func(*clusterv1beta2.ManagedClusterSet) *inventory.ClusterSet

	mu        sync.Mutex
	compiled  map[string]compiledSet // by name
	selecting map[string]bool        // names of the sets with a label selector
}

// compiledSet is a ManagedClusterSet as of one generation.
type compiledSet struct {
	uid        types.UID
	generation int64
	set        *inventory.ClusterSet
}

func newMembership(compile func(*clusterv1beta2.ManagedClusterSet) *inventory.ClusterSet) *membership {
	return &membership{compile: compile, compiled: map[string]compiledSet{}, selecting: map[string]bool{}}
}

// get returns a compiled set, which must not be modified. It compiles the set unless the membership has it in this generation.
func (m *membership) get(set *clusterv1beta2.ManagedClusterSet) *inventory.ClusterSet {
	m.mu.Lock()
	defer m.mu.Unlock()

	if known, is := m.compiled[set.Name]; is && known.uid == set.UID && known.generation == set.Generation {
		return known.set
	}

	return m.compile(set)
}

// update stores the current state of a set.
func (m *membership) update(set *clusterv1beta2.ManagedClusterSet) {
	compiled := m.get(set)

	m.mu.Lock()
	defer m.mu.Unlock()

	m.compiled[set.Name] = compiledSet{uid: set.UID, generation: set.Generation, set: compiled}

	switch set.Spec.ClusterSelector.SelectorType {
	case "", clusterv1beta2.ExclusiveClusterSetLabel:
		delete(m.selecting, set.Name)
	default:
		m.selecting[set.Name] = true
	}
}

// forget drops a deleted set.
func (m *membership) forget(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()

	delete(m.compiled, name)
	delete(m.selecting, name)
}

// affected returns the names of the sets that a cluster joins or leaves between two states of it. A cluster that does not exist is nil.
func (m *membership) affected(before, after client.Object) []string {
	m.mu.Lock()
	defer m.mu.Unlock()

	var names []string

	if was, is := labelledSet(before), labelledSet(after); was != is {
		for _, name := range []string{was, is} {
			if known, exists := m.compiled[name]; exists && !m.selecting[name] && contains(known.set, before) != contains(known.set, after) {
				names = append(names, name)
			}
		}
	}

	for name := range m.selecting {
		if set := m.compiled[name].set; contains(set, before) != contains(set, after) {
			names = append(names, name)
		}
	}

	return names
}

// labelledSet returns the set in the label of a cluster; "" means none.
func labelledSet(cluster client.Object) string {
	if cluster == nil {
		return ""
	}

	return cluster.GetLabels()[clusterv1beta2.ClusterSetLabel]
}

func contains(set *inventory.ClusterSet, cluster client.Object) bool {
	return cluster != nil && set.Contains(&clusterinfo.ClusterInfo{Name: cluster.GetName(), Labels: cluster.GetLabels()})
}
