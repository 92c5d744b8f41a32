package inventory

import (
	"cmp"
	"slices"

	"github.com/placement-hub/placement-hub/pkg/facts"
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

// Affected are the placements that one change can have changed, sorted by namespace and name.
type Affected struct {
	Placements []PlacementKey
	Cause      Cause
}

func (i *Inventory) affected(cause Cause, concerns func(PlacementKey, Interest) bool) Affected {
	result := Affected{Cause: cause}

	for key, interest := range i.placements {
		if concerns(key, interest) {
			result.Placements = append(result.Placements, key)
		}
	}

	slices.SortFunc(result.Placements, func(a, b PlacementKey) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.API, b.API))
	})

	return result
}

// affectedByCluster names the placements whose scope holds the cluster before or after, and that either gain or lose it or read a fact
// that has changed. Decisions may keep a cluster that is in no scope any more (ours.md A1, A4): those that tell whether it is available go
// on following it.
func (i *Inventory) affectedByCluster(before, after *facts.Facts, changes []facts.Key) Affected {
	was, is := i.setsHolding(before), i.setsHolding(after)
	name := cmp.Or(before, after).Name
	existence := slices.ContainsFunc(changes, func(key facts.Key) bool { return key.Kind == facts.Name })
	availability := existence || slices.Contains(changes, facts.Key{Kind: facts.Availability})
	cause := CauseCluster

	if !slices.ContainsFunc(changes, func(key facts.Key) bool { return key.Kind != facts.Score }) {
		cause = CauseScores
	}

	return i.affected(cause, func(key PlacementKey, interest Interest) bool {
		held, holds := i.inScope(key, interest, was), i.inScope(key, interest, is)

		return held != holds || held && (existence || facts.Touched(interest.Reads, changes)) ||
			availability && i.counts[key][name] > 0 && slices.Contains(interest.Reads, facts.Key{Kind: facts.Availability})
	})
}

func (i *Inventory) setsHolding(f *facts.Facts) []string {
	if f == nil {
		return nil
	}

	var holding []string

	for name, set := range i.sets {
		if set.Holds(f) {
			holding = append(holding, name)
		}
	}

	return holding
}

func (i *Inventory) inScope(key PlacementKey, interest Interest, sets []string) bool {
	return slices.ContainsFunc(sets, func(set string) bool { return i.bindings[key.Namespace][set] && interest.includes(set) })
}

func (i *Inventory) affectedBySet(name string, cause Cause) Affected {
	return i.affected(cause, func(key PlacementKey, interest Interest) bool {
		return i.bindings[key.Namespace][name] && (interest.includes(name) || i.onlyBound(key.Namespace, name))
	})
}

func (i *Inventory) affectedByBinding(namespace, name string) Affected {
	return i.affected(CauseBinding, func(key PlacementKey, interest Interest) bool {
		return key.Namespace == namespace && (interest.includes(name) || i.onlyBound(namespace, name))
	})
}

// onlyBound reports whether no other existing set is bound to the namespace. The first set that is bound, and the last one that goes,
// concern the placements that ask for others too: "nothing is bound" and "nothing asked for is bound" are two answers.
func (i *Inventory) onlyBound(namespace, name string) bool {
	for other := range i.bindings[namespace] {
		if other != name && i.sets[other] != nil {
			return false
		}
	}

	return true
}
