// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"slices"

	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// Deciders are the clusters whose state decides which clusters leave the decisions (docs/spec/differences.md B11).
type Deciders struct {
	// Clusters are the names of the clusters that leave and, if one of them is feasible, of all selected ones, sorted.
	Clusters []string
	// Ranked reports that a cluster which leaves is feasible, and All that every cluster of the hub may decide then.
	Ranked, All bool
	// KnownBindings reports that a further binding would keep none of the clusters that leave: each one is in scope and terminating, matches no
	// predicate, or has a taint that is not tolerated; or it is gone.
	KnownBindings bool
}

// DecidersOfRemoval returns the clusters that decide about what a result removes from the existing decisions; false if it removes nothing. A
// cluster that is not feasible leaves whatever the others are. One that is feasible leaves because of the selected ones, and because of
// every cluster where scores or constraints compare each with all.
func DecidersOfRemoval(result *scheduling.Result, existing Existing) (Deciders, bool) {
	if !result.Applies() {
		return Deciders{}, false
	}
	leaving := existing.Incumbents()
	for _, info := range result.Selected {
		delete(leaving, info.Name)
	}
	if len(leaving) == 0 {
		return Deciders{}, false
	}

	var deciders Deciders
	for cluster := range leaving {
		deciders.Clusters = append(deciders.Clusters, cluster)
		deciders.Ranked = deciders.Ranked || result.IsFeasible(cluster)
	}

	deciders.KnownBindings = !deciders.Ranked && len(result.OutOfScope(deciders.Clusters)) == 0
	if deciders.Ranked {
		deciders.All = result.Request.ComparesAll()
		for _, info := range result.Selected {
			deciders.Clusters = append(deciders.Clusters, info.Name)
		}
	}
	slices.Sort(deciders.Clusters)
	return deciders, true
}
