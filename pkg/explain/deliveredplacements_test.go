// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// The Placements of a hub of hubs are evaluated and delivered, so that a State has them in both lists; other hubs do not deliver them. The delivered
// one has nothing that was not given.
func TestDeliveredPlacements(t *testing.T) {
	kind := FindKind(api.V1beta1.Kind())
	placement := &clusterv1beta1.Placement{
		ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "web"}, Spec: clusterv1beta1.PlacementSpec{ClusterSets: []string{"hubs"}},
	}
	for name, test := range map[string]struct {
		kinds     []federation.FederatedKind
		delivered int
	}{
		"a hub":          {kinds: federation.DefaultKinds(), delivered: 0},
		"a hub of hubs":  {kinds: []federation.FederatedKind{{GroupVersionKind: api.V1beta1.Kind(), Resource: "placements"}}, delivered: 1},
		"without a word": {delivered: 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := &State{}
			s.Federated.Kinds = test.kinds
			count := func(after string, state *State, placements, delivered int) {
				t.Helper()
				if len(state.Placements) != placements || len(state.Federated.Objects) != delivered {
					t.Errorf("after %s: %d Placements, %d delivered; want %d and %d", after, len(state.Placements), len(state.Federated.Objects),
						placements, delivered)
				}
			}
			if err := kind.Add(s, placement); err != nil {
				t.Fatal(err)
			}
			count("adding", s, 1, test.delivered)
			for _, list := range kind.lists {
				if err := list.put(s, placement.DeepCopy()); err != nil {
					t.Fatal(err)
				}
			}
			count("replacing", s, 1, test.delivered)
			if test.delivered > 0 {
				if diff := cmp.Diff(map[string]any{"clusterSets": []any{"hubs"}}, s.Federated.Objects[0].Object["spec"]); diff != "" {
					t.Errorf("the delivered spec: %s", diff)
				}
			}
			without, err := s.Without(func(yield func(*Kind, api.Object) bool) { yield(kind, placement) })
			if err != nil {
				t.Fatal(err)
			}
			count("removing", without, 0, 0)
			count("removing from a copy", s, 1, test.delivered)
		})
	}
}
