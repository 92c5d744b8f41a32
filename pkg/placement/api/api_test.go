// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"pgregory.net/rapid"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/test/property"
)

func expect[V any](t rapid.TB, what string, want, got V) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func asText(t rapid.TB, value any) string {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// ofEachAPI checks a property of every API.
func ofEachAPI(t *testing.T, check func(*rapid.T, api.Adapter)) {
	t.Helper()
	for _, adapter := range api.Adapters() {
		t.Run(string(adapter.Name()), func(t *testing.T) { property.Check(t, func(t *rapid.T) { check(t, adapter) }) })
	}
}

var words = rapid.SampledFrom([]string{"", "a", "p-decision-1", "canary"})

func drawDecision(t *rapid.T) api.Decision {
	return api.Decision{
		Cluster: rapid.StringMatching(`[a-z]{1,3}`).Draw(t, "cluster"), Reason: words.Draw(t, "reason"), Score: rapid.Int64().Draw(t, "score"),
		Available: rapid.Bool().Draw(t, "available"),
		Profile:   clusterinfo.Profile{Namespace: words.Draw(t, "namespace"), Name: words.Draw(t, "profile")},
	}
}

func drawPage(t *rapid.T) *api.Page {
	page := &api.Page{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: "p-decision-1", UID: types.UID(words.Draw(t, "uid")), ResourceVersion: words.Draw(t, "version"),
		Labels:     rapid.MapOfN(rapid.SampledFrom([]string{"a", clusterv1beta1.PlacementLabel}), words, 1, 2).Draw(t, "labels"),
		Finalizers: []string{"example.com/wait"}, OwnerReferences: []metav1.OwnerReference{{Kind: "Placement", Name: words.Draw(t, "owner")}},
	}}

	switch rapid.IntRange(0, 2).Draw(t, "decisions") {
	case 0: // absent
	case 1:
		page.Decisions = []api.Decision{}
	default:
		page.Decisions = rapid.SliceOfN(rapid.Custom(drawDecision), 1, 4).Draw(t, "decisions")
	}
	return page
}

// A written page reads back equal, directly and from the JSON that an API server stores: all of the metadata, and the fields of each
// decision that the API has. The two share no memory.
func TestPagesComeBack(t *testing.T) {
	ofEachAPI(t, func(t *rapid.T, adapter api.Adapter) {
		codec := adapter.Codec()
		page := drawPage(t)
		object := codec.Write(page)

		stored := codec.Empty()
		if err := json.Unmarshal([]byte(asText(t, object)), stored); err != nil {
			t.Fatal(err)
		}

		for _, read := range []*api.Page{codec.Read(object), codec.Read(stored)} {
			expect(t, "metadata", page.ObjectMeta, read.ObjectMeta)
			expect(t, "clusters", page.Clusters(), read.Clusters())
			if absent := page.Decisions == nil && adapter.Name() == api.V1beta1.Name(); absent != (read.Decisions == nil) {
				t.Errorf("the list is %v, want absent: %v", read.Decisions, absent)
			}

			for n, decision := range read.Decisions {
				want := codec.Normalize(page.Decisions[n])
				expect(t, "own part", want, codec.Normalize(decision))
				if adapter.Name() == api.V1beta1.Name() {
					want.Reason = page.Decisions[n].Reason // To be seen, and mended.
				}
				expect(t, "decision", want, decision)
			}
			expect(t, "the same bytes again", asText(t, object), asText(t, codec.Write(read)))
		}

		before := asText(t, page)
		object.SetLabels(map[string]string{"changed": "yes"})
		object.GetOwnerReferences()[0].Name = "changed"
		expect(t, "the page", before, asText(t, page))
	})
}

// Normalize returns the decision as it reads back.
func TestOwnIsStable(t *testing.T) {
	ofEachAPI(t, func(t *rapid.T, adapter api.Adapter) {
		codec := adapter.Codec()
		own := codec.Normalize(drawDecision(t))
		expect(t, "own of own", own, codec.Normalize(own))
		page := &api.Page{Decisions: []api.Decision{own}}
		expect(t, "written and read", page.Decisions, codec.Read(codec.Write(page)).Decisions)
	})
}

// The labels of a page name its placement, and its group where the API has groups.
func TestLabelsComeBack(t *testing.T) {
	ofEachAPI(t, func(t *rapid.T, adapter api.Adapter) {
		codec := adapter.Codec()
		group := api.Group{Index: rapid.IntRange(0, 300).Draw(t, "index"), Name: words.Draw(t, "name")}
		page := pageWith(codec.Labels("p", group))
		read, named := codec.Group(page)
		expect(t, "placement", "p", codec.Placement(page))
		expect(t, "foreign", false, codec.Foreign(page))
		expect(t, "named", true, named)

		if adapter.Name() == api.V1beta1.Name() {
			expect(t, "group", group, read)
		} else {
			expect(t, "group", api.Group{}, read)
		}
	})
}

