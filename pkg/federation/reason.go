// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"slices"

	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// ReasonOf returns why a cluster has the object, or why it has not (docs/spec/differences.md E1a). Reports use the same texts.
func (e *Evaluation) ReasonOf(cluster string) string {
	_, selected := slices.BinarySearch(e.Selected, cluster)
	switch {
	case e.State == Deleting:
		return "the object is being deleted"
	case selected && slices.Contains(e.Propagated, cluster):
		return "needed by a workload that propagates it"
	case selected:
		return e.SelectedReason()
	default:
		return e.UnselectedReason(cluster)
	}
}

// SelectedReason returns why the clusters are selected that the annotations of the object select.
func (e *Evaluation) SelectedReason() string {
	switch {
	case e.Target.Placement != "":
		return "decision of Placement " + e.Target.Placement
	case len(e.Target.Requirements) > 0:
		return "matches " + e.Target.String()
	default:
		return "in scope"
	}
}

// UnselectedReason returns why a cluster is not selected.
func (e *Evaluation) UnselectedReason(cluster string) string {
	switch {
	case e.snapshot == nil || e.snapshot.Cluster(cluster) == nil:
		return scheduling.DeletedReason
	case e.State != Delivering:
		return "it has left the scope of the namespace"
	case e.Target.Placement != "":
		return "no decision of Placement " + e.Target.Placement
	case e.Target.Nowhere:
		return "the annotation keeps the object on the hub"
	case e.Result != nil:
		return e.Result.ReasonOf(cluster)
	default:
		return ""
	}
}
