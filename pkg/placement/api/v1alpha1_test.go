// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

func TestV1alpha1Pages(t *testing.T) {
	codec := api.V1alpha1.Codec()
	expect(t, "owner", schema.GroupVersionKind{Group: "placement.open-cluster-management.io", Version: "v1alpha1", Kind: "Placement"},
		codec.Owner())
	expect(t, "key", inventory.NewPlacementKey(inventory.V1alpha1, "ns", "p").Decision("p-decision-1"), codec.Key("ns", "p-decision-1"))
	expect(t, "subresource", "", codec.Subresource())
	expect(t, "own", api.Decision{Cluster: "c-1", Available: true}, codec.Normalize(full))

	labels := codec.Labels("p", api.Group{Index: 3, Name: "canary"})
	expect(t, "labels", map[string]string{"placement.open-cluster-management.io": "p"}, labels)
	expect(t, "placement", "p", codec.Placement(pageWith(labels)))
	expect(t, "placement of a page without labels", "", codec.Placement(pageWith(nil)))
	expect(t, "nobody shares the names", false, codec.Foreign(pageWith(map[string]string{
		"cluster.open-cluster-management.io/placementrule": "p",
	})))

	for _, labels := range []map[string]string{nil, labels, {"cluster.open-cluster-management.io/decision-group-index": "3"}} {
		group, named := codec.Group(pageWith(labels))
		expect(t, "the only group", api.Group{}, group)
		expect(t, "is always known", true, named)
	}
}

// Both fields of a decision are required, and so is the list: an absent one is written as an empty one.
func TestV1alpha1Body(t *testing.T) {
	for _, tc := range []struct {
		reason    string
		decisions []api.Decision
		want      string
	}{
		{"available and not", []api.Decision{{Cluster: "c-1", Available: true}, {Cluster: "c-2"}},
			`{"decisions":[{"clusterName":"c-1","available":true},{"clusterName":"c-2","available":false}]}`},
		{"nothing of other APIs", []api.Decision{{Cluster: "c-1", Reason: "because", Score: 7, Profile: full.Profile}},
			`{"decisions":[{"clusterName":"c-1","available":false}]}`},
		{"empty", []api.Decision{}, `{"decisions":[]}`},
		{"absent", nil, `{"decisions":[]}`},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			expect(t, "body", tc.want, asText(t, api.V1alpha1.Codec().Body(tc.decisions)))
		})
	}
}

func TestV1alpha1Placement(t *testing.T) {
	object := &placementv1alpha1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: "uid-p", Generation: 4}}
	object.Spec.ClusterSets, object.Spec.NumberOfClusters = []string{"b", "a"}, ptr.To[int32](2)
	placement := api.V1alpha1.Read(object)

	expect(t, "name", inventory.V1alpha1, api.V1alpha1.Name())
	expect(t, "key", inventory.NewPlacementKey(inventory.V1alpha1, "ns", "p"), placement.Key())
	expect(t, "metadata", object.ObjectMeta, placement.ObjectMeta)
	expect(t, "sets", []string{"b", "a"}, placement.ClusterSets)
	expect(t, "request", ptr.To[int32](2), placement.Request(selector.NewCompiler()).Wanted)
	expect(t, "none is enough", true, placement.Request(selector.NewCompiler()).NoneIsEnough)
	expect(t, "another API", (*api.Placement)(nil), api.V1alpha1.Read(&clusterv1beta1.Placement{}))
	expect(t, "another kind", (*api.Placement)(nil), api.V1alpha1.Read(&placementv1alpha1.PlacementDecision{}))
	expect(t, "a page of another API", (*api.Page)(nil), api.V1alpha1.Codec().Read(&clusterv1beta1.PlacementDecision{}))
}

func TestV1alpha1Status(t *testing.T) {
	expect(t, "empty", `{}`, asText(t, api.V1alpha1.Status(api.Status{})))
	expect(t, "conditions and nothing else", `{"conditions":[{"type":"A","status":"True","lastTransitionTime":null,"reason":"R","message":"m"}]}`,
		asText(t, api.V1alpha1.Status(api.Status{
			Selected: 3, Groups: []api.GroupStatus{{Pages: []string{"p-decision-1"}}}, LastScoreUpdate: &metav1.Time{},
			Conditions: []metav1.Condition{{Type: "A", Status: metav1.ConditionTrue, Reason: "R", Message: "m"}},
		})))
}
