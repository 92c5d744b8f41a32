package inventory

import (
	"maps"
	"sync"

	iradix "github.com/hashicorp/go-immutable-radix/v2"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// Inventory has the state of all clusters, sets, bindings, decisions and subscriptions. It is safe for concurrent use.
type Inventory struct {
	compiler *selector.Compiler

	mu         sync.Mutex
	ids        *clusterIDs
	clusters   *table[uint] // ids of those that exist
	infos      vector[*clusterinfo.ClusterInfo]
	alive      flags // not terminating
	tainted    flags
	unreadable flags // see clusterinfo.ClusterInfo.HasUnreadable
	scores     map[string]map[string]clusterinfo.ScoreSet
	profiles   map[string][]clusterinfo.ProfileClaim
	// claims has the clusters that each ClusterProfile claims to represent, with the doubt of each claim.
	claims map[clusterinfo.Profile]map[string]string

	sets *table[*ClusterSet]
	// members has the views of the sets by name, and selecting those of the sets with a label selector. boundIn has the namespaces in which
	// each set is bound, by the name of the set.
	members, selecting map[string]*view
	bindings           *table[[]string]
	boundIn            map[string]map[string]struct{}

	views *views
	// runBuild builds views. It is called without the mutex, and tests replace it to let events happen meanwhile.
	runBuild    func(*viewBuild)
	decisions   *decisions
	subscribers *subscribers

	generation uint64
	snapshot   *Snapshot
	// order is the order of the clusters in orderOf.
	order   func() *order
	orderOf *iradix.Tree[uint]
	// results are shared by all snapshots since the last change of anything but decisions.
	results       *resultCache
	requestCounts *requestCounts
}

// New returns an empty Inventory. The compiler compiles the selectors of sets.
func New(compiler *selector.Compiler) *Inventory {
	i := &Inventory{
		compiler:    compiler,
		ids:         newClusterIDs(),
		clusters:    newTable[uint](),
		alive:       newFlags(),
		tainted:     newFlags(),
		unreadable:  newFlags(),
		scores:      map[string]map[string]clusterinfo.ScoreSet{},
		profiles:    map[string][]clusterinfo.ProfileClaim{},
		claims:      map[clusterinfo.Profile]map[string]string{},
		sets:        newTable[*ClusterSet](),
		members:     map[string]*view{},
		selecting:   map[string]*view{},
		bindings:    newTable[[]string](),
		boundIn:     map[string]map[string]struct{}{},
		decisions:   newDecisions(),
		subscribers: newSubscribers(),
		runBuild:    (*viewBuild).run,
	}
	i.requestCounts = newRequestCounts()
	i.results = newResultCache(i.requestCounts, maxResultBytes)
	i.views = newViews(clusterSource{each: i.eachCluster, infos: &i.infos, id: i.idOf})

	return i
}

// changeKind is the part of the state that a change concerns.
type changeKind bool

const (
	anyChange     changeKind = false
	decisionsOnly changeKind = true
)

func (i *Inventory) changed(what changeKind) {
	i.snapshot = nil

	if what == decisionsOnly {
		i.decisions.generation++
	} else {
		i.generation++
		i.results = newResultCache(i.requestCounts, maxResultBytes)
	}
}

// clusterInfo returns the ClusterInfo of a cluster; nil if it does not exist.
func (i *Inventory) clusterInfo(name string) *clusterinfo.ClusterInfo {
	id, exists := i.clusters.live[name]
	if !exists {
		return nil
	}

	return i.infos.get(id)
}

// idOf returns the id of a cluster; false if it does not exist.
func (i *Inventory) idOf(name string) (uint, bool) {
	id, exists := i.clusters.live[name]

	return id, exists
}

// eachCluster visits the clusters that exist, in no order.
func (i *Inventory) eachCluster(yield func(uint, *clusterinfo.ClusterInfo) bool) {
	for _, id := range i.clusters.live {
		if !yield(id, i.infos.get(id)) {
			return
		}
	}
}

// SetCluster adds or updates a cluster. It keeps a reference to the object, which must not change any more.
func (i *Inventory) SetCluster(cluster *clusterv1.ManagedCluster) Affected {
	i.mu.Lock()
	defer i.mu.Unlock()

	after, verdicts := i.prepare(cluster.Name, func() *clusterinfo.ClusterInfo {
		if known := i.clusterInfo(cluster.Name); known != nil {
			return known.Update(cluster)
		}

		return clusterinfo.New(cluster, i.scores[cluster.Name]).WithProfiles(i.profiles[cluster.Name])
	})

	return i.replaceCluster(cluster.Name, after, verdicts)
}

// CompareCluster returns the properties in which a ManagedCluster differs from the known one, as clusterinfo.ChangedProperties does. A nil
// cluster does not exist.
func (i *Inventory) CompareCluster(name string, cluster *clusterv1.ManagedCluster) []clusterinfo.Property {
	i.mu.Lock()
	known := i.clusterInfo(name)
	i.mu.Unlock()

	switch {
	case cluster == nil:
		return clusterinfo.ChangedProperties(known, nil)
	case known == nil:
		return changedObject(name)
	default:
		return clusterinfo.ChangedProperties(known, known.Update(cluster))
	}
}

// DeleteCluster removes a cluster; its scores and profiles stay.
func (i *Inventory) DeleteCluster(name string) Affected {
	i.mu.Lock()
	defer i.mu.Unlock()

	return i.replaceCluster(name, nil, nil)
}

// replaceCluster replaces the state of a cluster. The verdicts are those of selectors with CEL that are known for the new state.
func (i *Inventory) replaceCluster(name string, after *clusterinfo.ClusterInfo, verdicts preparedVerdicts) Affected {
	before := i.clusterInfo(name)

	changes := clusterinfo.ChangedProperties(before, after)
	if len(changes) == 0 {
		if after != nil {
			// The new object replaces the old one, so that the old one can be collected.
			i.infos.set(i.clusters.live[name], after)
		}

		return Affected{}
	}

	i.changed(anyChange)

	var id uint
	if before == nil {
		id = i.ids.acquire(name)
		i.clusters.set(name, id)
	} else {
		id = i.clusters.live[name]
	}

	was := i.setsContaining(id, before)

	i.infos.set(id, after)
	i.alive.set(id, after != nil && !after.Terminating)
	i.tainted.set(id, after != nil && len(after.Taints) > 0)
	i.unreadable.set(id, after != nil && after.HasUnreadable())

	flipped := i.views.update(id, before, after, changes, i.generation, verdicts)
	affected := i.affectedByCluster(clusterChange{
		name: name, id: id, before: before, after: after, changes: changes, flipped: flipped, setsBefore: was, setsAfter: i.setsContaining(id, after),
	})

	if after == nil {
		i.clusters.remove(name)
		i.ids.release(id)
	}

	return affected
}

// SetScores adds or updates an AddOnPlacementScore, whose namespace is the name of the cluster.
func (i *Inventory) SetScores(object *clusterv1alpha1.AddOnPlacementScore) Affected {
	set := clusterinfo.NewScoreSet(object)

	return i.replaceScores(object.Namespace, object.Name, &set)
}

// DeleteScores removes an AddOnPlacementScore.
func (i *Inventory) DeleteScores(cluster, name string) Affected {
	return i.replaceScores(cluster, name, nil)
}

func (i *Inventory) replaceScores(cluster, name string, set *clusterinfo.ScoreSet) Affected {
	i.mu.Lock()
	defer i.mu.Unlock()

	scores := maps.Clone(i.scores[cluster]) // The ClusterInfo shares the old map.
	if set == nil {
		delete(scores, name)
	} else {
		if scores == nil {
			scores = map[string]clusterinfo.ScoreSet{}
		}

		scores[name] = *set
	}

	if len(scores) == 0 {
		delete(i.scores, cluster)
	} else {
		i.scores[cluster] = scores
	}

	if i.clusterInfo(cluster) == nil {
		return Affected{}
	}

	after, verdicts := i.prepare(cluster, func() *clusterinfo.ClusterInfo {
		known := i.clusterInfo(cluster)
		if known == nil {
			return nil // It was deleted meanwhile.
		}

		return known.WithScores(i.scores[cluster])
	})

	return i.replaceCluster(cluster, after, verdicts)
}

// Rebuild computes everything that is derived from the objects anew: views, cached verdicts and counts. It is for the case that a
// comparison with the reference has shown a difference.
func (i *Inventory) Rebuild() {
	i.mu.Lock()
	defer i.mu.Unlock()

	i.views.index.build(i.eachCluster)

	for _, v := range i.views.byIdentity {
		i.views.rebuild(v)

		if v.celCache != nil {
			v.celCache.clear()
		}

		i.views.changed[v] = struct{}{}
	}

	i.alive, i.tainted, i.unreadable = newFlags(), newFlags(), newFlags()

	for id, f := range i.eachCluster {
		i.alive.set(id, !f.Terminating)
		i.tainted.set(id, len(f.Taints) > 0)
		i.unreadable.set(id, f.HasUnreadable())
	}

	i.decisions.recount()
	i.changed(anyChange)
}
