// SPDX-License-Identifier: Apache-2.0

package explain_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/pkg/explain/counterfactual"
)

const unevenFleet = `apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSet
metadata: {name: all}
---
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSetBinding
metadata: {name: all, namespace: ns}
spec: {clusterSet: all}
---
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: silent, labels: {cluster.open-cluster-management.io/clusterset: all}}
---
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: tells, labels: {cluster.open-cluster-management.io/clusterset: all}}
status: {allocatable: {cpu: "4"}, capacity: {cpu: "4"}, conditions: [], version: {}}
---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: a, namespace: ns}
spec:
  prioritizerPolicy:
    mode: Exact
    configurations: [{scoreCoordinate: {type: BuiltIn, builtIn: ResourceAllocatableCPU}, weight: 1}]
`

// A cluster that does not report a resource has no score for it, which is not the score 0.
func TestAScoreThatIsNotGivenIsNotShown(t *testing.T) {
	reports := reportsOf(read(t, unevenFleet), false, nil)
	got := map[string]map[string]int64{}
	for _, cluster := range reports.Placements[0].Clusters {
		got[cluster.Name] = cluster.Scores
	}
	want := map[string]map[string]int64{"silent": {}, "tells": {"ResourceAllocatableCPU": 100}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("scores (-want +got):\n%s", diff)
	}
	evaluation := read(t, unevenFleet).Evaluate(noon, nil)[0]

	told, known := counterfactual.Explain(evaluation, "silent")
	if !known || told.Prioritizers[0].Score != nil || told.Prioritizers[0].Points != 0 || told.Prioritizers[0].Rank != 2 {
		t.Errorf("the story of silent: %+v", told.Prioritizers)
	}
}