func drawStatus(t *rapid.T) api.Status {
	status := api.Status{Selected: rapid.IntRange(0, 1<<30).Draw(t, "selected")}
	for range rapid.IntRange(0, 2).Draw(t, "conditions") {
		status.Conditions = append(status.Conditions, metav1.Condition{
			Type: words.Draw(t, "type"), Status: metav1.ConditionTrue, Reason: words.Draw(t, "reason"), Message: words.Draw(t, "message"),
			ObservedGeneration: rapid.Int64Range(0, 9).Draw(t, "generation"), LastTransitionTime: metav1.NewTime(time.Unix(100, 0)),
		})
	}

	for range rapid.IntRange(0, 3).Draw(t, "groups") {
		status.Groups = append(status.Groups, api.GroupStatus{
			Group: api.Group{Index: rapid.IntRange(0, 9).Draw(t, "index"), Name: words.Draw(t, "name")},
			Pages: rapid.SliceOfN(words, 1, 3).Draw(t, "pages"), Clusters: rapid.IntRange(0, 1<<30).Draw(t, "clusters"),
		})
	}
	if rapid.Bool().Draw(t, "scored") {
		status.LastScoreUpdate = &metav1.Time{Time: time.Unix(rapid.Int64Range(1, 1<<30).Draw(t, "at"), 0)}
	}
	return status
}

// What a status says comes back, as far as the API can say it, also from the JSON that an API server stores.
func TestStatusesComeBack(t *testing.T) {
	ofEachAPI(t, func(t *rapid.T, adapter api.Adapter) {
		status := drawStatus(t)
		object := adapter.Empty()
		data := asText(t, map[string]any{"metadata": map[string]any{"namespace": "ns", "name": "p"}, "status": adapter.Status(status)})
		if err := json.Unmarshal([]byte(data), object); err != nil {
			t.Fatal(err)
		}
		read := adapter.Read(object)

		want := status
		if adapter.Name() == api.V1alpha1.Name() {
			want = api.Status{Conditions: status.Conditions}
		}
		expect(t, "status", want, read.Status)
		expect(t, "the same bytes again", asText(t, adapter.Status(status)), asText(t, adapter.Status(read.Status)))
	})
}

// Every API tells its own objects from those of the others, and no two share a name.
func TestAPIs(t *testing.T) {
	names := map[string]bool{}
	for _, adapter := range api.Adapters() {
		codec := adapter.Codec()
		names[string(adapter.Name())] = true
		expect(t, "the group of the owner", string(adapter.Name()), codec.Owner().Group)
		expect(t, "the API of the key", adapter.Name(), codec.Key("ns", "n").API)
		for _, other := range api.Adapters() {
			same := adapter.Name() == other.Name()
			expect(t, "reads placements of "+string(other.Name()), same, adapter.Read(other.Empty()) != nil)
			expect(t, "reads pages of "+string(other.Name()), same, codec.Read(other.Codec().Empty()) != nil)
		}

		if placement := adapter.Read(adapter.Empty()); placement.API != adapter {
			t.Errorf("a placement of %s is of %s", adapter.Name(), placement.API.Name())
		}
	}

	expect(t, "names", len(api.Adapters()), len(names))
	expect(t, "v1beta1 comes first: it is what most placements are of", 0, slices.IndexFunc(api.Adapters(), func(adapter api.Adapter) bool {
		return adapter == api.V1beta1
	}))
}

// Lists are of the kind of the objects in them.
func TestLists(t *testing.T) {
	for _, tc := range []struct {
		api                api.Adapter
		placements, pages  any
		placement, onePage any
	}{
		{api.V1beta1, &clusterv1beta1.PlacementList{}, &clusterv1beta1.PlacementDecisionList{}, &clusterv1beta1.Placement{},
			&clusterv1beta1.PlacementDecision{}},
		{api.V1alpha1, &placementv1alpha1.PlacementList{}, &placementv1alpha1.PlacementDecisionList{}, &placementv1alpha1.Placement{},
			&placementv1alpha1.PlacementDecision{}},
	} {
		expect(t, "placements", tc.placements, any(tc.api.EmptyList()))
		expect(t, "pages", tc.pages, any(tc.api.Codec().EmptyList()))
		expect(t, "placement", tc.placement, any(tc.api.Empty()))
		expect(t, "page", tc.onePage, any(tc.api.Codec().Empty()))
	}
}
