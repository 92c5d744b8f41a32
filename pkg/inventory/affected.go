package inventory

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

// Cause says what kind of change woke a placement.
type Cause string

// The causes of an evaluation.
const (
	CauseCluster    Cause = "cluster"
	CauseScores     Cause = "scores"
	CauseClusterSet Cause = "clusterset"
	CauseBinding    Cause = "binding"
)

// Affected are the placements that one change can have changed, each once, sorted by namespace and name.
type Affected struct {
	Placements []PlacementKey
	Cause      Cause
}

func newAffected(cause Cause, concerned iter.Seq[*placement]) Affected {
	result := Affected{Cause: cause}
	for p := range concerned {
		result.Placements = append(result.Placements, p.key)
	}

	slices.SortFunc(result.Placements, comparePlacements)

	return result
}

func comparePlacements(a, b PlacementKey) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.API, b.API))
}

// clusterChange is a change of one cluster, with the views that flipped by it and the sets that held it before and hold it now, sorted.
type clusterChange struct {
	name                  string
	id                    uint
	before, after         *clusterinfo.ClusterInfo
	changes               []clusterinfo.Property
	flipped               map[*view]struct{}
	setsBefore, setsAfter []string
}

// existenceChanged reports whether the cluster came, went, or began to go.
func (c clusterChange) existenceChanged() bool { return existenceChanged(c.before, c.after) }

// existenceChanged reports whether a cluster came, went, or began to go. What clusterinfo.Diff says then does not tell what else has changed.
func existenceChanged(before, after *clusterinfo.ClusterInfo) bool {
	return before == nil || after == nil || before.Terminating != after.Terminating
}

func (c clusterChange) cause() Cause {
	if slices.ContainsFunc(c.changes, func(key clusterinfo.Property) bool { return key.Kind != clusterinfo.Score }) {
		return CauseCluster
	}

	return CauseScores
}

// affectedByCluster names the placements whose scope holds the cluster before or after, and that either gain or lose it or read a fact that
// has changed. Decisions may keep a cluster that is in no scope any more (docs/spec/differences.md A1, A4): those that tell whether it is
// available go on following it.
func (i *Inventory) affectedByCluster(c clusterChange) Affected {
	concerned := map[*placement]struct{}{}

	for flipped := range c.flipped {
		for p := range flipped.dependents {
			if p.predicateFlipped(c.id, c.flipped) && i.inScope(p, c) {
				concerned[p] = struct{}{}
			}
		}

		for p := range flipped.clauseDependents {
			if p.failedClauseChanged(c.id, c.flipped) && i.inScope(p, c) {
				concerned[p] = struct{}{}
			}
		}
	}

	i.eachGainingOrLosing(c, func(p *placement) { concerned[p] = struct{}{} })
	i.eachReader(c, func(p *placement) { concerned[p] = struct{}{} })
	i.eachAvailabilityReader(c, func(p *placement) { concerned[p] = struct{}{} })

	return newAffected(c.cause(), maps.Keys(concerned))
}

// eachMatching visits the placements with a predicate that the cluster matches or that flipped, some more than once. It finds them from the
// cluster: how many others there are does not matter.
func (i *Inventory) eachMatching(c clusterChange, visit func(*placement)) {
	visitReaders := func(views map[*view]struct{}) {
		for v := range views {
			if _, is := c.flipped[v]; !is && !v.matches.bits.Test(c.id) {
				continue
			}

			for p := range v.dependents {
				visit(p)
			}
		}
	}

	i.views.eachOf(c.after, visitReaders)
	visitReaders(i.views.unindexed)
	visitReaders(c.flipped)
}

// eachGainingOrLosing visits the placements whose scope gains or loses the cluster, if that can change their answer.
func (i *Inventory) eachGainingOrLosing(c clusterChange, visit func(*placement)) {
	moved := c.changedSets()
	if len(moved) == 0 {
		return
	}

	visitMoved := func(p *placement) {
		if i.gainsOrLoses(p, c) && i.mayChangeResult(p, c) {
			visit(p)
		}
	}

	i.eachMatching(c, visitMoved)

	for _, set := range moved {
		// Unless the cluster is alone in the set, it is alone in no scope that it comes into or leaves with it.
		looking := i.placements.unfiltered
		if i.members[set] == nil || i.otherMembers(i.members[set], c.id) == 0 {
			looking = i.placements.inNamespace
		}

		for namespace := range i.boundIn[set] {
			for p := range looking[namespace] {
				visitMoved(p)
			}
		}
	}
}

// eachReader visits the placements that read what has changed of a cluster that passes their predicates, or of any cluster in their scope.
func (i *Inventory) eachReader(c clusterChange, visit func(*placement)) {
	selective := false

	for _, changed := range c.changes {
		eachCovering(i.placements.matchReaders, changed, func(readers map[*placement]struct{}) { selective = selective || len(readers) > 0 })
		eachCovering(i.placements.scopeReaders, changed, func(readers map[*placement]struct{}) {
			for p := range readers {
				if i.inScope(p, c) {
					visit(p)
				}
			}
		})
	}

	if !selective {
		return
	}

	i.eachMatching(c, func(p *placement) {
		if p.mayMatch(c.id, c.flipped) && clusterinfo.Affects(p.dependencies.Reads, c.changes) && i.inScope(p, c) {
			visit(p)
		}
	})
}

