// SPDX-License-Identifier: Apache-2.0

package explain_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/counterfactual"
)

const (
	boundSet = "---\napiVersion: cluster.open-cluster-management.io/v1beta2\nkind: ManagedClusterSet\nmetadata: {name: s}\n" +
		"---\napiVersion: cluster.open-cluster-management.io/v1beta2\nkind: ManagedClusterSetBinding\n" +
		"metadata: {name: s, namespace: ns}\nspec: {clusterSet: s}\n"
	inSet = "metadata: {name: %s, labels: {cluster.open-cluster-management.io/clusterset: s}}\n"
	gone  = "status: {conditions: [{type: ClusterGone, status: \"True\", reason: DefinitionReplaced, message: Cluster ns/lost is gone, " +
		"lastTransitionTime: \"2026-01-31T11:00:00Z\"}]}\n"
)

// T2: a report names the selected clusters whose Clusters were lost with their definition, and how to release them.
func TestReportNamesGoneClusters(t *testing.T) {
	var content strings.Builder
	content.WriteString(boundSet + "---\n" + placementHead + "metadata: {name: p, namespace: ns}\nspec: {}\n" +
		"---\n" + clusterHead + fmt.Sprintf(inSet, "stays"))
	for i := range 7 {
		content.WriteString("---\n" + clusterHead + fmt.Sprintf(inSet, fmt.Sprintf("lost%d", i)) + gone)
	}
	content.WriteString("---\n" + clusterHead + "metadata: {name: elsewhere}\n" + gone)
	state := read(t, content.String())
	evaluation := state.Evaluate(noon, nil)[0]
	for reason, report := range map[string]explain.Report{
		"simulate": explain.NewReport(evaluation, false), "explain": state.Explain(evaluation, false),
	} {
		notes := strings.Join(report.Notes, "\n")
		for _, part := range []string{
			"ClusterGone", "lost0, lost1, lost2, lost3, lost4 and 2 more", "create its Cluster again",
			`cluster.openmcp.cloud/withdraw to "true"`, "delete it",
		} {
			if !strings.Contains(notes, part) {
				t.Errorf("%s: the notes do not contain %q:\n%s", reason, part, notes)
			}
		}

		if strings.Contains(notes, "stays,") || strings.Contains(notes, "elsewhere") {
			t.Errorf("%s: the notes name other clusters:\n%s", reason, notes)
		}
	}

	for cluster, want := range map[string]bool{"lost0": true, "elsewhere": true, "stays": false} {
		explained, known := counterfactual.Explain(evaluation, cluster)
		if !known || strings.Contains(explained.Gone, "ClusterGone: Cluster ns/lost is gone") != want {
			t.Errorf("%s: explained as %q", cluster, explained.Gone)
		}
	}
}
