// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"cmp"
	"iter"
	"slices"
	"sync"

	"github.com/bits-and-blooms/bitset"
	iradix "github.com/hashicorp/go-immutable-radix/v2"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// Snapshot is an immutable state of an Inventory. It is safe for concurrent use.
type Snapshot struct {
	// Generation increases with every change of anything but decisions, and DecisionsGeneration with every change of decisions.
	Generation, DecisionsGeneration uint64

	clusters                   *iradix.Tree[uint]
	infos                      frozen[*clusterinfo.ClusterInfo]
	names                      frozen[string]
	alive, tainted, unreadable Members
	order                      func() *order
	sorted                     func() []*clusterinfo.ClusterInfo

	sets     *iradix.Tree[*ClusterSet]
	bindings *iradix.Tree[[]string]
	views    *iradix.Tree[frozenView]

	pages               *iradix.Tree[[]*page]
	totals, frequencies frozen[int32]
	highest             int32

	results *resultCache
	// done cancels the evaluations on the Snapshot, and yield is called by those with CEL between two clusters; nil for neither.
	done  <-chan struct{}
	yield func()
}

// WithDone returns the Snapshot for evaluations that are cancelled when done is closed, and that do not yield.
func (s *Snapshot) WithDone(done <-chan struct{}) *Snapshot {
	cancelled := *s
	cancelled.done, cancelled.yield = done, nil
	return &cancelled
}

// WithYield returns the Snapshot for evaluations that call yield between two clusters while they evaluate CEL, so that others can go first.
// It is called by the goroutine of the evaluation, without a lock.
func (s *Snapshot) WithYield(yield func()) *Snapshot {
	yielding := *s
	yielding.yield = yield
	return &yielding
}

// Yield returns the function of WithYield; nil for none.
func (s *Snapshot) Yield() func() { return s.yield }

// Done is closed when the evaluations on the Snapshot are cancelled; nil for never.
func (s *Snapshot) Done() <-chan struct{} { return s.done }

func (s *Snapshot) sort() []*clusterinfo.ClusterInfo {
	clusters := make([]*clusterinfo.ClusterInfo, 0, s.clusters.Len())
	s.clusters.Root().Walk(func(_ []byte, id uint) bool {
		clusters = append(clusters, s.infos.get(id))
		return false
	})
	return clusters
}

// Clusters returns all clusters, terminating ones too, sorted by name. The list is shared and must not be changed.
func (s *Snapshot) Clusters() []*clusterinfo.ClusterInfo { return s.sorted() }

// Cluster returns the ClusterInfo of a cluster; nil if it does not exist.
func (s *Snapshot) Cluster(name string) *clusterinfo.ClusterInfo {
	id, exists := s.clusters.Get([]byte(name))
	if !exists {
		return nil
	}
	return s.infos.get(id)
}

// ClusterSets returns all sets, sorted by name. The caller owns the list.
func (s *Snapshot) ClusterSets() []*ClusterSet {
	sets := make([]*ClusterSet, 0, s.sets.Len())
	s.sets.Root().Walk(func(_ []byte, set *ClusterSet) bool {
		sets = append(sets, set)
		return false
	})
	return sets
}

// Scope is the cluster sets from which a subscriber may select.
type Scope struct {
	// Bound are the names of the existing sets that are bound to the namespace, sorted.
	Bound []string
	// Eligible are those of them that the subscriber names, sorted by name.
	Eligible []*ClusterSet
}

// Scope returns the existing sets that are bound to a namespace, and of these the eligible ones, where no clusterSets means all. A binding
// to a set that does not exist is ignored.
func (s *Snapshot) Scope(namespace string, clusterSets []string) Scope {
	var scope Scope
	dependencies := Dependencies{ClusterSets: clusterSets}
	bound, _ := s.bindings.Get([]byte(namespace))
	for _, name := range bound {
		set, exists := s.sets.Get([]byte(name))
		if !exists {
			continue
		}
		scope.Bound = append(scope.Bound, name)
		if dependencies.includes(name) {
			scope.Eligible = append(scope.Eligible, set)
		}
	}

	return scope
}

// Reads returns the properties of a cluster that decide whether an eligible set contains it.
func (s Scope) Reads() []clusterinfo.Property {
	var reads []clusterinfo.Property
	for _, set := range s.Eligible {
		if set.members != nil {
			reads = append(reads, set.members.Reads()...)
		}
	}
	return reads
}

// Contains reports whether an eligible set contains the cluster.
func (s Scope) Contains(info *clusterinfo.ClusterInfo) bool {
	return slices.ContainsFunc(s.Eligible, func(set *ClusterSet) bool { return set.Contains(info) })
}

