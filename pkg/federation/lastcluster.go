// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"slices"

	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

// losesLast reports whether the clusters that have left the scope are the last ones of the object: no other one keeps a work, and none gets one
// (docs/spec/differences.md B17). A cluster that cannot get the object replaces none.
func (e *Evaluation) losesLast(withdrawal *Withdrawal, plan WorkPlan, out []string) bool {
	leaving := len(out) + len(withdrawal.Allowed)
	return leaving == len(e.incumbents()) && !slices.ContainsFunc(plan.Gain, func(cluster string) bool {
		_, unserved := withdrawal.Unserved[cluster]
		return !unserved
	})
}

// isGone reports whether a cluster is deleted, or is about to be.
func (e *Evaluation) isGone(cluster string) bool {
	info := e.snapshot.Cluster(cluster)
	return info == nil || info.Terminating || removalbudget.Drains(info)
}
