// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

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
	return r.selectedReason(v)
}

func (r *Result) selectedReason(v Verdict) string {
	text := "score " + strconv.FormatInt(v.Score, 10) + ", rank " + strconv.Itoa(v.Rank) + " of " + strconv.Itoa(r.Feasible())
	if v.kept {
		text += ", kept because something of it cannot be read"
	}
	if v.Avoid > 0 {
		text += fmt.Sprintf(", PreferNoSelect taints not tolerated: %d", v.Avoid)
	}
	return text + r.missingScores(v)
}

// Texts returns a function for the Reason of a cluster and for its cause: the clause that rejected it, without the details of the cluster, as in its
// Rejection. The cause is empty for selected clusters. For many clusters it is faster than Reason and Causes. It is not safe for concurrent use.
func (r *Result) Texts() func(Verdict) (reason, cause string) {
	texts := r.reasons()
	return func(v Verdict) (reason, cause string) {
		if v.Stage == StageSelected {
			return r.selectedReason(v), ""
		}
		texts.evalContext = &selector.EvalContext{Now: r.now} // As for Reason, the cost of one cluster is bounded.
		return texts.of(v, allDetails), texts.of(v, clauseOnly)
	}
}

// Causes returns a function for the cause of a cluster; see Texts.
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
	return &reasons{result: r, evalContext: &selector.EvalContext{Now: r.now}, hard: hardConstraints(r.Spreads)}
}

// of returns why the cluster of a Verdict was rejected.
func (r *reasons) of(v Verdict, d detail) string {
	text := filterOf(v.Stage).text(r, v, d)
	if d == allDetails {
		text += r.result.missingScores(v)
	}
	return text
}
