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
	name          string
	slot          uint
	before, after *clusterinfo.ClusterInfo
	changes       []clusterinfo.Property
	flipped       map[*view]struct{}
	was, is       []string
}

// existence reports whether the cluster came, went, or began to go.
func (c clusterChange) existence() bool { return comesOrGoes(c.before, c.after) }

// comesOrGoes reports whether a cluster came, went, or began to go. What clusterinfo.Diff says then does not tell what else has changed.
func comesOrGoes(before, after *clusterinfo.ClusterInfo) bool {
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
		for p := range flipped.readers {
			if p.reaches(c.slot, c.flipped) && i.inScope(p, c) {
				concerned[p] = struct{}{}
			}
		}

		for p := range flipped.tellers {
			if p.tellsOtherwise(c.slot, c.flipped) && i.inScope(p, c) {
				concerned[p] = struct{}{}
			}
		}
	}

	i.eachGainerOrLoser(c, func(p *placement) { concerned[p] = struct{}{} })
	i.eachReader(c, func(p *placement) { concerned[p] = struct{}{} })
	i.eachKeeper(c, func(p *placement) { concerned[p] = struct{}{} })

	return newAffected(c.cause(), maps.Keys(concerned))
}

// eachMatching visits the placements with a predicate that the cluster matches or that flipped, some more than once. It finds them from the
// cluster: how many others there are does not matter.
func (i *Inventory) eachMatching(c clusterChange, visit func(*placement)) {
	visitReaders := func(views map[*view]struct{}) {
		for v := range views {
			if _, is := c.flipped[v]; !is && !v.matches.bits.Test(c.slot) {
				continue
			}

			for p := range v.readers {
				visit(p)
			}
		}
	}

	i.views.eachOf(c.after, visitReaders)
	visitReaders(i.views.unanchored)
	visitReaders(c.flipped)
}

// eachGainerOrLoser visits the placements whose scope gains or loses the cluster, if that can change their answer.
func (i *Inventory) eachGainerOrLoser(c clusterChange, visit func(*placement)) {
	moved := c.moved()
	if len(moved) == 0 {
		return
	}

	visitMoved := func(p *placement) {
		if i.gainsOrLoses(p, c) && i.matters(p, c) {
			visit(p)
		}
	}

	i.eachMatching(c, visitMoved)

	for _, set := range moved {
		// Unless the cluster is alone in the set, it is alone in no scope that it comes into or leaves with it.
		looking := i.placements.open
		if i.members[set] == nil || i.others(i.members[set], c.slot) == 0 {
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
		eachReader(i.placements.selective, changed, func(readers map[*placement]struct{}) { selective = selective || len(readers) > 0 })
		eachReader(i.placements.readers, changed, func(readers map[*placement]struct{}) {
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
		if p.passes(c.slot, c.flipped) && clusterinfo.Affects(p.interest.Reads, c.changes) && i.inScope(p, c) {
			visit(p)
		}
	})
}

// moved are the sets whose placements may gain or lose the cluster.
func (c clusterChange) moved() []string {
	if c.existence() {
		return slices.Compact(slices.Sorted(slices.Values(slices.Concat(c.was, c.is))))
	}

	var moved []string

	for _, sets := range [][2][]string{{c.was, c.is}, {c.is, c.was}} {
		for _, set := range sets[0] {
			if _, both := slices.BinarySearch(sets[1], set); !both {
				moved = append(moved, set)
			}
		}
	}

	return moved
}

// setsHolding are the sets with a cluster in them, sorted.
func (i *Inventory) setsHolding(slot uint, f *clusterinfo.ClusterInfo) []string {
	if f == nil {
		return nil
	}

	var holding []string

	if set := i.sets.live[f.Labels[clusterv1beta2.ClusterSetLabel]]; set != nil && set.exclusive {
		holding = append(holding, set.Name)
	}

	for name, members := range i.selecting {
		if members.matches.bits.Test(slot) {
			holding = append(holding, name)
		}
	}

	slices.Sort(holding)

	return holding
}

// inScope reports whether the scope of a placement holds the cluster before or after.
func (i *Inventory) inScope(p *placement, c clusterChange) bool {
	return i.scopeHolds(p, c.was) || i.scopeHolds(p, c.is)
}

func (i *Inventory) gainsOrLoses(p *placement, c clusterChange) bool {
	held, holds := i.scopeHolds(p, c.was), i.scopeHolds(p, c.is)

	return held != holds || held && c.existence()
}

func (i *Inventory) scopeHolds(p *placement, sets []string) bool {
	return slices.ContainsFunc(sets, func(set string) bool {
		_, bound := i.boundIn[set][p.key.Namespace]

		return bound && p.interest.includes(set)
	})
}

// matters reports whether a cluster that comes into the scope of a placement, or leaves it, can change the answer. One that the predicates
// keep out counts only where it is the only one, or where it or its evaluation is told of.
func (i *Inventory) matters(p *placement, c clusterChange) bool {
	return p.passes(c.slot, c.flipped) || p.dynamic() || p.looksAtAll() || i.alone(p, c.slot)
}

// alone reports whether the scope of a placement has no other cluster that is not terminating.
func (i *Inventory) alone(p *placement, slot uint) bool {
	for _, set := range i.bindings.live[p.key.Namespace] {
		members := i.members[set]
		if members == nil || !p.interest.includes(set) {
			continue
		}

		if i.others(members, slot) > 0 {
			return false
		}
	}

	return true
}

// others are how many clusters that are not terminating a set has beside one.
func (i *Inventory) others(members *view, slot uint) uint {
	others := members.matches.bits.IntersectionCardinality(i.alive.bits)
	if i.alive.bits.Test(slot) && members.matches.bits.Test(slot) {
		others--
	}

	return others
}

// eachKeeper visits the placements that tell in their decisions whether the cluster is available, when that may have changed, whatever
// their scope is.
func (i *Inventory) eachKeeper(c clusterChange, visit func(*placement)) {
	availability := clusterinfo.Property{Kind: clusterinfo.Availability}
	if !c.existence() && !slices.Contains(c.changes, availability) || i.decisions.totals.get(c.slot) == 0 {
		return
	}

	for _, readers := range []map[*placement]struct{}{i.placements.readers[availability], i.placements.selective[availability]} {
		for p := range readers {
			if i.decisions.holds(p.key, c.slot) {
				visit(p)
			}
		}
	}
}

func (i *Inventory) affectedBySet(name string, cause Cause) Affected {
	return newAffected(cause, func(yield func(*placement) bool) {
		for namespace := range i.boundIn[name] {
			for p := range i.bound(namespace, name) {
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

	return newAffected(CauseBinding, i.bound(namespace, name))
}

// bound are the placements of a namespace that a set concerns which is bound there. The first set that is bound, and the last one that
// goes, concern the placements that ask for others too: "nothing is bound" and "nothing asked for is bound" are two answers.
func (i *Inventory) bound(namespace, name string) iter.Seq[*placement] {
	only := !slices.ContainsFunc(i.bindings.live[namespace], func(other string) bool { return other != name && i.sets.live[other] != nil })

	return func(yield func(*placement) bool) {
		for p := range i.placements.inNamespace[namespace] {
			if (only || p.interest.includes(name)) && !yield(p) {
				return
			}
		}
	}
}
