// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/decoding/unreadable"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// StagePredicate is the stage of the clusters in scope that match no predicate.
const StagePredicate Stage = "Predicate"

// StepCEL is the evaluation of the CEL expressions, which is a part of StepPredicate.
const (
	StepPredicate Step = "Predicate"
	StepCEL       Step = "CEL"
)

var predicateFilter = &filterPlugin{
	stage:   StagePredicate,
	step:    StepPredicate,
	reads:   func(r *Request, d *inventory.Dependencies) { d.Predicates = r.selectors() },
	batch:   (*evaluation).filterPredicates,
	rejects: func(e *evaluation, info *clusterinfo.ClusterInfo, _ *Verdict) bool { return !e.passesPredicates(info) },
	text:    predicateText,
	count:   countPredicates,
}

// filterPredicates returns the clusters in scope that match any predicate. The result is shared by all Requests with the same sets and
// predicates.
func (e *evaluation) filterPredicates(*filtered) *filtered {
	return memoize(e, "", e.findMatching, (*filtered).bytes)
}

func (e *evaluation) findMatching() *filtered {
	candidates, terminating := e.snapshot.Candidates(e.scope)
	members, f := candidates, &filtered{available: int(candidates.Count()), terminating: terminating}
	if len(e.request.Predicates) > 0 {
		members = e.matchAny(candidates)
	}
	f.tainted = e.snapshot.Tainted(members)
	f.indices = e.snapshot.SortedByName(members)
	f.clusters = e.clustersAt(f.indices)
	return f
}

func (e *evaluation) clustersAt(indices []uint) []*clusterinfo.ClusterInfo {
	clusters := make([]*clusterinfo.ClusterInfo, 0, len(indices))
	for _, index := range indices {
		clusters = append(clusters, e.snapshot.ClusterInfo(index))
	}
	return clusters
}

// matchAny returns the clusters that match any predicate. Each predicate is evaluated on the clusters that the predicates before it have
// not matched.
func (e *evaluation) matchAny(candidates inventory.Members) inventory.Members {
	left, passed := candidates.Clone(), candidates.Clone().ClearAll()
	for _, predicate := range e.request.Predicates {
		matching := e.match(predicate, left)
		passed.InPlaceUnion(matching)
		left.InPlaceDifference(matching)
	}
	return passed
}

func (e *evaluation) match(predicate Predicate, candidates inventory.Members) inventory.Members {
	if !predicate.Selector.HasCEL() {
		return e.snapshot.Match(predicate.Selector, candidates)
	}
	e.recorder.Begin(StepCEL)
	defer e.recorder.End(StepCEL)
	matching := e.snapshot.MatchCEL(predicate.Selector, candidates, e.evalContext, func(info *clusterinfo.ClusterInfo, verdict selector.Verdict) {
		e.recordError(predicate.CEL.Index(verdict.Expression), info.Name, verdict.Err)
	})

	for index := range e.snapshot.Unreadable(candidates).EachSet() {
		if e.passesUnreadable(predicate, e.snapshot.ClusterInfo(index)) {
			matching.Set(index)
		}
	}
	return matching
}

func (e *evaluation) passesPredicates(info *clusterinfo.ClusterInfo) bool {
	e.evalContext.Pause()
	passes := len(e.request.Predicates) == 0
	if e.costs == nil {
		e.costs = make([]uint64, len(e.request.Predicates))
	}

	for i, predicate := range e.request.Predicates {
		if e.ended() {
			return false
		}
		before := e.evalContext.Cost()
		verdict := predicate.Selector.Match(info, e.evalContext)

		e.costs[i] += e.evalContext.Cost() - before
		e.evalContext.LimitSelector(e.costs[i])
		if verdict.Matched {
			return true
		}
		if verdict.Err != nil {
			e.recordError(predicate.CEL.Index(verdict.Expression), info.Name, verdict.Err)
		}

		if e.passesUnreadable(predicate, info) {
			return true
		}
	}

	return passes
}

// passesUnreadable reports whether a cluster passes a predicate whatever its CEL expressions return, because the cluster is in the
// decisions and the expressions read a field that could not be decoded. Labels and claims are strings, which can always be decoded.
func (e *evaluation) passesUnreadable(predicate Predicate, info *clusterinfo.ClusterInfo) bool {
	if !predicate.Selector.HasCEL() || !e.incumbents[info.Name] || !info.HasUnreadable() {
		return false
	}
	unread := readsAny(predicate.Selector.Reads(), info.Unreadable)
	for name, set := range info.Scores {
		// The event of a score that the predicate does not read does not enqueue the Placement when the score can be decoded again.
		if len(set.Unreadable) > 0 && clusterinfo.Affects(predicate.Selector.Reads(), []clusterinfo.Property{{Kind: clusterinfo.Score, Name: name}}) {
			unread = true
		}
	}
	return unread && predicate.Selector.WithoutCEL().Matches(info, &selector.EvalContext{})
}

