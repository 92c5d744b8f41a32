package inventory

import (
	"maps"
	"slices"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/facts"
)

// Snapshot is an immutable view of the world.
type Snapshot struct {
	// Generation numbers the views: a later view has a higher number.
	Generation uint64
	// Clusters are all clusters, terminating ones too, sorted by name.
	Clusters []*facts.Facts

	sets     map[string]*ClusterSet
	bindings map[string][]string
	counts   map[PlacementKey]map[string]int
	total    map[string]int
}

// Snapshot is the view of the present moment.
func (i *Inventory) Snapshot() *Snapshot {
	i.mu.Lock()
	defer i.mu.Unlock()

	if i.snapshot != nil {
		return i.snapshot
	}

	view := &Snapshot{
		Generation: i.generation,
		Clusters:   make([]*facts.Facts, 0, len(i.clusters)),
		sets:       maps.Clone(i.sets),
		bindings:   make(map[string][]string, len(i.bindings)),
		counts:     maps.Clone(i.counts),
		total:      maps.Clone(i.total),
	}
	for _, name := range slices.Sorted(maps.Keys(i.clusters)) {
		view.Clusters = append(view.Clusters, i.clusters[name])
	}

	for namespace, names := range i.bindings {
		view.bindings[namespace] = slices.Sorted(maps.Keys(names))
	}

	i.snapshot = view

	return view
}

// Cluster is what is known of a cluster; nil when it does not exist.
func (s *Snapshot) Cluster(name string) *facts.Facts {
	at, found := slices.BinarySearchFunc(s.Clusters, name, func(f *facts.Facts, name string) int { return strings.Compare(f.Name, name) })
	if !found {
		return nil
	}

	return s.Clusters[at]
}

// Scope is where a placement may look.
type Scope struct {
	// Bound are the names of the existing sets that are bound to the namespace, sorted.
	Bound []string
	// Eligible are those of them that the placement asks for.
	Eligible []*ClusterSet
}

// Scope resolves the bindings of a namespace and the sets a placement asks for, where none means all. A binding counts when a set of
// the binding's name exists.
func (s *Snapshot) Scope(namespace string, clusterSets []string) Scope {
	var scope Scope

	interest := Interest{ClusterSets: clusterSets}

	for _, name := range s.bindings[namespace] {
		set, exists := s.sets[name]
		if !exists {
			continue
		}

		scope.Bound = append(scope.Bound, name)

		if interest.includes(name) {
			scope.Eligible = append(scope.Eligible, set)
		}
	}

	return scope
}

// Holds reports whether one of the eligible sets holds the cluster.
func (s Scope) Holds(f *facts.Facts) bool {
	return slices.ContainsFunc(s.Eligible, func(set *ClusterSet) bool { return set.Holds(f) })
}

// Neighbours counts how often each cluster stands in decisions of the other placements of the placement's namespace, of every API.
// PlacementDecisions that name no placement do not count.
func (s *Snapshot) Neighbours(key PlacementKey) map[string]int {
	counts := map[string]int{}

	for other, clusters := range s.counts {
		if other == key || other.Namespace != key.Namespace || other.Name == "" {
			continue
		}

		for cluster, count := range clusters {
			counts[cluster] += count
		}
	}

	return counts
}

// Elsewhere counts how often each cluster stands in decisions other than those of the given placement.
func (s *Snapshot) Elsewhere(key PlacementKey) map[string]int {
	own := s.counts[key]
	counts := maps.Clone(s.total)

	for cluster, count := range own {
		add(counts, cluster, -count)
	}

	return counts
}
