// SPDX-License-Identifier: Apache-2.0

package statefile

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/placement-hub/placement-hub/pkg/explain"
)

// Additions returns the clusters and scores of the files, the objects that decide where Pods may run, and those that decide what
// ClusterRequests get. Invalid files are an *InputError; another kind of the hub, and no object at all, are errors too. Other kinds of Kubernetes
// are left out, and counted in Notes.
func (r *Reader) Additions() (*explain.State, error) {
	if len(r.problems) > 0 {
		return nil, &InputError{Problems: r.problems}
	}
	added := 0
	for _, identity := range slices.Sorted(maps.Keys(r.seen)) {
		switch kind := r.kinds[identity]; {
		case kind.InAdd:
			added++
		case leavesOut(kind) && !r.strict:
			r.skipped[kind.Kind]++
		default:
			return nil, fmt.Errorf("%s: %s cannot be added: leave it out, only ManagedClusters, AddOnPlacementScores, Nodes, workloads, "+
				"scheduling policies, AffinityClasses, Tenants, applications, HelmReleases, and ClusterRequests with what decides about them, can; "+
				"placement diff says what Placements would change", r.seen[identity].place(), identity)
		}
	}

	if added == 0 {
		return nil, errors.New("there is no ManagedCluster and no AddOnPlacementScore in the files, nor anything that decides where Pods may " +
			"run or what ClusterRequests get, so there is nothing to add")
	}
	return &explain.State{Clusters: r.state.Clusters, Scores: r.state.Scores, Pods: r.state.Pods, ClusterRequests: r.state.ClusterRequests}, nil
}
