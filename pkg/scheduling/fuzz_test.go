// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"encoding/json"
	"testing"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// FuzzConvertV1beta1 checks that every Placement converts to a valid Request, or to errors with their paths.
func FuzzConvertV1beta1(f *testing.F) {
	f.Add([]byte(`{"metadata": {"namespace": "ns", "name": "p"}, "spec": {"numberOfClusters": 2, "clusterSets": ["all"]}}`))
	f.Add([]byte(`{}`))
	w := newRandomHub(named("c1", "region", "eu"), named("c2"), named("c3"))
	w.inventory.SetScores(scoreOf("c1", "demo", nil, clusterv1alpha1.AddOnPlacementScoreItem{Name: "x", Value: 1}))
	snapshot := w.inventory.Snapshot()

	f.Fuzz(func(t *testing.T, data []byte) {
		placement := &clusterv1beta1.Placement{}
		if err := json.Unmarshal(data, placement); err != nil {
			return
		}
		checkRequest(t, ConvertV1beta1(selector.NewCompiler(), placement), snapshot)
	})
}

// FuzzConvertV1alpha1 checks the same for v1alpha1.
func FuzzConvertV1alpha1(f *testing.F) {
	f.Add([]byte(`{"metadata": {"namespace": "ns", "name": "p"}, "spec": {"predicates": [{"clusterName": "c1"}, {"labelSelector": {}}]}}`))
	f.Add([]byte(`{"metadata": {"name": "p"}, "spec": {"antiAffinity": {"topologyKey": "region", "topologyKeyType": "Label"}}}`))
	snapshot := newRandomHub(named("c1", "region", "eu"), named("c2"), named("c3", "region", "eu")).inventory.Snapshot()
	f.Fuzz(func(t *testing.T, data []byte) {
		placement := &placementv1alpha1.Placement{}
		if err := json.Unmarshal(data, placement); err != nil {
			return
		}
		checkRequest(t, ConvertV1alpha1(selector.NewCompiler(), placement), snapshot)
	})
}

// checkRequest evaluates a Request on an empty Snapshot and on one with the namespace ns.
func checkRequest(t *testing.T, request *Request, snapshot *inventory.Snapshot) {
	t.Helper()
	for _, mistake := range request.Errors {
		if mistake.Field == "" || mistake.Error() == "" {
			t.Errorf("a mistake without a place: %v", mistake)
		}
	}
	bound := *request
	bound.Key.Namespace = "ns"
	for _, result := range []*Result{
		Schedule(request, inventory.New(selector.NewCompiler()).Snapshot(), nil, now),
		Schedule(&bound, snapshot, map[string]bool{"c2": true}, now),
	} {
		checkResult(t, result)
	}
}

func checkResult(t *testing.T, result *Result) {
	t.Helper()
	if len(result.Request.Errors) > 0 && result.Outcome() == Decided {
		t.Error("there is an answer in spite of the mistakes")
	}
	if wanted := result.Request.Wanted; result.Outcome() == Decided && wanted != nil && len(result.Selected)+result.Unscheduled != int(*wanted) {
		t.Errorf("%d selected and %d unscheduled of %d", len(result.Selected), result.Unscheduled, *wanted)
	}
	if length := result.Request.GroupLength.Of(len(result.Selected)); length < 1 || length > max(1, len(result.Selected)) {
		t.Errorf("groups of %d out of %d", length, len(result.Selected))
	}

	for _, verdict := range result.Verdicts() {
		if result.Reason(verdict) == "" {
			t.Errorf("%s has no reason", verdict.Cluster.Name)
		}
	}
}
