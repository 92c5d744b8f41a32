// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	"fmt"
	"slices"
	"time"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/explain"
)

// Change is one change of a State.
type Change interface {
	// Apply returns the changed State. It does not modify the given one.
	Apply(state *explain.State, now time.Time) (*explain.State, error)
	// String describes the change, such as "label c7 region=eu".
	fmt.Stringer
}

// Apply applies changes one after the other. It does not modify the given State; an error names the change.
func Apply(state *explain.State, now time.Time, changes ...Change) (*explain.State, error) {
	for _, change := range changes {
		changed, err := change.Apply(state, now)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", change, err)
		}
		state = changed
	}
	return state, nil
}

// withCluster returns the State with a modified copy of a cluster.
func withCluster(state *explain.State, name string, change func(*clusterv1.ManagedCluster) error) (*explain.State, error) {
	at, err := findCluster(state, name)
	if err != nil {
		return nil, err
	}
	changed := state.Clusters[at].DeepCopy()
	changed.ResourceVersion = "" // The resourceVersion belongs to the given state.
	if err := change(changed); err != nil {
		return nil, err
	}

	after := *state
	after.Clusters = slices.Clone(state.Clusters)
	after.Clusters[at] = changed
	return &after, nil
}

func findCluster(state *explain.State, name string) (int, error) {
	at := slices.IndexFunc(state.Clusters, func(cluster *clusterv1.ManagedCluster) bool { return cluster.Name == name })
	if at < 0 {
		return at, unknown("ManagedCluster", name, func(yield func(string) bool) {
			for _, cluster := range state.Clusters {
				if !yield(cluster.Name) {
					return
				}
			}
		})
	}
	return at, nil
}

// checkSet returns an error if the set does not exist.
func checkSet(state *explain.State, name string) error {
	if slices.ContainsFunc(state.ClusterSets, func(set *clusterv1beta2.ManagedClusterSet) bool { return set.Name == name }) {
		return nil
	}
	return unknown("ManagedClusterSet", name, func(yield func(string) bool) {
		for _, set := range state.ClusterSets {
			if !yield(set.Name) {
				return
			}
		}
	})
}
