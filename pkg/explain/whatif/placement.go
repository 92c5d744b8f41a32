// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// Toleration adds a toleration to a Placement of v1beta1; Placements of v1alpha1 have none.
type Toleration struct {
	Placement  inventory.Key
	Toleration clusterv1beta1.Toleration
}

// String is "toleration gpu=a100:NoSelect on team-a/p".
func (t Toleration) String() string {
	text := t.Toleration.Key
	if t.Toleration.Value != "" {
		text += "=" + t.Toleration.Value
	}
	if t.Toleration.Effect != "" {
		text += ":" + string(t.Toleration.Effect)
	}
	return fmt.Sprintf("toleration %s on %s", text, t.Placement.NamespacedName)
}

// Apply implements Change.
func (t Toleration) Apply(state *explain.State, _ time.Time) (*explain.State, error) {
	if t.Toleration.Key != "" || t.Toleration.Value != "" {
		if err := checkTaint(t.Toleration.Key, t.Toleration.Value); err != nil {
			return nil, err
		}
	}
	if effect := t.Toleration.Effect; effect != "" && !slices.Contains(effects, effect) {
		return nil, fmt.Errorf("a toleration has no effect %q: use one of %v, or none for all", effect, effects)
	}
	return WithPlacement(state, t.Placement, func(object api.Object) error {
		placement, is := object.(*clusterv1beta1.Placement)
		if !is {
			return fmt.Errorf("placements of %s have no tolerations: use one of %s", t.Placement.API(), clusterv1.GroupName)
		}
		placement.Spec.Tolerations = append(placement.Spec.Tolerations, *t.Toleration.DeepCopy())
		return nil
	})
}

// NumberOfClusters sets spec.numberOfClusters; nil asks for all feasible clusters.
type NumberOfClusters struct {
	Placement inventory.Key
	Clusters  *int32
}

// String is "numberOfClusters 5 on team-a/p", or "numberOfClusters all on team-a/p".
func (n NumberOfClusters) String() string {
	number := "all"
	if n.Clusters != nil {
		number = strconv.Itoa(int(*n.Clusters))
	}
	return fmt.Sprintf("numberOfClusters %s on %s", number, n.Placement.NamespacedName)
}

// Apply implements Change.
func (n NumberOfClusters) Apply(state *explain.State, _ time.Time) (*explain.State, error) {
	var number *int32
	if n.Clusters != nil {
		copied := *n.Clusters
		if number = &copied; copied < 0 {
			return nil, fmt.Errorf("spec.numberOfClusters is 0 or more, and not %d", copied)
		}
	}
	return WithPlacement(state, n.Placement, func(object api.Object) error {
		*api.SpecOf(object).NumberOfClusters = number
		return nil
	})
}

// WithPlacement returns the State with a modified copy of a Placement. It does not modify the given State.
func WithPlacement(state *explain.State, key inventory.Key, change func(api.Object) error) (*explain.State, error) {
	at := slices.IndexFunc(state.Placements, func(object api.Object) bool { return api.Read(object).Key() == key })
	if at < 0 {
		return nil, unknown("Placement", key.NamespacedName.String(), func(yield func(string) bool) {
			for _, object := range state.Placements {
				if other := api.Read(object).Key(); other.API() == key.API() && !yield(other.NamespacedName.String()) {
					return
				}
			}
		})
	}

	changed, is := state.Placements[at].DeepCopyObject().(api.Object)
	if !is {
		return nil, fmt.Errorf("a copy of Placement %s is none", key)
	}
	if err := change(changed); err != nil {
		return nil, fmt.Errorf("Placement %s: %w", key, err) //nolint:staticcheck // The kind of the object.
	}
	changed.SetGeneration(max(1, changed.GetGeneration()) + 1) // As an API server does, which begins with 1.

	after := *state
	after.Placements = slices.Clone(state.Placements)
	after.Placements[at] = changed
	return &after, nil
}