// Candidates returns the clusters of a scope that are not terminating, and the number of those that are. The caller owns the set.
func (s *Snapshot) Candidates(scope Scope) (candidates Members, terminating int) {
	candidates = bitset.New(s.alive.Len())
	for _, set := range scope.Eligible {
		if set.members == nil {
			continue
		}
		if members, known := s.views.Get([]byte(set.members.Identity())); known {
			candidates.InPlaceUnion(members.matches)
		}
	}

	terminating = int(candidates.DifferenceCardinality(s.alive))
	candidates.InPlaceIntersection(s.alive)
	return candidates, terminating
}

// Match returns the candidates that a selector without CEL matches. It uses the view of the selector if a subscriber subscribed with it
// before the snapshot, and evaluates it on every candidate otherwise. The caller owns the set.
func (s *Snapshot) Match(by *selector.Selector, candidates Members) Members {
	if v, known := s.views.Get([]byte(by.Identity())); known {
		return candidates.Intersection(v.matches)
	}
	matching := bitset.New(candidates.Len())
	evaluation := &selector.EvalContext{}
	for id := range candidates.EachSet() {
		if by.Matches(s.infos.get(id), evaluation) {
			matching.Set(id)
		}
	}
	return matching
}

// MatchCEL returns the candidates that a selector with CEL matches, charges the evaluation, and calls failed for every candidate on which
// an expression could not be evaluated. It caches the verdicts if a subscriber subscribed with the selector before the snapshot, and stops
// when the evaluation is exhausted or cancelled. The caller owns the set.
func (s *Snapshot) MatchCEL(
	by *selector.Selector, candidates Members, evaluation *selector.EvalContext, failed func(*clusterinfo.ClusterInfo, selector.Verdict),
) Members {
	matching, left := bitset.New(candidates.Len()), candidates
	before := evaluation.Cost()

	v, known := s.views.Get([]byte(by.Identity()))
	if known {
		matching, left = v.celCache.cachedMatches(candidates.Intersection(v.matches), s.Generation, evaluation)
	}

	for id := range left.EachSet() {
		evaluation.LimitSelector(evaluation.Cost() - before)
		evaluation.Pause()
		if evaluation.Exhausted() || evaluation.Cancelled() {
			break
		}
		var verdict selector.Verdict

		info := s.infos.get(id)
		if known {
			verdict = v.celCache.match(id, info, s.Generation, evaluation)
		} else {
			verdict = by.Match(info, evaluation)
		}
		if verdict.Matched {
			matching.Set(id)
		}

		if verdict.Err != nil {
			failed(info, verdict)
		}
	}

	evaluation.LimitSelector(evaluation.Cost() - before)
	return matching
}

// ClusterInfo returns the ClusterInfo of a cluster by its id; nil if it does not exist.
func (s *Snapshot) ClusterInfo(id uint) *clusterinfo.ClusterInfo { return s.infos.get(id) }

// Tainted returns the candidates with taints. The caller owns the set.
func (s *Snapshot) Tainted(candidates Members) Members { return candidates.Intersection(s.tainted) }

// Unreadable returns the candidates with fields or scores that could not be decoded. The caller owns the set.
func (s *Snapshot) Unreadable(candidates Members) Members {
	return candidates.Intersection(s.unreadable)
}

// AllUnreadable returns the ids of all clusters with fields or scores that could not be decoded, in no order.
func (s *Snapshot) AllUnreadable() iter.Seq[uint] { return s.unreadable.EachSet() }

// maxDirectSort is the number of clusters up to which sorting their names is cheaper than the order of all clusters, which may have to be
// computed first.
const maxDirectSort = 32

// SortedByName returns the ids of existing clusters in the order of their names.
func (s *Snapshot) SortedByName(members Members) []uint {
	count := members.Count()
	sorted := make([]uint, 0, count)
	if count <= maxDirectSort {
		for id := range members.EachSet() {
			sorted = append(sorted, id)
		}
		slices.SortFunc(sorted, func(a, b uint) int { return cmp.Compare(s.names.get(a), s.names.get(b)) })
		return sorted
	}

	order := s.order()
	ranks := bitset.New(uint(len(order.byRank)))
	for id := range members.EachSet() {
		ranks.Set(uint(order.rank[id]))
	}
	for rank := range ranks.EachSet() {
		sorted = append(sorted, order.byRank[rank])
	}
	return sorted
}

// Memoize returns the result of find for a request in the snapshot. While at least two indexed subscribers have a request of that
// identity, it keeps the result and calls find once until anything but decisions changes; otherwise it calls find each time.
//
// The rest distinguishes the results of requests with the same identity, and size returns the approximate size of a result in bytes.
// Memoize is safe for concurrent use.
func Memoize[T any](s *Snapshot, identity, rest string, find func() T, size func(T) int) T {
	once, shared := s.results.entry(identity, rest, func(entry *resultEntry) any {
		return sync.OnceValue(func() T {
			answer := find()
			s.results.setSize(entry, size(answer))
			return answer
		})
	}).(func() T)
	if !shared {
		return find()
	}
	return once()
}
