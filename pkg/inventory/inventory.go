// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"sync"

	iradix "github.com/hashicorp/go-immutable-radix/v2"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// Inventory has the state of all clusters, sets, bindings, decisions and subscriptions. It is safe for concurrent use.
type Inventory struct {
	compiler    *selector.Compiler
	assumptions Assumptions

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
