// SPDX-License-Identifier: Apache-2.0

package hubstate

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

func TestReadAllListsEverythingOnce(t *testing.T) {
	for _, tc := range []struct{ reason, namespace string }{
		{"all namespaces", ""}, {"placements and bindings of one namespace", "a"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			h := &hub{}

			state, err := AllFromCluster(t.Context(), h, tc.namespace)
			if err != nil {
				t.Fatal(err)
			}

			of := func(kind, namespace string) string { return kind + " " + namespace + ` limit 500 from ""` }
			want := []string{
				of("ManagedCluster", ""), `ManagedCluster  limit 500 from "500"`, `ManagedCluster  limit 500 from "1000"`,
				of("ManagedClusterSet", ""), of("AddOnPlacementScore", ""), of("ManagedClusterSetBinding", tc.namespace),
				of("Placement", tc.namespace), of("PlacementDecision", ""),
				of("older Placement", tc.namespace), of("older PlacementDecision", ""),
			}
			if diff := cmp.Diff(want, h.asked); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}

			if len(state.Clusters) != fleetSize || len(state.Placements) != 2 || len(state.Decisions) != 2 || state.Uncounted != nil {
				t.Errorf("%d clusters, %d placements, %d decisions, not counted %v", len(state.Clusters), len(state.Placements),
					len(state.Decisions), state.Uncounted)
			}
		})
	}
}

func TestReadAllOfWhatIsNotThere(t *testing.T) {
	for _, tc := range []struct {
		reason string
		refuse map[string]error
		want   []string // parts of the error; none for none
	}{
		{reason: "a hub without the older API", refuse: map[string]error{"older Placement ": &meta.NoKindMatchError{}}},
		{
			reason: "a cluster that is no hub", refuse: map[string]error{"Placement ": &meta.NoKindMatchError{}},
			want: []string{"does not serve Placements", "CustomResourceDefinitions"},
		},
		{
			reason: "all missing rights at once",
			refuse: map[string]error{
				"ManagedClusterSetBinding ": forbidden("managedclustersetbindings"), "Placement ": forbidden("placements"),
				"older Placement ": forbidden("older-placements"), "older PlacementDecision ": forbidden("older-placementdecisions"),
			},
			want: []string{
				"does not allow", "managedclustersetbindings.cluster", ", placements.cluster", ", older-placements.cluster",
				", older-placementdecisions.cluster", "ask an administrator",
			},
		},
		{
			reason: "decisions of placements that are there",
			refuse: map[string]error{"older PlacementDecision ": forbidden("older-placementdecisions")},
			want:   []string{"older-placementdecisions.cluster"},
		},
		{
			reason: "what is worse ends it", refuse: map[string]error{"PlacementDecision ": errors.New("reset")},
			want: []string{"listing PlacementDecisions: reset; check the connection"},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			state, err := AllFromCluster(t.Context(), &hub{refuse: tc.refuse}, "")
			if len(tc.want) == 0 && (err != nil || len(state.Placements) != 1 || len(state.Decisions) != 1) {
				t.Errorf("world %v, error %v", state, err)
			}
			for _, part := range tc.want {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("error is %v, want one with %q", err, part)
				}
			}
		})
	}
}

func TestReadAllDoesNotCountWhatNobodyHas(t *testing.T) {
	h := &hub{refuse: map[string]error{"older PlacementDecision ": forbidden("placementdecisions")}, none: "older Placement"}
	state, err := AllFromCluster(t.Context(), h, "")
	if err != nil || !slices.Equal(state.Uncounted, []api.Adapter{api.V1alpha1}) {
		t.Errorf("not counted is %v, error %v", state, err)
	}
}