// readsAny reports whether one of these properties depends on one of the fields.
func readsAny(reads []clusterinfo.Property, fields unreadable.Fields) bool {
	return slices.ContainsFunc(fields, func(field unreadable.Field) bool {
		part, rest, _ := strings.Cut(field.Path, ".")
		name, _, _ := strings.Cut(rest, ".")
		name, _, _ = strings.Cut(name, "[")
		property, known := clusterinfo.FieldProperty(part + "." + name)
		return !known || clusterinfo.Affects(reads, []clusterinfo.Property{property})
	})
}

func predicateText(r *reasons, v Verdict, d detail) string {
	if d == allDetails {
		return joinPredicates(r.result.Request, "; ", func(i int) string { return r.match(i, v.Cluster).Failure() })
	}
	return noMatchClause(r.result.Request, func(i int) string { return r.match(i, v.Cluster).Clause() })
}

// match returns the result of a predicate on a cluster. Of the last cluster it remembers them, since a cluster often has several texts.
func (r *reasons) match(predicate int, info *clusterinfo.ClusterInfo) selector.Verdict {
	if r.matchedOn != info {
		r.matchedOn, r.matched = info, make([]*selector.Verdict, len(r.result.Request.Predicates))
	}
	if known := r.matched[predicate]; known != nil {
		return *known
	}
	if r.evalContext.Exhausted() {
		return selector.Verdict{} // The clauses of so many clusters cost more than an evaluation may.
	}
	verdict := r.result.Request.Predicates[predicate].Selector.Match(info, r.evalContext)
	r.matched[predicate] = &verdict
	return verdict
}

// noMatchClause joins the clauses of the predicates that a cluster fails, or returns only the number of predicates when there are many.
func noMatchClause(r *Request, clause func(predicate int) string) string {
	if !r.listsPredicates() {
		return fmt.Sprintf("none of the %d predicates", len(r.Predicates))
	}
	return joinPredicates(r, " and ", clause)
}

// joinPredicates joins the texts of the predicates, each with the number of its predicate, which counts from 1.
func joinPredicates(r *Request, separator string, text func(predicate int) string) string {
	texts := make([]string, 0, len(r.Predicates))
	for i := range r.Predicates {
		texts = append(texts, "predicate "+strconv.Itoa(i+1)+" "+text(i))
	}
	return strings.Join(texts, separator)
}

// maxListedPredicates is the highest number of predicates whose clauses are listed one by one.
const maxListedPredicates = 2

// listsPredicates reports whether the clauses of the predicates are listed one by one.
func (r *Request) listsPredicates() bool { return len(r.Predicates) <= maxListedPredicates }

// countPredicates counts the clusters in scope that match no predicate by the clauses that they fail.
func countPredicates(e *evaluation, _, after *filtered, h histogram) {
	for rejection, clusters := range memoize(e, "causes of ", func() histogram { return e.splitByPredicates(after) }, histogram.bytes) {
		h[rejection] += clusters
	}
}

func (e *evaluation) splitByPredicates(matching *filtered) histogram {
	h := histogram{}

	left, _ := e.snapshot.Candidates(e.scope)
	for _, index := range matching.indices {
		left.Clear(index)
	}
	if !e.request.listsPredicates() {
		h.add(StagePredicate, noMatchClause(e.request, nil), int(left.Count()))
		return h
	}
	parts := []clauseGroup{{clusters: left}}

	for _, predicate := range e.request.Predicates {
		divided := make([]clauseGroup, 0, len(parts))
		for _, whole := range parts {
			divided = append(divided, e.splitByClause(whole, predicate.Selector)...)
		}
		parts = divided
	}
	for _, same := range parts {
		h.add(StagePredicate, noMatchClause(e.request, func(i int) string { return same.clauses[i] }), int(same.clusters.Count()))
	}
	return h
}

// clauseGroup has the clusters that fail the same clauses, one of each predicate so far.
type clauseGroup struct {
	clauses  []string
	clusters inventory.Members
}

// splitByClause splits clusters that do not match a selector by the clause that they fail.
func (e *evaluation) splitByClause(whole clauseGroup, by *selector.Selector) []clauseGroup {
	var parts []clauseGroup
	failing := func(clusters inventory.Members, clause string) {
		if clusters.Any() {
			parts = append(parts, clauseGroup{clauses: append(slices.Clone(whole.clauses), clause), clusters: clusters})
		}
	}
	left := whole.clusters

	for _, clause := range by.Clauses() {
		if left.None() {
			break
		}
		matching := e.snapshot.Match(clause, left)
		failing(left.Difference(matching), clause.String())
		left = matching
	}
	failing(left, by.CELClause())
	return parts
}
