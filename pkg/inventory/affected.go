package inventory

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

// Cause is the kind of change that affects placements.
type Cause string

// The causes of evaluations.
const (
	CauseCluster    Cause = "cluster"
	CauseScores     Cause = "scores"
	CauseClusterSet Cause = "clusterset"
	CauseBinding    Cause = "binding"
)

// Affected are the placements whose result one change may have changed, each once, sorted by namespace, name and API.
type Affected struct {
	Placements []PlacementKey
	Cause      Cause
}

func newAffected(cause Cause, affected iter.Seq[*placement]) Affected {
	result := Affected{Cause: cause}
	for p := range affected {
		result.Placements = append(result.Placements, p.key)
	}

	slices.SortFunc(result.Placements, comparePlacements)

	return result
}

func comparePlacements(a, b PlacementKey) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.API, b.API))
}

// clusterChange is a change of one cluster, with the views that flipped, and the sorted names of the sets that contained it before and
// contain it now. A nil state means that the cluster does not exist.
type clusterChange struct {
	name                  string
	id                    uint
	before, after         *clusterinfo.ClusterInfo
	changes               []clusterinfo.Property
	flipped               map[*view]struct{}
	setsBefore, setsAfter []string
}

// existenceChanged reports whether the cluster was added or deleted, or began to terminate.
func (c clusterChange) existenceChanged() bool { return existenceChanged(c.before, c.after) }

// existenceChanged reports whether a cluster was added or deleted, or began to terminate. ChangedProperties then returns the single
// property Name, whatever else has changed.
func existenceChanged(before, after *clusterinfo.ClusterInfo) bool {
	return before == nil || after == nil || before.Terminating != after.Terminating
}

func (c clusterChange) cause() Cause {
	if slices.ContainsFunc(c.changes, func(key clusterinfo.Property) bool { return key.Kind != clusterinfo.Score }) {
		return CauseCluster
	}

	return CauseScores
}

// affectedByCluster returns the placements whose scope contains the cluster before or after the change, and that gain or lose it, read a
// changed property, or have a predicate or clause whose verdict changes. Decisions may keep a cluster that has left the scope
// (docs/spec/differences.md A1, A4), so placements with decisions for the cluster are also returned if they read availability and it
// changes.
func (i *Inventory) affectedByCluster(c clusterChange) Affected {
	affected := map[*placement]struct{}{}

	for flipped := range c.flipped {
		for p := range flipped.dependents {
			if p.predicateFlipped(c.id, c.flipped) && i.inScope(p, c) {
				affected[p] = struct{}{}
			}
		}

		for p := range flipped.clauseDependents {
			if p.failedClauseChanged(c.id, c.flipped) && i.inScope(p, c) {
				affected[p] = struct{}{}
			}
		}
	}

	i.eachGainingOrLosing(c, func(p *placement) { affected[p] = struct{}{} })
	i.eachReader(c, func(p *placement) { affected[p] = struct{}{} })
	i.eachAvailabilityReader(c, func(p *placement) { affected[p] = struct{}{} })

	return newAffected(c.cause(), maps.Keys(affected))
}

// eachMatching visits the placements with a predicate that the cluster matches or that flipped, some more than once. It starts from the
// cluster, so that its cost does not depend on the number of other placements.
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

// eachGainingOrLosing visits the placements whose scope gains or loses the cluster, if that may change their result.
func (i *Inventory) eachGainingOrLosing(c clusterChange, visit func(*placement)) {
	changed := c.changedSets()
	if len(changed) == 0 {
		return
	}

	visitChanged := func(p *placement) {
		if i.gainsOrLoses(p, c) && i.mayChangeResult(p, c) {
			visit(p)
		}
	}

	i.eachMatching(c, visitChanged)

	for _, set := range changed {
		// If the set has other members, the cluster is the only one in no scope that includes the set. Then only the unfiltered placements
		// may be affected beside those of eachMatching.
		placements := i.placements.unfiltered
		if i.members[set] == nil || i.otherMembers(i.members[set], c.id) == 0 {
			placements = i.placements.inNamespace
		}

		for namespace := range i.boundIn[set] {
			for p := range placements[namespace] {
				visitChanged(p)
			}
		}
	}
}

// eachReader visits the placements that read a changed property, either of every cluster in their scope, or of the clusters that match
// their predicates, if this one does.
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

// changedSets returns the sets whose placements may gain or lose the cluster.
func (c clusterChange) changedSets() []string {
	if c.existenceChanged() {
		return slices.Compact(slices.Sorted(slices.Values(slices.Concat(c.setsBefore, c.setsAfter))))
	}

	var changed []string

	for _, sets := range [][2][]string{{c.setsBefore, c.setsAfter}, {c.setsAfter, c.setsBefore}} {
		for _, set := range sets[0] {
			if _, both := slices.BinarySearch(sets[1], set); !both {
				changed = append(changed, set)
			}
		}
	}

	return changed
}

// setsContaining returns the sorted names of the sets that contain a cluster.
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

// inScope reports whether the scope of a placement contains the cluster before or after the change.
func (i *Inventory) inScope(p *placement, c clusterChange) bool {
	return i.scopeContains(p, c.setsBefore) || i.scopeContains(p, c.setsAfter)
}

func (i *Inventory) gainsOrLoses(p *placement, c clusterChange) bool {
	before, after := i.scopeContains(p, c.setsBefore), i.scopeContains(p, c.setsAfter)

	return before != after || before && c.existenceChanged()
}

func (i *Inventory) scopeContains(p *placement, sets []string) bool {
	return slices.ContainsFunc(sets, func(set string) bool {
		_, bound := i.boundIn[set][p.key.Namespace]

		return bound && p.dependencies.includes(set)
	})
}

// mayChangeResult reports whether the result of a placement may change when the cluster enters or leaves its scope. A cluster that matches
// no predicate counts only if the predicates have CEL, if the placement reads rejected clusters, or if it is the only cluster in the scope.
func (i *Inventory) mayChangeResult(p *placement, c clusterChange) bool {
	return p.mayMatch(c.id, c.flipped) || p.hasCEL() || p.readsRejected() || i.isOnlyCluster(p, c.id)
}

// isOnlyCluster reports whether the scope of a placement contains no other cluster that is not terminating.
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

// otherMembers returns the number of other members of a set that are not terminating.
func (i *Inventory) otherMembers(members *view, id uint) uint {
	others := members.matches.bits.IntersectionCardinality(i.alive.bits)
	if i.alive.bits.Test(id) && members.matches.bits.Test(id) {
		others--
	}

	return others
}

// eachAvailabilityReader visits the placements that read availability and have decisions for the cluster, whatever their scope is, if the
// availability may have changed.
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
		return Affected{Cause: CauseBinding} // A binding to a set that does not exist has no effect.
	}

	return newAffected(CauseBinding, i.boundPlacements(namespace, name))
}

// boundPlacements returns the placements of a namespace that a set bound there concerns. If it is the only existing set that is bound, it
// also concerns the placements that name other sets, because the status distinguishes "nothing is bound" from "nothing that is named is
// bound".
func (i *Inventory) boundPlacements(namespace, name string) iter.Seq[*placement] {
	onlyBound := !slices.ContainsFunc(i.bindings.live[namespace], func(other string) bool { return other != name && i.sets.live[other] != nil })

	return func(yield func(*placement) bool) {
		for p := range i.placements.inNamespace[namespace] {
			if (onlyBound || p.dependencies.includes(name)) && !yield(p) {
				return
			}
		}
	}
}
