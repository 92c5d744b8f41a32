// SPDX-License-Identifier: Apache-2.0

package explain_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/pkg/explain/counterfactual"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
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

// docs/spec/differences.md C3: an explanation says of each prioritizer that a score is missing or has expired, and what counts instead.
func TestAMissingScoreIsExplained(t *testing.T) {
	scored := unevenFleet + `---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: b, namespace: ns, annotations: {placement-hub.open-cluster-management.io/missing-score: worst}}
spec:
  prioritizerPolicy:
    mode: Exact
    configurations:
    - {scoreCoordinate: {type: AddOn, addOn: {resourceName: demo, scoreName: cpu}}, weight: -2}
    - {scoreCoordinate: {type: BuiltIn, builtIn: Steady}, weight: 1}
---
apiVersion: cluster.open-cluster-management.io/v1alpha1
kind: AddOnPlacementScore
metadata: {name: demo, namespace: tells}
status: {scores: [{name: cpu, value: 5}], validUntil: "2026-01-31T11:00:00Z"}
`
	want := map[string]string{
		"silent": "no score, counted as 100", "tells": "score expired at 2026-01-31T11:00:00Z, counted as 100",
	}
	evaluation := read(t, scored).Evaluate(noon, nil)[1]
	for cluster, missing := range want {
		explained, known := counterfactual.Explain(evaluation, cluster)
		if addOn, steady := explained.Prioritizers[0], explained.Prioritizers[1]; !known || addOn.Missing != missing || addOn.Points != -200 ||
			steady.Missing != "" {
			t.Errorf("the explanation of %s: %+v, want %q", cluster, explained.Prioritizers, missing)
		}

		var out bytes.Buffer
		explanations := counterfactual.Explanations{Placements: []counterfactual.Explanation{
			counterfactual.NewExplanation(reportsOf(read(t, scored), false, nil).Placements[1], []counterfactual.ClusterExplanation{explained}),
		}}
		if err := printers.Print(&out, printers.FormatTable, explanations, printers.Style{Options: document.Options{Scores: true}}); err != nil {
			t.Fatal(err)
		}
		if line := "AddOn/demo/cpu: " + missing + "\n"; !strings.Contains(out.String(), line) {
			t.Errorf("%q is not in\n%s", line, out.String())
		}
	}
}
