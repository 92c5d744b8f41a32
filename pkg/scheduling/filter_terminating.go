// SPDX-License-Identifier: Apache-2.0

package scheduling

import "github.com/placement-hub/placement-hub/pkg/clusterinfo"

// StageTerminating is the stage of the clusters in scope that are being deleted.
const StageTerminating Stage = "Terminating"

var terminatingFilter = &filterPlugin{
	stage:   StageTerminating,
	rejects: func(_ *evaluation, info *clusterinfo.ClusterInfo, _ *Verdict) bool { return info.Terminating },
	text: func(_ *reasons, _ Verdict, d detail) string {
		if d == allDetails {
			return "is " + terminatingClause
		}
		return terminatingClause
	},
}

const terminatingClause = "being deleted"
