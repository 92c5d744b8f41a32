package inventory

import (
	"maps"
	"slices"
	"strings"
	"sync"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/facts"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// Interest is what a placement looks at.
type Interest struct {
	// ClusterSets are its spec.clusterSets; empty means every set bound to its namespace.
	ClusterSets []string
	// Reads are the facts of a cluster that can change its answer.
	Reads []facts.Key
}

func (i Interest) includes(set string) bool {
	return len(i.ClusterSets) == 0 || slices.Contains(i.ClusterSets, set)
}

// Inventory is what the hub knows of the world.
type Inventory struct {
	compiler *selector.Compiler

	mu         sync.Mutex
	clusters   map[string]*facts.Facts
	scores     map[string]map[string]facts.ScoreSet
	profiles   map[string][]facts.Profile
	profileOf  map[facts.Profile]string
	sets       map[string]*ClusterSet
	bindings   map[string]map[string]bool
	pages      map[DecisionKey]Page
	counts     map[PlacementKey]map[string]int
	total      map[string]int
	placements map[PlacementKey]Interest

	generation uint64
	snapshot   *Snapshot
}

// Page is what counts of a PlacementDecision: whose it is, and the clusters in it.
type Page struct {
	Key      DecisionKey
	Owner    PlacementKey
	Clusters []string
}

// New makes an empty Inventory.
func New(compiler *selector.Compiler) *Inventory {
	return &Inventory{
		compiler:   compiler,
		clusters:   map[string]*facts.Facts{},
		scores:     map[string]map[string]facts.ScoreSet{},
		profiles:   map[string][]facts.Profile{},
		profileOf:  map[facts.Profile]string{},
		sets:       map[string]*ClusterSet{},
		bindings:   map[string]map[string]bool{},
		pages:      map[DecisionKey]Page{},
		counts:     map[PlacementKey]map[string]int{},
		total:      map[string]int{},
		placements: map[PlacementKey]Interest{},
	}
}

func (i *Inventory) changed() {
	i.generation++
	i.snapshot = nil
}

// SetCluster takes in a new state of a cluster.
func (i *Inventory) SetCluster(cluster *clusterv1.ManagedCluster) Affected {
	i.mu.Lock()
	defer i.mu.Unlock()

	return i.replaceCluster(cluster.Name, facts.Of(cluster, i.scores[cluster.Name]).WithProfiles(i.profiles[cluster.Name]))
}

// DeleteCluster takes in that a cluster is gone.
func (i *Inventory) DeleteCluster(name string) Affected {
	i.mu.Lock()
	defer i.mu.Unlock()

	return i.replaceCluster(name, nil)
}

func (i *Inventory) replaceCluster(name string, after *facts.Facts) Affected {
	before := i.clusters[name]

	if after == nil {
		delete(i.clusters, name)
	} else {
		i.clusters[name] = after
	}

	changes := facts.Diff(before, after)
	if len(changes) == 0 {
		return Affected{}
	}

	i.changed()

	return i.affectedByCluster(before, after, changes)
}

// SetScores takes in a new state of an AddOnPlacementScore; its namespace is the name of the cluster.
func (i *Inventory) SetScores(object *clusterv1alpha1.AddOnPlacementScore) Affected {
	set := facts.ScoresOf(object)

	return i.replaceScores(object.Namespace, object.Name, &set)
}

// DeleteScores takes in that an AddOnPlacementScore is gone.
func (i *Inventory) DeleteScores(cluster, name string) Affected {
	return i.replaceScores(cluster, name, nil)
}

func (i *Inventory) replaceScores(cluster, name string, set *facts.ScoreSet) Affected {
	i.mu.Lock()
	defer i.mu.Unlock()

	scores := maps.Clone(i.scores[cluster]) // The facts of the cluster share the old map.
	if set == nil {
		delete(scores, name)
	} else {
		if scores == nil {
			scores = map[string]facts.ScoreSet{}
		}

		scores[name] = *set
	}

	if len(scores) == 0 {
		delete(i.scores, cluster)
	} else {
		i.scores[cluster] = scores
	}

	known := i.clusters[cluster]
	if known == nil {
		return Affected{}
	}

	return i.replaceCluster(cluster, known.WithScores(scores))
}

// SetClusterSet takes in a new state of a set.
func (i *Inventory) SetClusterSet(set *clusterv1beta2.ManagedClusterSet) Affected {
	compiled := NewClusterSet(i.compiler, set)

	i.mu.Lock()
	defer i.mu.Unlock()

	if before := i.sets[set.Name]; before != nil && before.same(compiled) {
		return Affected{}
	}

	i.sets[set.Name] = compiled
	i.changed()

	return i.affectedBySet(set.Name, CauseClusterSet)
}

func (s *ClusterSet) same(other *ClusterSet) bool {
	return s.exclusive == other.exclusive && errorText(s.Err) == errorText(other.Err) &&
		(s.selector == nil) == (other.selector == nil) && (s.selector == nil || s.selector.String() == other.selector.String())
}

func errorText(err error) string {
	if err == nil {
		return ""
	}

	return err.Error()
}

// DeleteClusterSet takes in that a set is gone.
func (i *Inventory) DeleteClusterSet(name string) Affected {
	i.mu.Lock()
	defer i.mu.Unlock()

	if i.sets[name] == nil {
		return Affected{}
	}

	delete(i.sets, name)
	i.changed()

	return i.affectedBySet(name, CauseClusterSet)
}

// SetBinding takes in that a namespace has a binding. What counts is the name of the binding.
func (i *Inventory) SetBinding(binding *clusterv1beta2.ManagedClusterSetBinding) Affected {
	i.mu.Lock()
	defer i.mu.Unlock()

	if i.bindings[binding.Namespace][binding.Name] {
		return Affected{}
	}

	if i.bindings[binding.Namespace] == nil {
		i.bindings[binding.Namespace] = map[string]bool{}
	}

	i.bindings[binding.Namespace][binding.Name] = true
	i.changed()

	return i.affectedByBinding(binding.Namespace, binding.Name)
}

// DeleteBinding takes in that a binding is gone.
func (i *Inventory) DeleteBinding(namespace, name string) Affected {
	i.mu.Lock()
	defer i.mu.Unlock()

	if !i.bindings[namespace][name] {
		return Affected{}
	}

	delete(i.bindings[namespace], name)

	if len(i.bindings[namespace]) == 0 {
		delete(i.bindings, namespace)
	}

	i.changed()

	return i.affectedByBinding(namespace, name)
}

// SetDecision takes in a new state of a PlacementDecision. Only the counts of decisions move with it.
func (i *Inventory) SetDecision(after Page) {
	i.mu.Lock()
	defer i.mu.Unlock()

	if before, known := i.pages[after.Key]; known && before.Owner == after.Owner && slices.Equal(before.Clusters, after.Clusters) {
		return
	}

	clusters := after.Clusters
	after.Clusters = make([]string, 0, len(clusters))

	for _, cluster := range clusters {
		after.Clusters = append(after.Clusters, strings.Clone(cluster)) // Not to hold on to the object.
	}

	i.replacePage(after.Key, &after)
}

// DeleteDecision takes in that a PlacementDecision is gone.
func (i *Inventory) DeleteDecision(key DecisionKey) {
	i.mu.Lock()
	defer i.mu.Unlock()

	i.replacePage(key, nil)
}

func (i *Inventory) replacePage(key DecisionKey, after *Page) {
	if before, known := i.pages[key]; known {
		i.count(before, -1)
		delete(i.pages, key)
	}

	if after != nil {
		i.pages[key] = *after
		i.count(*after, 1)
	}

	i.changed()
}

// count books a page on the counts of its owner. Counts are shared with snapshots, so they are replaced and not changed.
func (i *Inventory) count(p Page, step int) {
	counts := maps.Clone(i.counts[p.Owner])
	if counts == nil {
		counts = map[string]int{}
	}

	for _, cluster := range p.Clusters {
		add(counts, cluster, step)
		add(i.total, cluster, step)
	}

	if len(counts) == 0 {
		delete(i.counts, p.Owner)
	} else {
		i.counts[p.Owner] = counts
	}
}

// add moves a count, and forgets it at zero.
func add(counts map[string]int, cluster string, step int) {
	counts[cluster] += step
	if counts[cluster] == 0 {
		delete(counts, cluster)
	}
}

// SetPlacement takes in what a placement looks at.
func (i *Inventory) SetPlacement(key PlacementKey, interest Interest) {
	i.mu.Lock()
	defer i.mu.Unlock()

	i.placements[key] = interest
}

// DeletePlacement forgets what a placement looked at.
func (i *Inventory) DeletePlacement(key PlacementKey) {
	i.mu.Lock()
	defer i.mu.Unlock()

	delete(i.placements, key)
}
