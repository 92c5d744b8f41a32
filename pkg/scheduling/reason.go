// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"cmp"
	"fmt"
	"slices"

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
	if v.Stage != StageSelected {
		return r.reasons().of(v, allDetails)
	}
	text := fmt.Sprintf("score %d, rank %d of %d", v.Score, v.Rank, r.Feasible())
	if v.kept {
		text += ", kept because something of it cannot be read"
	}
	if v.Avoid > 0 {
		text += fmt.Sprintf(", PreferNoSelect taints not tolerated: %d", v.Avoid)
	}
	return text
}

// Causes returns a function for the clause that rejected a cluster, without the details of the cluster: the Clause of its Rejection. It is
// empty for selected clusters.
func (r *Result) Causes() func(Verdict) string {
	texts := r.reasons()
	return func(v Verdict) string {
		if v.Stage == StageSelected {
			return ""
		}
		return texts.of(v, clauseOnly)
	}
}

// reasons returns what the texts of rejections are made from.
func (r *Result) reasons() *reasons {
	return &reasons{
		result: r, evalContext: &selector.EvalContext{Now: r.now},
		feasible: func() []Verdict { return r.details().feasible }, hard: hardConstraints(r.Spreads),
	}
}

// of returns why the cluster of a Verdict was rejected.
func (r *reasons) of(v Verdict, d detail) string { return filterOf(v.Stage).text(r, v, d) }
