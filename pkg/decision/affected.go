package decision

import (
	"slices"

	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// AffectedByRemoval returns the clusters that decide whether a result takes clusters away from the present decisions, sorted by name: those that leave
// and, where better clusters take the places of others, those that come. It is empty when no cluster leaves.
func AffectedByRemoval(result *scheduling.Result, present Present) []string {
	if result.Stalled() {
		return nil
	}

	leaving := present.writableClusters()

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
