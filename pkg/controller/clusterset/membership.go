package clusterset

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// membership knows every ManagedClusterSet as compiled from its spec, and tells which sets gain or lose a cluster by an event. A set is compiled
// once per generation. Sets that go by the label of the cluster are found by the value of that label; the others are matched one by one. It is
// safe for concurrent use.
type membership struct {
	compile func(*clusterv1beta2.ManagedClusterSet) *inventory.ClusterSet

	mu        sync.Mutex
	compiled  map[string]compiledSet // by name
	selecting map[string]bool        // the names of those that have a selector of their own
}

// compiledSet is a set as of one generation.
type compiledSet struct {
	uid        types.UID
	generation int64
	set        *inventory.ClusterSet
}

func newMembership(compile func(*clusterv1beta2.ManagedClusterSet) *inventory.ClusterSet) *membership {
	return &membership{compile: compile, compiled: map[string]compiledSet{}, selecting: map[string]bool{}}
}

// get returns a set in its compiled form, which belongs to the membership.
func (m *membership) get(set *clusterv1beta2.ManagedClusterSet) *inventory.ClusterSet {
	m.mu.Lock()
	defer m.mu.Unlock()

	if known, is := m.compiled[set.Name]; is && known.uid == set.UID && known.generation == set.Generation {
		return known.set
	}

	return m.compile(set)
}

// update takes a set in as it is now.
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

// forget drops a set that is gone.
func (m *membership) forget(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()

	delete(m.compiled, name)
	delete(m.selecting, name)
}

// affected names the sets that gain or lose a cluster between two states of it, of which one may be nil.
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

// labelledSet is the set that the label of a cluster names; "" is none.
func labelledSet(cluster client.Object) string {
	if cluster == nil {
		return ""
	}

	return cluster.GetLabels()[clusterv1beta2.ClusterSetLabel]
}

func contains(set *inventory.ClusterSet, cluster client.Object) bool {
	return cluster != nil && set.Contains(&clusterinfo.ClusterInfo{Name: cluster.GetName(), Labels: cluster.GetLabels()})
}
