// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// view is the set of clusters that a selector matches, kept up to date with every change. Equal selectors share a view.
type view struct {
	selector *selector.Selector
	identity string
	// references is the number of sets and subscribers that use the view. dependents are the subscribers that have it as a predicate.
	references int
	dependents map[*subscriber]struct{}
	// clauseDependents are the subscribers whose result depends on whether it is the first clause that a cluster fails; nil if there was
	// none yet.
	clauseDependents map[*subscriber]struct{}
	// matches are the clusters that static matches, which is the selector without CEL; celCache has the verdicts of a selector with CEL,
	// and is nil for any other.
	static   *selector.Selector
	matches  flags
	celCache *celCache
}

// frozenView is a view in a snapshot: the matches at that time, and the cache of a selector with CEL, whose callers pass the ClusterInfo
// and the generation of the snapshot.
type frozenView struct {
	matches  Members
	celCache *celCache
}

// views has all views by the identity of their selector, and indexes of them by what they read.
type views struct {
	table      *table[frozenView]
	byIdentity map[string]*view
	// byValue has the views by the values that they require, and byKey by the properties that they read in another way. Views that require
	// no value are unindexed: every cluster may match them.
	byValue   map[propertyValue]map[*view]struct{}
	byKey     map[clusterinfo.Property]map[*view]struct{}
	unindexed map[*view]struct{}
	changed   map[*view]struct{}
	// dynamic is the number of views of selectors with CEL.
	dynamic  int
	index    *valueIndex
	clusters clusterSource
}

// clusterSource gives access to the clusters that exist.
type clusterSource struct {
	each  clusters
	infos *vector[*clusterinfo.ClusterInfo]
	id    func(name string) (uint, bool)
}

func newViews(of clusterSource) *views {
	return &views{
		table: newTable[frozenView](), byIdentity: map[string]*view{}, byValue: map[propertyValue]map[*view]struct{}{},
		byKey: map[clusterinfo.Property]map[*view]struct{}{}, unindexed: map[*view]struct{}{}, changed: map[*view]struct{}{},
		index: newValueIndex(), clusters: of,
	}
}

// acquire returns the view of a selector with a reference to it, which release removes. It builds the view if there is none; hold does
// that without the mutex.
func (v *views) acquire(s *selector.Selector) *view {
	if known := v.byIdentity[s.Identity()]; known != nil {
		known.references++
		return known
	}
	build := v.newBuild([]*selector.Selector{s})
	build.run()
	return v.install(build)[0]
}

// rebuild evaluates the selector of a view anew, without CEL, on the clusters that can match.
func (v *views) rebuild(made *view) {
	if ids, limited := v.index.candidates(made.static, v.clusters.id); limited {
		made.match(clustersAt(ids, v.clusters.infos.get))
	} else {
		made.match(v.clusters.each)
	}
}

// match sets the matches of a view to those of the candidates that the selector matches without CEL.
func (v *view) match(candidates clusters) {
	evaluation := &selector.EvalContext{}
	v.matches = newFlags()
	for id, info := range candidates {
		if v.static.Matches(info, evaluation) {
			v.matches.set(id, true)
		}
	}
}

// eachIndexedProperty visits the labels and claims of which a view requires a value, or which its first CEL expression compares.
func eachIndexedProperty(of *view, visit func(clusterinfo.Property)) {
	for _, compared := range of.selector.ComparedLabels() {
		visit(compared.Key)
	}
	required, _ := of.selector.RequiredValues()
	for _, values := range required {
		if values.Key.Kind != clusterinfo.Name {
			visit(values.Key)
		}
	}
}

func (v *views) release(unused *view) {
	unused.references--
	if unused.references > 0 {
		return
	}
	eachIndexedProperty(unused, v.index.release)
	delete(v.byIdentity, unused.identity)
	if unused.celCache != nil {
		v.dynamic--
	}

	delete(v.changed, unused)
	v.table.remove(unused.identity)
	v.eachEntry(unused, func(in map[*view]struct{}) { delete(in, unused) })
	v.deleteEmptyEntries(unused)
}

// eachEntry visits the entries of the indexes that contain the view.
func (v *views) eachEntry(of *view, visit func(map[*view]struct{})) {
	required, rest := of.selector.RequiredValues()
	for _, values := range required {
		for _, value := range values.Values {
			visit(setAt(v.byValue, propertyValue{values.Key, value}))
		}
	}
	for _, key := range rest {
		visit(setAt(v.byKey, key))
	}

	if len(required) == 0 {
		visit(v.unindexed)
	}
}

