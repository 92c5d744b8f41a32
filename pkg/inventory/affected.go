// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"iter"
	"maps"
	"slices"

	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

// Cause is the kind of change that affects subscribers.
type Cause string

// The causes of evaluations.
const (
	CauseCluster    Cause = "cluster"
	CauseScores     Cause = "scores"
	CauseClusterSet Cause = "clusterset"
	CauseBinding    Cause = "binding"
)

// Affected are the subscribers whose result one change may have changed, each once, sorted by Key.Compare.
type Affected struct {
	Subscribers []Key
	Cause       Cause
	// Changes are the changed properties of a cluster, as clusterinfo.ChangedProperties returns them. Of another object that has changed it is
	// the property Name, and it is empty if the object says what it said before.
	Changes []clusterinfo.Property
	// Sets are the names of the sets that a cluster has joined or left, or of the set that was added, deleted, or has another generation.
	Sets []string
}

// changedObject returns what has changed in an object that is no cluster.
func changedObject(name string) []clusterinfo.Property {
	return []clusterinfo.Property{{Kind: clusterinfo.Name, Name: name}}
}

func newAffected(cause Cause, affected iter.Seq[*subscriber]) Affected {
	result := Affected{Cause: cause}
	for s := range affected {
		result.Subscribers = append(result.Subscribers, s.key)
	}
	slices.SortFunc(result.Subscribers, Key.Compare)
	return result
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

func (c clusterChange) cause() Cause {
	if slices.ContainsFunc(c.changes, func(key clusterinfo.Property) bool { return key.Kind != clusterinfo.Score }) {
		return CauseCluster
	}
	return CauseScores
}

// affectedByCluster returns the subscribers whose scope contains the cluster before or after the change, and that gain or lose it, read a
// changed property, or have a predicate or clause whose verdict changes. Decisions may keep a cluster that has left the scope
// (docs/spec/differences.md A1, A4), so subscribers with decisions for the cluster are also returned if they read availability and it
// changes.
func (i *Inventory) affectedByCluster(c clusterChange) Affected {
	affected := map[*subscriber]struct{}{}
	for flipped := range c.flipped {
		for s := range flipped.dependents {
			if s.predicateFlipped(c.id, c.flipped) && i.inScope(s, c) {
				affected[s] = struct{}{}
			}
		}
		for s := range flipped.clauseDependents {
			if s.failedClauseChanged(c.id, c.flipped) && i.inScope(s, c) {
				affected[s] = struct{}{}
			}
		}
	}

	i.eachGainingOrLosing(c, func(s *subscriber) { affected[s] = struct{}{} })
	i.eachReader(c, func(s *subscriber) { affected[s] = struct{}{} })
	i.eachAvailabilityReader(c, func(s *subscriber) { affected[s] = struct{}{} })
	result := newAffected(c.cause(), maps.Keys(affected))
	result.Changes = c.changes
	result.Sets = c.setsJoinedOrLeft()
	return result
}

// eachMatching visits the subscribers with a predicate that the cluster matches or that flipped, some more than once. It starts from the
// cluster, so that its cost does not depend on the number of other subscribers.
func (i *Inventory) eachMatching(c clusterChange, visit func(*subscriber)) {
	visitReaders := func(views map[*view]struct{}) {
		for v := range views {
			if _, is := c.flipped[v]; !is && !v.matches.bits.Test(c.id) {
				continue
			}
			for s := range v.dependents {
				visit(s)
			}
		}
	}

	i.views.eachOf(c.after, visitReaders)
	visitReaders(i.views.unindexed)
	visitReaders(c.flipped)
}

// eachGainingOrLosing visits the subscribers whose scope gains or loses the cluster, if that may change their result.
func (i *Inventory) eachGainingOrLosing(c clusterChange, visit func(*subscriber)) {
	changed := c.changedSets()
	if len(changed) == 0 {
		return
	}
	visitChanged := func(s *subscriber) {
		if i.gainsOrLoses(s, c) && i.mayChangeResult(s, c) {
			visit(s)
		}
	}
	i.eachMatching(c, visitChanged)

	for _, set := range changed {
		// If the set has other members, the cluster is the only one in no scope that includes the set. Then only the unfiltered subscribers
		// may be affected beside those of eachMatching.
		concerned := i.subscribers.unfiltered
		if i.members[set] == nil || i.otherMembers(i.members[set], c.id) == 0 {
			concerned = i.subscribers.inNamespace
		}
		for namespace := range i.boundIn[set] {
			for s := range concerned[namespace] {
				visitChanged(s)
			}
		}
	}
}

// eachReader visits the subscribers that read a changed property, either of every cluster in their scope, or of the clusters that match
// their predicates, if this one does.
func (i *Inventory) eachReader(c clusterChange, visit func(*subscriber)) {
	selective := false
	for _, changed := range c.changes {
		eachCovering(i.subscribers.matchReaders, changed, func(readers map[*subscriber]struct{}) { selective = selective || len(readers) > 0 })
		eachCovering(i.subscribers.scopeReaders, changed, func(readers map[*subscriber]struct{}) {
			for s := range readers {
				if i.inScope(s, c) {
					visit(s)
				}
			}
		})
	}

	if !selective {
		return
	}
	i.eachMatching(c, func(s *subscriber) {
		if s.mayMatch(c.id, c.flipped) && clusterinfo.Affects(s.dependencies.Reads, c.changes) && i.inScope(s, c) {
			visit(s)
		}
	})
}

// changedSets returns the sets whose subscribers may gain or lose the cluster.
func (c clusterChange) changedSets() []string {
	if c.existenceChanged() {
		return slices.Compact(slices.Sorted(slices.Values(slices.Concat(c.setsBefore, c.setsAfter))))
	}
	return c.setsJoinedOrLeft()
}

// setsJoinedOrLeft returns the sets that contain the cluster either before or after the change.
func (c clusterChange) setsJoinedOrLeft() []string {
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
func (i *Inventory) setsContaining(id uint, info *clusterinfo.ClusterInfo) []string {
	if info == nil {
		return nil
	}
	var holding []string
	if set := i.sets.live[info.Labels[clusterv1beta2.ClusterSetLabel]]; set != nil && set.exclusive {
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

// inScope reports whether the scope of a subscriber contains the cluster before or after the change.
func (i *Inventory) inScope(s *subscriber, c clusterChange) bool {
	return i.scopeContains(s, c.setsBefore) || i.scopeContains(s, c.setsAfter)
}

func (i *Inventory) gainsOrLoses(s *subscriber, c clusterChange) bool {
	before, after := i.scopeContains(s, c.setsBefore), i.scopeContains(s, c.setsAfter)
	return before != after || before && c.existenceChanged()
}

func (i *Inventory) scopeContains(s *subscriber, sets []string) bool {
	return slices.ContainsFunc(sets, func(set string) bool {
		_, bound := i.boundIn[set][s.key.Namespace]
		return bound && s.dependencies.includes(set)
	})
}

// mayChangeResult reports whether the result of a subscriber may change when the cluster enters or leaves its scope. A cluster that matches
// no predicate counts only if the predicates have CEL, if the subscriber reads rejected clusters, or if it is the only cluster in the scope.
func (i *Inventory) mayChangeResult(s *subscriber, c clusterChange) bool {
	return s.mayMatch(c.id, c.flipped) || s.hasCEL() || s.readsRejected() || i.isOnlyCluster(s, c.id)
}

// isOnlyCluster reports whether the scope of a subscriber contains no other cluster that is not terminating.
func (i *Inventory) isOnlyCluster(s *subscriber, id uint) bool {
	for _, set := range i.bindings.live[s.key.Namespace] {
		members := i.members[set]
		if members == nil || !s.dependencies.includes(set) {
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

// eachAvailabilityReader visits the subscribers that read availability and have decisions for the cluster, whatever their scope is, if the
// availability may have changed.
func (i *Inventory) eachAvailabilityReader(c clusterChange, visit func(*subscriber)) {
	availability := clusterinfo.Property{Kind: clusterinfo.Availability}
	if !c.existenceChanged() && !slices.Contains(c.changes, availability) || i.decisions.totals.get(c.id) == 0 {
		return
	}

	for _, readers := range []map[*subscriber]struct{}{i.subscribers.scopeReaders[availability], i.subscribers.matchReaders[availability]} {
		for s := range readers {
			if i.decisions.contains(s.key, c.id) {
				visit(s)
			}
		}
	}
}

func (i *Inventory) affectedBySet(name string) Affected {
	affected := newAffected(CauseClusterSet, func(yield func(*subscriber) bool) {
		for namespace := range i.boundIn[name] {
			for s := range i.boundSubscribers(namespace, name) {
				if !yield(s) {
					return
				}
			}
		}
	})
	affected.Changes, affected.Sets = changedObject(name), []string{name}
	return affected
}

func (i *Inventory) affectedByBinding(namespace, name string) Affected {
	if i.sets.live[name] == nil {
		return Affected{Cause: CauseBinding, Changes: changedObject(name)} // A binding to a set that does not exist has no effect.
	}
	affected := newAffected(CauseBinding, i.boundSubscribers(namespace, name))
	affected.Changes = changedObject(name)
	return affected
}

// boundSubscribers returns the subscribers of a namespace that a set bound there concerns. If it is the only existing set that is bound, it
// also concerns the subscribers that name other sets, because a status distinguishes "nothing is bound" from "nothing that is named is
// bound".
func (i *Inventory) boundSubscribers(namespace, name string) iter.Seq[*subscriber] {
	onlyBound := !slices.ContainsFunc(i.bindings.live[namespace], func(other string) bool { return other != name && i.sets.live[other] != nil })
	return func(yield func(*subscriber) bool) {
		for s := range i.subscribers.inNamespace[namespace] {
			if (onlyBound || s.dependencies.includes(name)) && !yield(s) {
				return
			}
		}
	}
}
