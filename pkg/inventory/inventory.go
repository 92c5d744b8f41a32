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

// Inventory is what the hub knows of the world.
type Inventory struct {
	compiler *selector.Compiler

	mu         sync.Mutex
	ids        *clusterIDs
	clusters   *table[uint] // the numbers of those that exist
	infos      vector[*clusterinfo.ClusterInfo]
	alive      flags // not terminating
	tainted    flags
	unreadable flags // see clusterinfo.Facts.Doubtful
	scores     map[string]map[string]clusterinfo.ScoreSet
	profiles   map[string][]clusterinfo.Profile
	profileOf  map[clusterinfo.Profile]string

	sets *table[*ClusterSet]
	// members are the views of the sets, and selecting those of them that select by labels of any key; boundIn are the namespaces that a set
	// is bound in, by its name.
	members, selecting map[string]*view
	bindings           *table[[]string]
	boundIn            map[string]map[string]struct{}

	views      *views
	decisions  *decisions
	placements *placements

	generation uint64
	snapshot   *Snapshot
	// order is that of the clusters in orderOf.
	order   func() *order
	orderOf *iradix.Tree[uint]
	// results is shared by the snapshots between which nothing has changed but decisions.
	results     *resultCache
	subscribers *subscribers
}

// New makes an empty Inventory.
func New(compiler *selector.Compiler) *Inventory {
	i := &Inventory{
		compiler:   compiler,
		ids:        newClusterIDs(),
		clusters:   newTable[uint](),
		alive:      newFlags(),
		tainted:    newFlags(),
		unreadable: newFlags(),
		scores:     map[string]map[string]clusterinfo.ScoreSet{},
		profiles:   map[string][]clusterinfo.Profile{},
		profileOf:  map[clusterinfo.Profile]string{},
		sets:       newTable[*ClusterSet](),
		members:    map[string]*view{},
		selecting:  map[string]*view{},
		bindings:   newTable[[]string](),
		boundIn:    map[string]map[string]struct{}{},
		decisions:  newDecisions(),
		placements: newPlacements(),
	}
	i.subscribers = newSubscribers()
	i.results = newResultCache(i.subscribers, maxResultBytes)
	i.views = newViews(clusterSource{each: i.eachCluster, info: i.infos.get, id: i.idOf})

	return i
}

// changeKind is what a change reaches.
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
		i.results = newResultCache(i.subscribers, maxResultBytes)
	}
}

// clusterInfo are the facts of a cluster; nil when it does not exist.
func (i *Inventory) clusterInfo(name string) *clusterinfo.ClusterInfo {
	id, exists := i.clusters.live[name]
	if !exists {
		return nil
	}

	return i.infos.get(id)
}

// idOf is the number of a cluster that exists.
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

// SetCluster takes in a new state of a cluster.
func (i *Inventory) SetCluster(cluster *clusterv1.ManagedCluster) Affected {
	i.mu.Lock()
	defer i.mu.Unlock()

	if known := i.clusterInfo(cluster.Name); known != nil {
		return i.replaceCluster(cluster.Name, known.Update(cluster))
	}

	return i.replaceCluster(cluster.Name, clusterinfo.New(cluster, i.scores[cluster.Name]).WithProfiles(i.profiles[cluster.Name]))
}

// DeleteCluster takes in that a cluster is gone.
func (i *Inventory) DeleteCluster(name string) Affected {
	i.mu.Lock()
	defer i.mu.Unlock()

	return i.replaceCluster(name, nil)
}

func (i *Inventory) replaceCluster(name string, after *clusterinfo.ClusterInfo) Affected {
	before := i.clusterInfo(name)

	changes := clusterinfo.ChangedProperties(before, after)
	if len(changes) == 0 {
		if after != nil {
			// Not to hold on to the old object.
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

	flipped := i.views.update(id, before, after, changes, i.generation)
	affected := i.affectedByCluster(clusterChange{
		name: name, id: id, before: before, after: after, changes: changes, flipped: flipped, setsBefore: was, setsAfter: i.setsContaining(id, after),
	})

	if after == nil {
		i.clusters.remove(name)
		i.ids.release(id)
	}

	return affected
}

// SetScores takes in a new state of an AddOnPlacementScore; its namespace is the name of the cluster.
func (i *Inventory) SetScores(object *clusterv1alpha1.AddOnPlacementScore) Affected {
	set := clusterinfo.NewScoreSet(object)

	return i.replaceScores(object.Namespace, object.Name, &set)
}

// DeleteScores takes in that an AddOnPlacementScore is gone.
func (i *Inventory) DeleteScores(cluster, name string) Affected {
	return i.replaceScores(cluster, name, nil)
}

func (i *Inventory) replaceScores(cluster, name string, set *clusterinfo.ScoreSet) Affected {
	i.mu.Lock()
	defer i.mu.Unlock()

	scores := maps.Clone(i.scores[cluster]) // The facts of the cluster share the old map.
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

	known := i.clusterInfo(cluster)
	if known == nil {
		return Affected{}
	}

	return i.replaceCluster(cluster, known.WithScores(scores))
}

// Rebuild finds everything anew that is derived from the objects: views, answers of CEL and counts. It is for the case that a comparison
// with the reference shows that they are wrong.
func (i *Inventory) Rebuild() {
	i.mu.Lock()
	defer i.mu.Unlock()

	i.views.index.rebuild(i.eachCluster)

	for _, v := range i.views.byIdentity {
		i.views.build(v)

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
