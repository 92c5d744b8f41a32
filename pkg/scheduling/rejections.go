// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"cmp"
	"slices"
)

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
	h.addClauses(r.reasons(), r.Verdicts())
	return h.rejections()
}

// rejections returns the Rejections of the verdicts of Reference, but counts them by sets of clusters.
func (e *evaluation) rejections(runs []filterRun) []Rejection {
	h, texts := histogram{}, e.result.reasons()
	for _, run := range runs {
		if run.plugin.count != nil {
			run.plugin.count(e, run.before, run.after, h)
		} else {
			h.addClauses(texts, run.rejected())
		}
	}
	h.add(StageTerminating, terminatingClause, runs[len(runs)-1].after.terminating)

	if e.result.ranked == nil {
		h.add(StageRank, rankClause(len(e.result.Selected)), e.result.Feasible()-len(e.result.Selected))
	} else {
		h.addClauses(texts, e.result.ranked)
	}
	return h.rejections()
}

// addClauses adds the verdicts of rejected clusters in scope.
func (h histogram) addClauses(texts *reasons, verdicts []Verdict) {
	for _, v := range verdicts {
		if v.Stage != StageScope && v.Stage != StageSelected {
			h.add(v.Stage, texts.of(v, clauseOnly), 1)
		}
	}
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
	e, texts := newEvaluation(r.Request, r.snapshot, r.incumbents, r.now), r.reasons()
	for _, name := range clusters {
		info := r.Cluster(name)
		if info == nil || info.Terminating {
			h.add(StageTerminating, "deleted", 1)
			continue
		}
		verdict := e.filterCluster(info)
		if verdict.Stage == undecided {
			verdict, _ = r.VerdictOf(name)
		}
		h.add(verdict.Stage, texts.of(verdict, clauseOnly), 1)
	}

	return h.rejections()
}

func (h histogram) rejections() []Rejection {
	found := make([]Rejection, 0, len(h))
	for rejection, clusters := range h {
		rejection.Clusters = clusters
		found = append(found, rejection)
	}
	slices.SortFunc(found, func(a, b Rejection) int {
		return cmp.Or(cmp.Compare(b.Clusters, a.Clusters), a.Stage.Compare(b.Stage), cmp.Compare(a.Clause, b.Clause))
	})
	return found
}
