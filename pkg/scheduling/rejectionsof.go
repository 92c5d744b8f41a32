package scheduling

import (
	"slices"

	"github.com/placement-hub/placement-hub/pkg/selector"
)

// IsFeasible reports whether a cluster passed predicates and taints.
func (r *Result) IsFeasible(cluster string) bool {
	if r.candidates == nil {
		return false
	}

	_, fits := slices.BinarySearchFunc(r.candidates.clusters, cluster, compareName)

	return fits
}

// RejectionsOf returns why these clusters are not selected, counted as by Rejections. They need not be in scope or exist; a terminating
// cluster counts as deleted, so that the text does not change when its last finalizer is removed. It evaluates only these clusters, unless
// one of them is feasible, and returns nothing when the Outcome is Invalid.
func (r *Result) RejectionsOf(clusters []string) []Rejection {
	h := histogram{}
	if r.Outcome() == Invalid {
		return h.rejections()
	}

	// A new evaluation keeps its side effects out of this Result.
	e := newEvaluation(r.Request, r.snapshot, r.incumbents, r.now)
	scope, constraints := e.scope(), hardConstraints(r.Spreads)

	for _, name := range clusters {
		f := r.Cluster(name)
		if f == nil || f.Terminating {
			h.add(StageTerminating, "deleted", 1)

			continue
		}

		e.evalContext = &selector.EvalContext{Now: r.now}
		verdict := e.filterCluster(scope, f)

		switch verdict.Stage {
		case StageScope:
			h.add(StageScope, r.scopeReason(), 1)
		case StageRank:
			verdict, _ = r.Verdict(name)

			fallthrough
		default:
			h.add(verdict.Stage, r.clause(verdict, constraints), 1)
		}
	}

	return h.rejections()
}
