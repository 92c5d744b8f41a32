// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	"fmt"
	"slices"
	"strings"
	"time"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/placement-hub/placement-hub/pkg/clustersets/webhook"
	"github.com/placement-hub/placement-hub/pkg/explain"
)

// Remove deletes a cluster and its scores. Its decisions stay until the Placements are evaluated.
type Remove struct{ Cluster string }

// String is "remove c7".
func (r Remove) String() string { return "remove " + r.Cluster }

// Apply implements Change.
func (r Remove) Apply(state *explain.State, _ time.Time) (*explain.State, error) {
	at, err := findCluster(state, r.Cluster)
	if err != nil {
		return nil, err
	}
	after := *state
	after.Clusters = slices.Delete(slices.Clone(state.Clusters), at, at+1)
	after.Scores = slices.DeleteFunc(slices.Clone(state.Scores), func(scores *clusterv1alpha1.AddOnPlacementScore) bool {
		return scores.Namespace == r.Cluster
	})
	return &after, nil
}

// Add creates clusters with their given status, and creates or replaces scores. A cluster without a set is in the set default, and its
// taints have the time of the change.
type Add struct {
	Clusters []*clusterv1.ManagedCluster
	Scores   []*clusterv1alpha1.AddOnPlacementScore
}

// addShown bounds the names in the text.
const addShown = 5

// String is "add c7, c8", or the first five and how many more.
func (a Add) String() string {
	names := make([]string, 0, len(a.Clusters)+len(a.Scores))
	for _, cluster := range a.Clusters {
		name := cluster.Name
		if webhook.LacksSet(cluster) {
			name += inDefaultSet
		}
		names = append(names, name)
	}

	for _, scores := range a.Scores {
		names = append(names, "scores "+scores.Namespace+"/"+scores.Name)
	}
	if len(names) <= addShown {
		return "add " + strings.Join(names, ", ")
	}
	return fmt.Sprintf("add %s and %d more", strings.Join(names[:addShown], ", "), len(names)-addShown)
}

// Apply implements Change.
func (a Add) Apply(state *explain.State, now time.Time) (*explain.State, error) {
	present := make(map[string]bool, len(state.Clusters))
	for _, cluster := range state.Clusters {
		present[cluster.Name] = true
	}
	after := *state
	after.Clusters, after.Scores = slices.Clone(state.Clusters), slices.Clone(state.Scores)

	for _, cluster := range a.Clusters {
		if present[cluster.Name] {
			return nil, fmt.Errorf("ManagedCluster %s exists already: leave it out of what is added, or remove the present one first", cluster.Name)
		}
		present[cluster.Name] = true
		added := cluster.DeepCopy()
		added.ResourceVersion = ""
		defaultSet(added)
		for i := range added.Spec.Taints {
			added.Spec.Taints[i].TimeAdded = stamp(now)
		}

		after.Clusters = append(after.Clusters, added)
	}

	for _, scores := range a.Scores {
		if !present[scores.Namespace] {
			_, err := findCluster(&after, scores.Namespace)
			return nil, fmt.Errorf("AddOnPlacementScore %s/%s: %w", scores.Namespace, scores.Name, err)
		}

		at := slices.IndexFunc(after.Scores, func(known *clusterv1alpha1.AddOnPlacementScore) bool {
			return known.Namespace == scores.Namespace && known.Name == scores.Name
		})
		if at < 0 {
			after.Scores = append(after.Scores, scores.DeepCopy())
		} else {
			after.Scores[at] = scores.DeepCopy()
		}
	}

	return &after, nil
}
