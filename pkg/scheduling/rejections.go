package scheduling

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// Rejection is a reason why clusters in scope were not selected, with the number of these clusters.
type Rejection struct {
	Stage Stage
	// Clause is the text of Result.Reason without values that are particular to a cluster.
	Clause string
	// Clusters is the number of rejected clusters, at least 1.
	Clusters int
}

// maxClauseBytes is the maximal length of a clause in a text that lists several.
const maxClauseBytes = 200

// Short returns the clause on one line of at most maxClauseBytes, for texts that list several.
func (c Rejection) Short() string {
	clause := strings.Join(strings.Fields(c.Clause), " ")
	if len(clause) <= maxClauseBytes {
		return clause
	}

	return strings.ToValidUTF8(clause[:maxClauseBytes-len("...")], "") + "..."
}

// maxListedPredicates is the highest number of predicates whose clauses are listed one by one.
const maxListedPredicates = 2

// maxListedRejections is the number of rejections that are listed one by one (docs/spec/differences.md E2).
const maxListedRejections = 3

// terminatingClause is the clause of terminating clusters.
const terminatingClause = "being deleted"

// Rejections returns why clusters in scope were not selected, sorted by descending number of clusters, then by stage and clause. Each of
// these clusters is counted once. It returns nil unless the Outcome is Decided.
func (r *Result) Rejections() []Rejection {
	switch {
	case r.Outcome() != Decided:
		return nil
	case r.rejections != nil:
		return r.rejections()
	}

	h := histogram{}
	constraints := hardConstraints(r.Spreads)

	for _, v := range r.Verdicts() {
		if v.Stage != StageScope && v.Stage != StageSelected {
			h.add(v.Stage, r.clause(v, constraints), 1)
		}
	}

	return h.rejections()
}

// Summarize returns "predicate 1 label region In [eu] (12), being deleted (6), other causes (2)": the first rejections with their clauses
// on one line, and the number of the other clusters. It is empty without rejections.
func Summarize(found []Rejection) string {
	texts := make([]string, 0, maxListedRejections+1)
	others := 0

	for i, rejection := range found {
		if i < maxListedRejections {
			texts = append(texts, fmt.Sprintf("%s (%d)", rejection.Short(), rejection.Clusters))
		} else {
			others += rejection.Clusters
		}
	}

	if others > 0 {
		texts = append(texts, fmt.Sprintf("other causes (%d)", others))
	}

	return strings.Join(texts, ", ")
}

// clause returns the clause that rejected a cluster in scope.
func (r *Result) clause(v Verdict, constraints []hardConstraint) string {
	switch v.Stage {
	case StageTerminating:
		return terminatingClause
	case StagePredicate:
		return r.predicateClause(v)
	case StageTaint:
		return taintClause(v.Cluster.Taints[v.taint])
	default:
		return r.rankedClause(v, r.details().feasible, constraints)
	}
}

func (r *Result) predicateClause(v Verdict) string {
	evalContext := &selector.EvalContext{Now: r.now}

	return r.Request.noMatchClause(func(i int) string { return r.Request.Predicates[i].Selector.Match(v.Cluster, evalContext).Clause() })
}

// rankedClause returns the clause that rejected a feasible cluster.
func (r *Result) rankedClause(v Verdict, feasible []Verdict, constraints []hardConstraint) string {
	switch v.Stage {
	case StageAntiAffinity:
		return antiAffinityClause(*r.Request.AntiAffinity, v, feasible)
	case StageSpread:
		clause, _ := spreadClause(constraints, v.Cluster)

		return clause
	default:
		return r.rankClause()
	}
}

func (r *Result) rankClause() string { return "not needed, " + wantedText(len(r.Selected)) }

func wantedText(wanted int) string { return fmt.Sprintf("%d wanted", wanted) }

// noMatchClause joins the clauses of the predicates that a cluster fails, or returns only the number of predicates when there are many.
func (r *Request) noMatchClause(clause func(predicate int) string) string {
	if !r.listsPredicates() {
		return fmt.Sprintf("none of the %d predicates", len(r.Predicates))
	}

	clauses := make([]string, 0, len(r.Predicates))
	for i := range r.Predicates {
		clauses = append(clauses, predicateText(i, clause(i)))
	}

	return strings.Join(clauses, " and ")
}

// listsPredicates reports whether the clauses of the predicates are listed one by one.
func (r *Request) listsPredicates() bool { return len(r.Predicates) <= maxListedPredicates }

