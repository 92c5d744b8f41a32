package scheduling

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/selector"
)

// Verdict returns the verdict of a cluster; false when the cluster does not exist.
func (r *Result) Verdict(cluster string) (Verdict, bool) {
	at, found := slices.BinarySearchFunc(r.Verdicts(), cluster, func(v Verdict, name string) int { return cmp.Compare(v.Cluster.Name, name) })
	if !found {
		return Verdict{}, false
	}

	return r.Verdicts()[at], true
}

// Reason returns why the cluster was selected, or the exact clause that rejected it (docs/spec/differences.md E1). It evaluates the
// selectors of the Request again.
func (r *Result) Reason(v Verdict) string {
	switch v.Stage {
	case StageScope:
		return r.scopeReason()
	case StageTerminating:
		return "is " + terminatingClause
	case StagePredicate:
		return r.predicateReason(v)
	case StageTaint:
		return taintClause(v.Cluster.Taints[v.taint])
	case StageAntiAffinity:
		return antiAffinityReason(*r.Request.AntiAffinity, v, r.details().feasible)
	case StageSpread:
		return spreadReason(r.Spreads, v.Cluster)
	case StageRank:
		return r.rankReason(v)
	default:
		text := fmt.Sprintf("score %d, rank %d of %d", v.Score, v.Rank, r.Feasible())
		if v.kept {
			text += ", kept because something of it cannot be read"
		}

		if v.Avoid > 0 {
			text += fmt.Sprintf(", PreferNoSelect taints not tolerated: %d", v.Avoid)
		}

		return text
	}
}

func (r *Result) scopeReason() string {
	switch {
	case len(r.Bound) == 0:
		return "no cluster set is bound to the namespace"
	case len(r.Eligible) == 0:
		return "none of the cluster sets asked for is bound to the namespace"
	case len(r.Request.ClusterSets) > 0:
		return "not in " + strings.Join(r.Eligible, ", ")
	default:
		return "not in a bound set"
	}
}

func (r *Result) predicateReason(v Verdict) string {
	evalContext := &selector.EvalContext{Now: r.now}
	reasons := make([]string, 0, len(r.Request.Predicates))

	for i, predicate := range r.Request.Predicates {
		verdict := predicate.Selector.Match(v.Cluster, evalContext)
		reasons = append(reasons, predicateText(i, verdict.Failure()))
	}

	return strings.Join(reasons, "; ")
}

func (r *Result) rankReason(v Verdict) string {
	best := r.Best()

	text := fmt.Sprintf("rank %d of %d, %s", v.Rank, r.Feasible(), wantedText(len(best)))
	if len(best) == 0 {
		return text
	}

	// The last selected cluster was selected instead of this cluster.
	last := best[len(best)-1]
	spreads := spreadsBefore(r.Spreads, last.Cluster)

	if reason := spreadReason(spreads, v.Cluster); reason != "" {
		return text + ", " + reason
	}

	if slices.Compare(domainCounts(spreads, v.Cluster), domainCounts(spreads, last.Cluster)) > 0 {
		return text + ", the spread constraints prefer the domains of " + last.Cluster.Name
	}

	if last.Avoid < v.Avoid {
		return fmt.Sprintf("%s, PreferNoSelect taints not tolerated: %d, %s has %d", text, v.Avoid, last.Cluster.Name, last.Avoid)
	}

	if last.kept && !v.kept {
		return fmt.Sprintf("%s, %s is kept because something of it cannot be read", text, last.Cluster.Name)
	}

	if behind := last.Score - v.Score; behind > 0 {
		return fmt.Sprintf("%s, %d points below %s", text, behind, last.Cluster.Name)
	}

	return fmt.Sprintf("%s, as many points as %s, which comes first by name", text, last.Cluster.Name)
}
