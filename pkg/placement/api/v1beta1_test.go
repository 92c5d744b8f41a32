// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

var full = api.Decision{
	Cluster: "c-1", Reason: "because", Score: 7, Available: true, Profile: clusterinfo.Profile{Namespace: "fleet", Name: "c-1"},
}

func TestV1beta1Pages(t *testing.T) {
	codec := api.V1beta1.Codec()
	expect(t, "owner", schema.GroupVersionKind{Group: "cluster.open-cluster-management.io", Version: "v1beta1", Kind: "Placement"}, codec.Owner())
	expect(t, "key", inventory.NewPlacementKey(inventory.V1beta1, "ns", "p").Decision("p-decision-1"), codec.Key("ns", "p-decision-1"))
	expect(t, "subresource", "status", codec.Subresource())
	expect(t, "B7: own has no reason, and nothing of others", api.Decision{Cluster: "c-1", Score: 7}, codec.Normalize(full))

	labels := codec.Labels("p", api.Group{Index: 3, Name: "canary"})
	expect(t, "labels", map[string]string{
		"cluster.open-cluster-management.io/placement":            "p",
		"cluster.open-cluster-management.io/decision-group-index": "3",
		"cluster.open-cluster-management.io/decision-group-name":  "canary",
	}, labels)
	expect(t, "labels of the first group of the rest", "0 ", labelled(codec.Labels("p", api.Group{}), "decision-group-index",
		"decision-group-name"))
	expect(t, "placement", "p", codec.Placement(pageWith(labels)))
	expect(t, "placement of a page without labels", "", codec.Placement(pageWith(nil)))
}

// labelled are the values of two labels of the group of v1beta1.
func labelled(labels map[string]string, first, second string) string {
	return labels["cluster.open-cluster-management.io/"+first] + " " + labels["cluster.open-cluster-management.io/"+second]
}

func pageWith(labels map[string]string) *api.Page {
	return &api.Page{ObjectMeta: metav1.ObjectMeta{Labels: labels}}
}

func TestV1beta1Groups(t *testing.T) {
	const index, name = "cluster.open-cluster-management.io/decision-group-index", "cluster.open-cluster-management.io/decision-group-name"
	for _, tc := range []struct {
		reason string
		labels map[string]string
		want   api.Group
		named  bool
	}{
		{"both", map[string]string{index: "2", name: "canary"}, api.Group{Index: 2, Name: "canary"}, true},
		{"the rest has no name", map[string]string{index: "2", name: ""}, api.Group{Index: 2}, true},
		{"a lost name is that of the rest", map[string]string{index: "2"}, api.Group{Index: 2}, true},
		{"no index", map[string]string{name: "canary"}, api.Group{Name: "canary"}, false},
		{"nonsense", map[string]string{index: "first"}, api.Group{}, false},
		{"none", nil, api.Group{}, false},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			group, named := api.V1beta1.Codec().Group(pageWith(tc.labels))
			expect(t, "named", tc.named, named)
			if named {
				expect(t, "group", tc.want, group)
			}
		})
	}
}

// docs/spec/differences.md B4: pages of the PlacementRule API use the same names and belong to another system.
func TestV1beta1Foreign(t *testing.T) {
	codec := api.V1beta1.Codec()
	expect(t, "of a placement", false, codec.Foreign(pageWith(codec.Labels("p", api.Group{}))))
	expect(t, "without labels", false, codec.Foreign(pageWith(nil)))
	expect(t, "of a placement rule", true, codec.Foreign(pageWith(map[string]string{
		"cluster.open-cluster-management.io/placementrule": "p", "cluster.open-cluster-management.io/placement": "p",
	})))
	expect(t, "of a placement rule without a name", true, codec.Foreign(pageWith(map[string]string{
		"cluster.open-cluster-management.io/placementrule": "",
	})))
}

// A merge patch as an API server reads it. A list that is empty is said, one that is absent is null.
func TestV1beta1Body(t *testing.T) {
	for _, tc := range []struct {
		reason    string
		decisions []api.Decision
		want      string
	}{
		{"name only: a required reason and no score", []api.Decision{{Cluster: "c-1"}},
			`{"status":{"decisions":[{"clusterName":"c-1","reason":""}]}}`},
		{"scores", []api.Decision{{Cluster: "c-2", Score: 100}, {Cluster: "c-1", Score: -5}}, `{"status":{"decisions":[` +
			`{"clusterName":"c-2","reason":"","score":100},{"clusterName":"c-1","reason":"","score":-5}]}}`},
		{"nothing of other APIs", []api.Decision{{Cluster: "c-1", Available: true, Profile: full.Profile}},
			`{"status":{"decisions":[{"clusterName":"c-1","reason":""}]}}`},
		{"empty", []api.Decision{}, `{"status":{"decisions":[]}}`},
		{"absent", nil, `{"status":{"decisions":null}}`},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			expect(t, "body", tc.want, asText(t, api.V1beta1.Codec().Body(tc.decisions)))
		})
	}
}

func TestV1beta1Placement(t *testing.T) {
	object := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: "uid-p", Generation: 4}}
	object.Spec.ClusterSets, object.Spec.SortBy = []string{"b", "a"}, clusterv1beta1.PlacementSortByScore
	object.Status.LastScoreUpdateTime = &metav1.Time{Time: time.Unix(7, 0)}
	placement := api.V1beta1.Read(object)

	expect(t, "name", inventory.V1beta1, api.V1beta1.Name())
	expect(t, "key", inventory.NewPlacementKey(inventory.V1beta1, "ns", "p"), placement.Key())
	expect(t, "metadata", object.ObjectMeta, placement.ObjectMeta)
	expect(t, "sets", []string{"b", "a"}, placement.ClusterSets)
	expect(t, "request", "score", placement.Request(selector.NewCompiler()).Order.String())
	expect(t, "the time of the scores", object.Status.LastScoreUpdateTime, placement.Status.LastScoreUpdate)
	expect(t, "1.11: none is not enough", false, placement.Request(selector.NewCompiler()).NoneIsEnough)
	expect(t, "another API", (*api.Placement)(nil), api.V1beta1.Read(&placementv1alpha1.Placement{}))
	expect(t, "another kind", (*api.Placement)(nil), api.V1beta1.Read(&clusterv1beta1.PlacementDecision{}))
	expect(t, "a page of another API", (*api.Page)(nil), api.V1beta1.Codec().Read(&placementv1alpha1.PlacementDecision{}))
}

func TestV1beta1Status(t *testing.T) {
	expect(t, "empty", `{"numberOfSelectedClusters":0,"decisionGroups":null,"conditions":null}`, asText(t, api.V1beta1.Status(api.Status{})))

	at := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	expect(t, "all", `{"numberOfSelectedClusters":3,"decisionGroups":[`+
		`{"decisionGroupIndex":0,"decisionGroupName":"canary","decisions":["p-decision-1"],"clusterCount":1},`+
		`{"decisionGroupIndex":1,"decisionGroupName":"","decisions":["p-decision-2","p-decision-3"],"clusterCount":2}],"conditions":null,`+
		`"lastScoreUpdateTime":"2026-01-02T03:04:05Z"}`, asText(t, api.V1beta1.Status(api.Status{
		Selected: 3, LastScoreUpdate: &at, Groups: []api.GroupStatus{
			{Group: api.Group{Name: "canary"}, Pages: []string{"p-decision-1"}, Clusters: 1},
			{Group: api.Group{Index: 1}, Pages: []string{"p-decision-2", "p-decision-3"}, Clusters: 2},
		},
	})))
}
