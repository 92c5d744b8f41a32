package scheduling

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/selector"
)

// Cause is why some clusters in scope were not selected: one stage and one clause, told without what is particular to a cluster.
type Cause struct {
	Stage Stage
	// Clause is that of Result.Reason, without what the cluster has instead or which other cluster has its place.
	Clause string
	// Clusters is how many there are, at least 1.
	Clusters int
}

// predicatesTold is how many predicates are named one by one in the clause of a cluster that passes none of them.
const predicatesTold = 2

// beingDeleted is the clause of terminating clusters.
const beingDeleted = "being deleted"

// Causes are why the clusters in scope that were not selected were not: the cause of most clusters first, then by stage and clause. Each
// of those clusters is counted once. There are none when the result is Held.
func (r *Result) Causes() []Cause {
	h := histogram{}

	for _, verdict := range r.Verdicts() {
		if verdict.Stage != StageScope && verdict.Stage != StageSelected {
			h.add(verdict.Stage, r.clause(verdict), 1)
		}
	}

	return h.causes()
}

// clause is the cause of a cluster in scope that was not selected.
func (r *Result) clause(v Verdict) string {
	switch v.Stage {
	case StageTerminating:
		return beingDeleted
	case StagePredicate:
		return r.Request.predicateClause(v, &selector.Pass{Now: r.now})
	case StageTaint:
		return taintClause(v.Cluster.Taints[v.taint])
	case StageAntiAffinity:
		return apartClause(*r.Request.AntiAffinity, v, r.details().feasible)
	case StageSpread:
		clause, _ := blocked(r.Spreads, v.Cluster)

		return clause
	default:
		return "not needed, " + wantedText(len(r.Selected))
	}
}

// predicateClause names the clause of each predicate that a cluster fails, or only how many there are when there are more than a few.
func (r *Request) predicateClause(v Verdict, pass *selector.Pass) string {
	if len(r.Predicates) > predicatesTold {
		return fmt.Sprintf("none of the %d predicates", len(r.Predicates))
	}

	clauses := make([]string, 0, len(r.Predicates))
	for i, predicate := range r.Predicates {
		clauses = append(clauses, predicateText(i, predicate.Selector.Match(v.Cluster, pass).Clause()))
	}

	return strings.Join(clauses, " and ")
}

// predicateText says what is said of the predicate of an index, which counts from 1 in texts.
func predicateText(index int, text string) string { return fmt.Sprintf("predicate %d %s", index+1, text) }

func wantedText(wanted int) string { return fmt.Sprintf("%d wanted", wanted) }

// histogram counts clusters by cause.
type histogram map[Cause]int

func (h histogram) add(stage Stage, clause string, clusters int) {
	if clusters > 0 {
		h[Cause{Stage: stage, Clause: clause}] += clusters
	}
}

func (h histogram) causes() []Cause {
	causes := make([]Cause, 0, len(h))

	for cause, clusters := range h {
		cause.Clusters = clusters
		causes = append(causes, cause)
	}

	slices.SortFunc(causes, func(a, b Cause) int {
		return cmp.Or(cmp.Compare(b.Clusters, a.Clusters), cmp.Compare(a.Stage, b.Stage), cmp.Compare(a.Clause, b.Clause))
	})

	return causes
}
