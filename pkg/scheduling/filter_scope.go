// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"strings"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// StageScope is the stage of the clusters that are in no set which is bound and selected.
const StageScope Stage = "OutOfScope"

var scopeFilter = &filterPlugin{
	stage:   StageScope,
	reads:   func(r *Request, d *inventory.Dependencies) { d.ClusterSets = r.ClusterSets },
	rejects: func(e *evaluation, info *clusterinfo.ClusterInfo, _ *Verdict) bool { return !e.scope.Contains(info) },
	text:    func(r *reasons, _ Verdict, _ detail) string { return scopeText(r.result) },
}

func scopeText(r *Result) string {
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
