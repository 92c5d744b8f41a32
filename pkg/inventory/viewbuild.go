// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"sync"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

const (
	// maxBuild is how many views are added or released at once, which bounds how long events wait for that.
	maxBuild = 256
	// maxCatchUp is how many clusters that changed during a build are evaluated with the mutex.
	maxCatchUp = 16
)

// viewBuild builds the views of selectors that have none. It begins and ends with the mutex of the Inventory, but evaluates the selectors
// without it, on the clusters of one moment; catchUp then evaluates them on the clusters that have changed since.
type viewBuild struct {
	clusters frozen[*clusterinfo.ClusterInfo]
	// selectors are the distinct identities in the order of the caller, and views those that did not exist, with the clusters that can match
	// by the indexes that existed.
	selectors []*selector.Selector
	views     []newView
	// index has the values of the properties that no index had, and those that the selectors compare which any cluster may match. The
	// properties of acquired had an index, which the build keeps until its end.
	index    *valueIndex
	acquired []clusterinfo.Property
}

type newView struct {
	*view

	candidates []uint32
	limited    bool // false if any cluster may match
}

// newBuild returns a viewBuild of selectors. It keeps the known ones of their views, and the indexes that the others need, until install.
func (v *views) newBuild(selectors []*selector.Selector) *viewBuild {
	build := &viewBuild{index: newValueIndex()}
	seen := map[string]struct{}{}
	for _, s := range selectors {
		if _, again := seen[s.Identity()]; again {
			continue
		}
		seen[s.Identity()] = struct{}{}
		build.selectors = append(build.selectors, s)
		if known := v.byIdentity[s.Identity()]; known != nil {
			known.references++
			continue
		}

		made := newView{view: &view{selector: s, static: s.WithoutCEL(), identity: s.Identity(), dependents: map[*subscriber]struct{}{}}}
		made.candidates, made.limited = v.index.candidates(made.static, v.clusters.id)
		eachIndexedProperty(made.view, func(key clusterinfo.Property) {
			if v.index.acquire(key) {
				build.acquired = append(build.acquired, key)
			} else {
				build.index.add(key)
			}
		})

		if !made.limited {
			for _, key := range made.static.Reads() {
				build.index.add(key)
			}
		}
		build.views = append(build.views, made)
	}

	if len(build.views) > 0 {
		build.clusters = v.clusters.infos.freeze()
	}
	return build
}

// run evaluates the selectors. Those that any cluster may match are evaluated by value, so that many of them cost little more than one.
func (b *viewBuild) run() {
	if len(b.index.byKey) > 0 {
		b.index.build(b.eachCluster)
	}
	every := sync.OnceValue(b.everyCluster)

	for _, made := range b.views {
		if made.limited {
			made.match(clustersAt(made.candidates, b.clusters.get))
		} else {
			made.matches = flags{bits: made.static.MatchByValue(every().bits, b.index.idsOf)}
		}
	}
}

func (b *viewBuild) everyCluster() flags {
	every := newFlags()
	for id := range b.eachCluster {
		every.set(id, true)
	}
	return every
}

func (b *viewBuild) eachCluster(yield func(uint, *clusterinfo.ClusterInfo) bool) {
	for at, c := range b.clusters.chunks {
		for n, info := range &c.items {
			if info != nil && !yield(uint(at*chunkSize+n), info) {
				return
			}
		}
	}
}

// clustersAt returns the clusters with the ids.
func clustersAt(ids []uint32, at func(uint) *clusterinfo.ClusterInfo) clusters {
	return func(yield func(uint, *clusterinfo.ClusterInfo) bool) {
		for _, id := range ids {
			if !yield(uint(id), at(uint(id))) {
				return
			}
		}
	}
}

// changedSince returns the ids of the clusters that have changed since the state that a build has evaluated.
func (v *views) changedSince(build *viewBuild) []uint {
	if len(build.views) == 0 {
		return nil
	}
	return changedSince(v.clusters.infos.chunks, build.clusters.chunks)
}

// catchUp evaluates the selectors on the clusters that have changed.
func (b *viewBuild) catchUp(changed []uint, now frozen[*clusterinfo.ClusterInfo]) {
	evaluation := &selector.EvalContext{}
	for _, id := range changed {
		before, after := b.clusters.get(id), now.get(id)
		b.index.eachOf(before, func(indexed *clustersByValue, value string) { indexed.remove(value, id) })
		b.index.eachOf(after, func(indexed *clustersByValue, value string) { indexed.add(value, id) })
		for _, made := range b.views {
			made.matches.set(id, after != nil && made.static.Matches(after, evaluation))
		}
	}
	b.clusters = now
}

// install catches up with the changes since the build, adds its views, unless another build has added them meanwhile, and returns the
// views of all its selectors with a reference to each.
func (v *views) install(build *viewBuild) []*view {
	if changed := v.changedSince(build); len(changed) > 0 {
		build.catchUp(changed, frozen[*clusterinfo.ClusterInfo]{chunks: v.clusters.infos.chunks})
	}
	for _, made := range build.views {
		if known := v.byIdentity[made.identity]; known != nil {
			known.references++
			continue
		}
		v.add(made.view, build.index)
	}

	for _, key := range build.acquired {
		v.index.release(key)
	}
	installed := make([]*view, 0, len(build.selectors))
	for _, s := range build.selectors {
		installed = append(installed, v.byIdentity[s.Identity()])
	}
	return installed
}

// add adds a view with its matches, and the indexes that it is the first to need.
func (v *views) add(made *view, built *valueIndex) {
	made.references = 1
	v.byIdentity[made.identity] = made
	v.eachEntry(made, func(in map[*view]struct{}) { in[made] = struct{}{} })
	eachIndexedProperty(made, func(key clusterinfo.Property) {
		if !v.index.acquire(key) {
			v.index.byKey[key] = built.byKey[key]
			v.index.byKey[key].references = 1
		}
	})
	if made.selector.HasCEL() {
		made.celCache = newCELCache(made.selector)
		v.dynamic++
		v.settleOthers(made)
	}
	v.changed[made] = struct{}{}
}

// settleOthers caches the verdict of all clusters whose labels have none of the values with which the first CEL expression of a view compares them,
// if it decides: most expressions compare a label with few of its values, and all these clusters have the same verdict.
func (v *views) settleOthers(made *view) {
	labels := made.selector.ComparedLabels()
	if len(labels) == 0 {
		return
	}
	others := v.index.others(made.matches.bits, labels)
	if others == nil {
		return
	}
	if id, found := others.NextSet(0); found {
		made.celCache.settle(others, v.clusters.infos.get(id))
	}
}
