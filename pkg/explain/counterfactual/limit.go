// SPDX-License-Identifier: Apache-2.0

package counterfactual

import (
	"slices"

	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// InScope reports whether the explanation of a cluster may be shown: the cluster has a verdict and is in a set that the namespace may use, or is held
// in the decisions, which name it, or the explanation has nothing of the cluster. The reply to a question about any other cluster must be the same as
// for one that does not exist.
func InScope(explained ClusterExplanation) bool {
	if explained.Verdict == "" {
		return len(explained.Sets)+len(explained.Predicates)+len(explained.Taints)+len(explained.Spread) == 0 && explained.AntiAffinity == nil &&
			!explained.Terminating && explained.Gone == ""
	}
	return explained.Verdict != scheduling.StageScope.String()
}

// LimitCluster removes the sets that are not bound to the namespace, and the changes that bind one. Of a held cluster that has left the scope it
// leaves the verdict and the decision.
func LimitCluster(explained *ClusterExplanation) {
	if explained.Stage() == scheduling.StageScope {
		*explained = explained.VerdictAlone()
		return
	}
	explained.Sets = slices.DeleteFunc(explained.Sets, func(set Set) bool { return !set.Bound })
	explained.Counterfactuals = slices.DeleteFunc(explained.Counterfactuals, func(alternative Counterfactual) bool {
		return slices.ContainsFunc(alternative.Changes, func(change Change) bool {
			return change.Kind == KindBinding
		})
	})
}