// deleteEmptyEntries deletes the entries of the indexes that a view has left empty.
func (v *views) deleteEmptyEntries(unused *view) {
	required, rest := unused.selector.RequiredValues()
	for _, values := range required {
		for _, value := range values.Values {
			deleteEmpty(v.byValue, propertyValue{values.Key, value})
		}
	}
	for _, key := range rest {
		deleteEmpty(v.byKey, key)
	}
}

// setAt returns the set of a key in an index, and adds an empty one if there is none.
func setAt[K, V comparable](index map[K]map[V]struct{}, key K) map[V]struct{} {
	if index[key] == nil {
		index[key] = map[V]struct{}{}
	}
	return index[key]
}

func deleteEmpty[K, V comparable](index map[K]map[V]struct{}, key K) {
	if len(index[key]) == 0 {
		delete(index, key)
	}
}

// update updates the views after a change of one cluster, and returns those whose verdict for it may have changed.
func (v *views) update(
	id uint, before, after *clusterinfo.ClusterInfo, changes []clusterinfo.Property, generation uint64, verdicts preparedVerdicts,
) map[*view]struct{} {
	v.index.update(id, before, after, changes)
	flipped := map[*view]struct{}{}
	visited := map[*view]struct{}{}
	v.eachAffected(before, after, changes, func(affected *view) {
		if _, again := visited[affected]; again {
			return
		}
		visited[affected] = struct{}{}
		if affected.update(id, after, generation, verdicts) {
			flipped[affected] = struct{}{}
			v.changed[affected] = struct{}{}
		}
	})

	return flipped
}

func (v *view) update(id uint, after *clusterinfo.ClusterInfo, generation uint64, verdicts preparedVerdicts) bool {
	was, is := v.matches.bits.Test(id), after != nil && v.static.Matches(after, &selector.EvalContext{})
	flips := v.matches.set(id, is)
	if v.celCache == nil || !was && !is {
		return flips
	}
	return v.celCache.update(id, generation, verdicts) || flips
}

// eachAffected visits the views whose verdict may have changed, some more than once.
func (v *views) eachAffected(before, after *clusterinfo.ClusterInfo, changes []clusterinfo.Property, visit func(*view)) {
	visitAll := func(views map[*view]struct{}) {
		for affected := range views {
			visit(affected)
		}
	}

	if existenceChanged(before, after) {
		v.eachOf(before, visitAll)
		v.eachOf(after, visitAll)
		visitAll(v.unindexed)
		return
	}

	for _, key := range changes {
		for _, info := range []*clusterinfo.ClusterInfo{before, after} {
			if value, has := info.Value(key); has {
				visitAll(v.byValue[propertyValue{key, value}])
			}
		}
		eachCovering(v.byKey, key, visitAll)
	}
}

// eachCovering visits the entries of an index whose property covers a changed one: by its name, by its kind, or as Any.
func eachCovering[V comparable](index map[clusterinfo.Property]map[V]struct{}, changed clusterinfo.Property, visit func(map[V]struct{})) {
	visit(index[changed])
	if changed.Name != "" {
		visit(index[clusterinfo.Property{Kind: changed.Kind}])
	}
	if changed.Kind != clusterinfo.Any {
		visit(index[clusterinfo.Property{Kind: clusterinfo.Any}])
	}
}

// eachOf visits the views that require a value that a cluster has.
func (v *views) eachOf(info *clusterinfo.ClusterInfo, visit func(map[*view]struct{})) {
	if info == nil {
		return
	}
	visit(v.byValue[propertyValue{clusterinfo.Property{Kind: clusterinfo.Name, Name: info.Name}, info.Name}])
	for name, value := range info.Labels {
		visit(v.byValue[propertyValue{clusterinfo.Property{Kind: clusterinfo.Label, Name: name}, value}])
	}
	for name, value := range info.Claims {
		visit(v.byValue[propertyValue{clusterinfo.Property{Kind: clusterinfo.Claim, Name: name}, value}])
	}
}

// freeze puts the views that have changed into the table, for the next snapshot.
func (v *views) freeze() {
	for changed := range v.changed {
		v.table.set(changed.identity, frozenView{matches: changed.matches.freeze(), celCache: changed.celCache})
	}
	clear(v.changed)
	v.table.freeze()
}