// changedSets are the sets whose placements may gain or lose the cluster.
func (c clusterChange) changedSets() []string {
	if c.existenceChanged() {
		return slices.Compact(slices.Sorted(slices.Values(slices.Concat(c.setsBefore, c.setsAfter))))
	}

	var moved []string

	for _, sets := range [][2][]string{{c.setsBefore, c.setsAfter}, {c.setsAfter, c.setsBefore}} {
		for _, set := range sets[0] {
			if _, both := slices.BinarySearch(sets[1], set); !both {
				moved = append(moved, set)
			}
		}
	}

	return moved
}

// setsContaining are the sets with a cluster in them, sorted.
func (i *Inventory) setsContaining(id uint, f *clusterinfo.ClusterInfo) []string {
	if f == nil {
		return nil
	}

	var holding []string

	if set := i.sets.live[f.Labels[clusterv1beta2.ClusterSetLabel]]; set != nil && set.exclusive {
		holding = append(holding, set.Name)
	}

	for name, members := range i.selecting {
		if members.matches.bits.Test(id) {
			holding = append(holding, name)
		}
	}

	slices.Sort(holding)

	return holding
}

// inScope reports whether the scope of a placement holds the cluster before or after.
func (i *Inventory) inScope(p *placement, c clusterChange) bool {
	return i.scopeContains(p, c.setsBefore) || i.scopeContains(p, c.setsAfter)
}

func (i *Inventory) gainsOrLoses(p *placement, c clusterChange) bool {
	held, holds := i.scopeContains(p, c.setsBefore), i.scopeContains(p, c.setsAfter)

	return held != holds || held && c.existenceChanged()
}

func (i *Inventory) scopeContains(p *placement, sets []string) bool {
	return slices.ContainsFunc(sets, func(set string) bool {
		_, bound := i.boundIn[set][p.key.Namespace]

		return bound && p.dependencies.includes(set)
	})
}

// mayChangeResult reports whether a cluster that comes into the scope of a placement, or leaves it, can change the answer. One that the predicates
// keep out counts only where it is the only one, or where it or its evaluation is told of.
func (i *Inventory) mayChangeResult(p *placement, c clusterChange) bool {
	return p.mayMatch(c.id, c.flipped) || p.hasCEL() || p.readsRejected() || i.isOnlyCluster(p, c.id)
}

// isOnlyCluster reports whether the scope of a placement has no other cluster that is not terminating.
func (i *Inventory) isOnlyCluster(p *placement, id uint) bool {
	for _, set := range i.bindings.live[p.key.Namespace] {
		members := i.members[set]
		if members == nil || !p.dependencies.includes(set) {
			continue
		}

		if i.otherMembers(members, id) > 0 {
			return false
		}
	}

	return true
}

// otherMembers are how many clusters that are not terminating a set has beside one.
func (i *Inventory) otherMembers(members *view, id uint) uint {
	others := members.matches.bits.IntersectionCardinality(i.alive.bits)
	if i.alive.bits.Test(id) && members.matches.bits.Test(id) {
		others--
	}

	return others
}

// eachAvailabilityReader visits the placements that tell in their decisions whether the cluster is available, when that may have changed, whatever
// their scope is.
func (i *Inventory) eachAvailabilityReader(c clusterChange, visit func(*placement)) {
	availability := clusterinfo.Property{Kind: clusterinfo.Availability}
	if !c.existenceChanged() && !slices.Contains(c.changes, availability) || i.decisions.totals.get(c.id) == 0 {
		return
	}

	for _, readers := range []map[*placement]struct{}{i.placements.scopeReaders[availability], i.placements.matchReaders[availability]} {
		for p := range readers {
			if i.decisions.contains(p.key, c.id) {
				visit(p)
			}
		}
	}
}

func (i *Inventory) affectedBySet(name string, cause Cause) Affected {
	return newAffected(cause, func(yield func(*placement) bool) {
		for namespace := range i.boundIn[name] {
			for p := range i.boundPlacements(namespace, name) {
				if !yield(p) {
					return
				}
			}
		}
	})
}

func (i *Inventory) affectedByBinding(namespace, name string) Affected {
	if i.sets.live[name] == nil {
		return Affected{Cause: CauseBinding} // A binding counts when its set exists.
	}

	return newAffected(CauseBinding, i.boundPlacements(namespace, name))
}

// boundPlacements are the placements of a namespace that a set concerns which is bound there. The first set that is bound, and the last one that
// goes, concern the placements that ask for others too: "nothing is bound" and "nothing asked for is bound" are two answers.
func (i *Inventory) boundPlacements(namespace, name string) iter.Seq[*placement] {
	only := !slices.ContainsFunc(i.bindings.live[namespace], func(other string) bool { return other != name && i.sets.live[other] != nil })

	return func(yield func(*placement) bool) {
		for p := range i.placements.inNamespace[namespace] {
			if (only || p.dependencies.includes(name)) && !yield(p) {
				return
			}
		}
	}
}
