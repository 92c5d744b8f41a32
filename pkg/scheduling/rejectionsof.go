package scheduling

import (
	"slices"

	"github.com/placement-hub/placement-hub/pkg/selector"
)

// IsFeasible reports whether a cluster passed predicates and taints, so that it could be selected if no other were better.
func (r *Result) IsFeasible(cluster string) bool {
	if r.candidates == nil {
		return false
	}

	_, fits := slices.BinarySearchFunc(r.candidates.clusters, cluster, compareName)

	return fits
}

// RejectionsOf are why these clusters are not selected, counted as Causes are. They need not be in scope, nor exist any more; one that is being
// deleted counts with those that are gone, so that nothing changes when the last finalizer goes. Only these clusters are looked at, unless
// one of them fits. There are none without an answer.
func (r *Result) RejectionsOf(clusters []string) []Rejection {
	h := histogram{}
	if !r.Valid() {
		return h.rejections()
	}

	// An evaluation of its own: what it finds out is not for this result.
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
