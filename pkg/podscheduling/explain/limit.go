// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"slices"
	"strings"
)

// LimitReport removes the names of nodes, and the policies of the whole cluster that do not match; it counts both.
func LimitReport(report *Report) {
	hidden := 0
	report.Policies = slices.DeleteFunc(report.Policies, func(policy Policy) bool {
		other := !policy.Matches && strings.HasPrefix(policy.Policy, "ClusterPodSchedulingPolicy ")
		if other {
			hidden++
		}
		return other
	})
	if hidden > 0 {
		report.Notes = append(report.Notes, fmt.Sprintf("ClusterPodSchedulingPolicies that do not match are only counted: %d", hidden))
	}

	if report.Nodes == nil {
		return
	}
	report.Notes = append(report.Notes, fmt.Sprintf("%d of %d nodes fit, which are not named: %s",
		len(report.Nodes.Fit), report.Nodes.Total, report.Nodes.Message))
	report.Nodes = nil
}

// LimitDifferences removes the names of nodes. Notes have how many nodes fit the Pods of each workload.
func LimitDifferences(differences *Differences) {
	for i := range differences.Workloads {
		d := &differences.Workloads[i]
		if d.After == nil {
			continue
		}
		before := ""
		if d.Before != nil {
			before = fmt.Sprintf(" (%d before)", len(d.Before.Fit))
		}

		differences.Notes = append(differences.Notes, fmt.Sprintf("%s %s/%s: %d of %d nodes fit%s, which are not named: %s",
			d.Kind, d.Namespace, d.Name, len(d.After.Fit), d.After.Total, before, d.After.Message))
		d.Before, d.After = nil, nil
	}
}
