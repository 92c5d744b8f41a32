package decision

import (
	"slices"

	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// AffectedByRemoval returns the names of the clusters that affect which clusters a result removes from the existing decisions, sorted: the
// removed clusters and, when the result depends on ranks, the added ones. It returns nil when no cluster is removed.
func AffectedByRemoval(result *scheduling.Result, existing Existing) []string {
	if !result.Applies() {
		return nil
	}

	leaving := existing.writableClusters()

	var deciding []string

	for _, f := range result.Selected {
		switch {
		case leaving[f.Name]:
			delete(leaving, f.Name)
		case result.Request.Ranks():
			deciding = append(deciding, f.Name)
		}
	}

	if len(leaving) == 0 {
		return nil
	}

	for cluster := range leaving {
		deciding = append(deciding, cluster)
	}

	slices.Sort(deciding)

	return deciding
}
