// SPDX-License-Identifier: Apache-2.0

package hubstate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// hub answers lists as an API server does: 1200 clusters in chunks, one placement in every namespace.
type hub struct {
	client.Reader

	asked   []string
	refuse  map[string]error // by type and namespace
	expires string           // the continue token that is not good any more
	none    string           // the type of which there is nothing
}

const fleetSize = 1200

func (h *hub) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	var options client.ListOptions
	options.ApplyOptions(opts)
	version, kind, _ := strings.Cut(strings.TrimPrefix(strings.TrimSuffix(fmt.Sprintf("%T", list), "List"), "*"), ".")
	if version == "v1alpha1" && strings.HasPrefix(kind, "Placement") {
		kind = "older " + kind
	}
	request := kind + " " + options.Namespace
	h.asked = append(h.asked, fmt.Sprintf("%s limit %d from %q", request, options.Limit, options.Continue))

	if err := h.refuse[request]; err != nil {
		return err
	}
	if kind == h.none {
		return nil
	}

	switch list := list.(type) {
	case *clusterv1.ManagedClusterList:
		return h.clusters(list, options)
	case *clusterv1beta1.PlacementList:
		list.Items = []clusterv1beta1.Placement{{ObjectMeta: metav1.ObjectMeta{Namespace: options.Namespace, Name: "p"}}}
	case *placementv1alpha1.PlacementList:
		list.Items = []placementv1alpha1.Placement{{ObjectMeta: metav1.ObjectMeta{Namespace: options.Namespace, Name: "old"}}}
	case *clusterv1beta1.PlacementDecisionList:
		list.Items = make([]clusterv1beta1.PlacementDecision, 1)
	case *placementv1alpha1.PlacementDecisionList:
		list.Items = make([]placementv1alpha1.PlacementDecision, 1)
	}

	return nil
}

// page returns the numbers of the objects on a page of a list of a fleet, and sets where the next one begins. The token expires has expired.
func page(list client.ObjectList, options *client.ListOptions, expires string) ([]int, error) {
	first := 0
	if options.Continue != "" {
		if options.Continue == expires {
			return nil, apierrors.NewResourceExpired("the continue parameter is too old")
		}
		var err error
		if first, err = strconv.Atoi(options.Continue); err != nil {
			return nil, err
		}
	}
	end := fleetSize
	if options.Limit > 0 && first+int(options.Limit) < fleetSize {
		end = first + int(options.Limit)
		list.SetContinue(strconv.Itoa(end))
	}

	numbers := make([]int, 0, end-first)
	for i := first; i < end; i++ {
		numbers = append(numbers, i)
	}
	return numbers, nil
}

func (h *hub) clusters(list *clusterv1.ManagedClusterList, options client.ListOptions) error {
	numbers, err := page(list, &options, h.expires)
	if err != nil {
		return err
	}
	for _, i := range numbers {
		list.Items = append(list.Items, clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: strconv.Itoa(i)}})
	}
	return nil
}

func TestReadListsInChunksAndOnlyWhatIsNeeded(t *testing.T) {
	for _, tc := range []struct {
		reason, expires string
		want            []string
	}{
		{
			reason: "chunks of 500",
			want: []string{
				`ManagedCluster  limit 500 from ""`, `ManagedCluster  limit 500 from "500"`, `ManagedCluster  limit 500 from "1000"`,
			},
		},
		{
			reason: "a list that expired is read anew in one piece", expires: "1000",
			want: []string{
				`ManagedCluster  limit 500 from ""`, `ManagedCluster  limit 500 from "500"`, `ManagedCluster  limit 500 from "1000"`,
				`ManagedCluster  limit 0 from ""`,
			},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			h := &hub{expires: tc.expires}

			state, err := FromCluster(t.Context(), h, keys(inventory.V1beta1, "b", "a", "b"))
			if err != nil {
				t.Fatal(err)
			}

			want := append(slices.Clone(tc.want), `ManagedClusterSet  limit 500 from ""`, `AddOnPlacementScore  limit 500 from ""`,
				`ManagedClusterSetBinding a limit 500 from ""`, `ManagedClusterSetBinding b limit 500 from ""`,
				`Placement a limit 500 from ""`, `Placement b limit 500 from ""`, `PlacementDecision  limit 500 from ""`,
				`older PlacementDecision  limit 500 from ""`)
			if diff := cmp.Diff(want, h.asked); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if len(state.Clusters) != fleetSize || len(state.Placements) != 2 {
				t.Fatalf("%d clusters, %d placements", len(state.Clusters), len(state.Placements))
			}

			for i, cluster := range state.Clusters {
				if cluster.Name != strconv.Itoa(i) {
					t.Fatalf("cluster %d is %s", i, cluster.Name)
				}
			}
		})
	}
}

// keys are placements of an API in namespaces.
func keys(api inventory.API, namespaces ...string) []inventory.Key {
	placements := make([]inventory.Key, 0, len(namespaces))
	for i, namespace := range namespaces {
		placements = append(placements, inventory.NewPlacementKey(api, namespace, strconv.Itoa(i)))
	}
	return placements
}

func forbidden(resource string) error {
	return apierrors.NewForbidden(schema.GroupResource{Group: clusterv1.GroupName, Resource: resource}, "", errors.New("not you"))
}