// predicateText prefixes a text with the number of its predicate, which counts from 1.
func predicateText(index int, text string) string {
	return fmt.Sprintf("predicate %d %s", index+1, text)
}

// rejections returns the Rejections of the verdicts of Reference, but counts them by sets of clusters.
func (e *evaluation) rejections(scope inventory.Scope, p *predicateResult) []Rejection {
	h := histogram{}
	for _, rejection := range memoize(e, "causes of ", func() []Rejection { return e.rejectedBeforeTaints(scope, p).rejections() }, rejectionsBytes) {
		h.add(rejection.Stage, rejection.Clause, rejection.Clusters)
	}

	e.rejectedByTaints(h, p)

	if e.ranked == nil {
		h.add(StageRank, e.result.rankClause(), e.result.Feasible()-len(e.result.Selected))

		return h.rejections()
	}

	constraints := hardConstraints(e.result.Spreads)

	for _, v := range e.ranked {
		if v.Stage != StageSelected {
			h.add(v.Stage, e.result.rankedClause(v, e.ranked, constraints), 1)
		}
	}

	return h.rejections()
}

// rejectionsBytes estimates the size of rejections.
func rejectionsBytes(found []Rejection) int {
	const fixed, perRejection = 64, 32

	bytes := fixed
	for _, rejection := range found {
		bytes += perRejection + len(rejection.Clause)
	}

	return bytes
}

// rejectedBeforeTaints counts the clusters in scope that are terminating or match no predicate.
func (e *evaluation) rejectedBeforeTaints(scope inventory.Scope, p *predicateResult) histogram {
	h := histogram{}
	h.add(StageTerminating, terminatingClause, p.terminating)

	left, _ := e.snapshot.Candidates(scope)
	for _, index := range p.indices {
		left.Clear(index)
	}

	if !e.request.listsPredicates() {
		h.add(StagePredicate, e.request.noMatchClause(nil), int(left.Count()))

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
		h.add(StagePredicate, e.request.noMatchClause(func(i int) string { return same.clauses[i] }), int(same.clusters.Count()))
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

// rejectedByTaints counts the clusters with taints that are not tolerated.
func (e *evaluation) rejectedByTaints(h histogram, p *predicateResult) {
	counts := map[clusterv1.Taint]int{}

	for index := range p.tainted.EachSet() {
		f := e.snapshot.ClusterInfo(index)
		if i := e.checkTaints(f).forbids; i >= 0 {
			counts[clusterv1.Taint{Key: f.Taints[i].Key, Value: f.Taints[i].Value, Effect: f.Taints[i].Effect}]++
		}
	}

	for taint, clusters := range counts {
		h.add(StageTaint, taintClause(taint), clusters)
	}
}

// ListsRejections reports whether the status lists rejections: while the Request is not satisfied (docs/spec/differences.md E2), and while
// a blocked Result keeps clusters that it would remove.
func (r *Result) ListsRejections() bool { return r.Outcome() != Invalid && !r.Satisfied() }

// Dependencies returns what the Request depends on while this is its Result, for inventory.Subscribe. They include the rejected clusters
// while the status lists rejections.
func (r *Result) Dependencies() inventory.Dependencies {
	dependencies := r.Request.Dependencies()
	dependencies.WatchRejected = r.ListsRejections()

	if !dependencies.WatchRejected || !r.Request.listsPredicates() {
		return dependencies
	}

	for _, predicate := range r.Request.Predicates {
		clauses := predicate.Selector.Clauses()
		if len(clauses) > 1 || predicate.Selector.HasCEL() {
			dependencies.Clauses = append(dependencies.Clauses, clauses)
		}
	}

	return dependencies
}

// histogram counts clusters by stage and clause.
type histogram map[Rejection]int

func (h histogram) add(stage Stage, clause string, clusters int) {
	if clusters > 0 {
		h[Rejection{Stage: stage, Clause: clause}] += clusters
	}
}

func (h histogram) rejections() []Rejection {
	found := make([]Rejection, 0, len(h))

	for rejection, clusters := range h {
		rejection.Clusters = clusters
		found = append(found, rejection)
	}

	slices.SortFunc(found, func(a, b Rejection) int {
		return cmp.Or(cmp.Compare(b.Clusters, a.Clusters), cmp.Compare(a.Stage, b.Stage), cmp.Compare(a.Clause, b.Clause))
	})

	return found
}