func TestReadListsOnlyTheRequestedAPIs(t *testing.T) {
	for _, tc := range []struct {
		reason         string
		placements     []inventory.Key
		refuse         map[string]error
		wantPlacements []string
		wantDecisions  int
		wantUncounted  []api.Adapter
	}{
		{
			reason: "only of the older API", placements: keys(inventory.V1alpha1, "a"),
			wantPlacements: []string{"placement.open-cluster-management.io a/old"}, wantDecisions: 2,
		},
		{
			reason: "of both, each in its namespaces", placements: append(keys(inventory.V1beta1, "a", "b"), keys(inventory.V1alpha1, "b", "c")...),
			wantPlacements: []string{
				"cluster.open-cluster-management.io a/p", "cluster.open-cluster-management.io b/p", "placement.open-cluster-management.io b/old",
				"placement.open-cluster-management.io c/old",
			},
			wantDecisions: 2,
		},
		{
			reason: "a hub that does not serve the other API has none of it", placements: keys(inventory.V1beta1, "a"),
			refuse:         map[string]error{"older PlacementDecision ": &meta.NoKindMatchError{}, "older Placement a": &meta.NoKindMatchError{}},
			wantPlacements: []string{"cluster.open-cluster-management.io a/p"}, wantDecisions: 1,
		},
		{
			reason: "decisions of the other API that may not be listed are not counted", placements: keys(inventory.V1beta1, "a"),
			refuse:         map[string]error{"older PlacementDecision ": forbidden("placementdecisions")},
			wantPlacements: []string{"cluster.open-cluster-management.io a/p"}, wantDecisions: 1, wantUncounted: []api.Adapter{api.V1alpha1},
		},
		{
			reason: "the other way round", placements: keys(inventory.V1alpha1, "a"),
			refuse:         map[string]error{"PlacementDecision ": forbidden("placementdecisions")},
			wantPlacements: []string{"placement.open-cluster-management.io a/old"}, wantDecisions: 1, wantUncounted: []api.Adapter{api.V1beta1},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			state, err := FromCluster(t.Context(), &hub{refuse: tc.refuse}, tc.placements)
			if err != nil {
				t.Fatal(err)
			}
			var placements []string
			for _, object := range state.Placements {
				key := api.Read(object).Key()
				placements = append(placements, string(key.API())+" "+key.NamespacedName.String())
			}

			if diff := cmp.Diff(tc.wantPlacements, placements); diff != "" {
				t.Errorf("placements (-want +got):\n%s", diff)
			}
			if len(state.Decisions) != tc.wantDecisions || !slices.Equal(state.Uncounted, tc.wantUncounted) {
				t.Errorf("%d pages of decisions, want %d; not counted are %v, want %v", len(state.Decisions), tc.wantDecisions, state.Uncounted,
					tc.wantUncounted)
			}
		})
	}
}

func TestReadSaysWhatIsMissing(t *testing.T) {
	for _, tc := range []struct {
		reason string
		older  []inventory.Key
		refuse map[string]error
		want   []string
	}{
		{
			reason: "all missing rights at once",
			refuse: map[string]error{"ManagedCluster ": forbidden("managedclusters"), "Placement a": forbidden("placements")},
			want: []string{
				"does not allow", "may not list or get managedclusters.cluster.open-cluster-management.io, placements.cluster",
				"ask an administrator",
			},
		},
		{
			reason: "a cluster that is no hub", refuse: map[string]error{"ManagedClusterSet ": &meta.NoKindMatchError{}},
			want: []string{"does not serve ManagedClusterSets", "CustomResourceDefinitions"},
		},
		{
			reason: "credentials", refuse: map[string]error{"ManagedCluster ": apierrors.NewUnauthorized("expired")},
			want: []string{"listing ManagedClusters", "expired", "renew them"},
		},
		{
			reason: "anything else", refuse: map[string]error{"PlacementDecision ": errors.New("connection refused")},
			want: []string{"listing PlacementDecisions: connection refused; check the connection"},
		},
		{
			reason: "an older placement on a hub without that API", older: keys(inventory.V1alpha1, "a"),
			refuse: map[string]error{"older PlacementDecision ": &meta.NoKindMatchError{}},
			want:   []string{"does not serve PlacementDecisions.placement.open-cluster-management.io", "CustomResourceDefinitions in manifests/crds"},
		},
		{
			reason: "an older placement whose decisions may not be listed", older: keys(inventory.V1alpha1, "a"),
			refuse: map[string]error{"older PlacementDecision ": forbidden("placementdecisions"), "older Placement a": forbidden("placements")},
			want:   []string{"does not allow", "list or get placements.cluster", ", placementdecisions.cluster"},
		},
		{
			reason: "decisions of the other API that could not be listed", refuse: map[string]error{"older PlacementDecision ": errors.New("reset")},
			want: []string{"listing PlacementDecisions.placement.open-cluster-management.io: reset; check the connection"},
		},
		{
			reason: "what is worse than a missing right comes first",
			refuse: map[string]error{"ManagedCluster ": forbidden("managedclusters"), "AddOnPlacementScore ": errors.New("gone away")},
			want:   []string{"listing AddOnPlacementScores: gone away"},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			_, err := FromCluster(t.Context(), &hub{refuse: tc.refuse}, append(keys(inventory.V1beta1, "a"), tc.older...))
			for _, part := range tc.want {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("error is %v, want one with %q", err, part)
				}
			}
		})
	}
}
