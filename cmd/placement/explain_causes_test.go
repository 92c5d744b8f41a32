// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/test/expect"
)

// crowd returns the objects of a hub with n clusters in the set default: eu000 matches the Placement, eu001 has a taint, the decision has
// us000, and no other cluster matches. One more cluster is out of scope.
func crowd(n int) string {
	var text strings.Builder
	text.WriteString(diffedHead + "metadata: {name: p, namespace: team-a}\n" +
		"spec: {predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {region: eu}}}}]}\n---\n" +
		"apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: PlacementDecision\n" +
		"metadata: {name: p-decision-1, namespace: team-a, labels: {cluster.open-cluster-management.io/placement: p}}\n" +
		"status: {decisions: [{clusterName: us000, reason: \"\"}]}\n---\n" +
		"apiVersion: cluster.open-cluster-management.io/v1beta2\nkind: ManagedClusterSetBinding\n" +
		"metadata: {name: default, namespace: team-a}\nspec: {clusterSet: default}\n---\n" + clusterHead + "metadata: {name: elsewhere}\n")
	add := func(name, region, rest string) {
		fmt.Fprintf(&text, "---\n%smetadata: {name: %s, labels: {region: %s, cluster.open-cluster-management.io/clusterset: default}}\n%s",
			clusterHead, name, region, rest)
	}
	add("eu000", "eu", "")
	add("eu001", "eu", "spec: {taints: [{key: gpu, effect: NoSelect, timeAdded: \"2026-01-01T00:00:00Z\"}]}\n")
	for i := range n - 2 {
		add(fmt.Sprintf("us%03d", i), "us", "")
	}
	return text.String()
}

const clusterHead = "apiVersion: cluster.open-cluster-management.io/v1\nkind: ManagedCluster\n"

// Issue 26, U8: beyond 30 rejected clusters, explain groups them by cause; --all-clusters and -o wide list them, and JSON is complete.
func TestExplainGroupsRejectedClusters(t *testing.T) {
	dir := t.TempDir()
	many, few := expect.File(t, filepath.Join(dir, "many.yaml"), crowd(40)), expect.File(t, filepath.Join(dir, "few.yaml"), crowd(32))
	run := func(args ...string) string {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if code := executeWithInput(t, "", append([]string{"explain", "team-a/p", "--now", diffNow}, args...), &stdout, &stderr); code != exit.OK {
			t.Fatalf("exit code %d: %s", code, &stderr)
		}
		return stdout.String()
	}
	want := `team-a/p: the only feasible cluster selected
  decisions are behind: eu000 to be gained; us000 to be lost
  CLUSTER  VERDICT    RANK  SCORE  BALANCE x1  STEADY x1  REASON
  eu000    Selected   1     100    100         0          score 100, rank 1 of 1
  us000    Predicate  -     -      -           -          predicate 1 label region In [eu]: is us
  not selected: 38 clusters, by cause (--all-clusters lists them)
  CLUSTERS  VERDICT    NAMES                     CAUSE
  37        Predicate  us001, us002, us003, ...  predicate 1 label region In [eu]
  1         Taint      eu001                     taint gpu:NoSelect not tolerated
  out of scope: 1 cluster, not in a bound set (-o wide lists them)
`
	if diff := cmp.Diff(want, run("-f", many)); diff != "" {
		t.Errorf("grouped (-want +got):\n%s", diff)
	}
	if got := run("-f", many, "--all-clusters"); strings.Count(got, "\n") != 44 || strings.Contains(got, "by cause") {
		t.Errorf("--all-clusters has %d lines:\n%s", strings.Count(got, "\n"), got)
	}
	if got := run("-f", many, "-o", "wide"); !strings.Contains(got, "elsewhere") || strings.Contains(got, "by cause") {
		t.Errorf("wide:\n%s", got)
	}
	if got := run("-f", few); strings.Contains(got, "by cause") || !strings.Contains(got, "us029") {
		t.Errorf("31 rejected clusters, of which the decisions have one:\n%s", got)
	}
	var complete struct{ Placements []struct{ Clusters []any } }
	expect.NoError(t, json.Unmarshal([]byte(run("-f", many, "-o", "json")), &complete))
	if got := len(complete.Placements[0].Clusters); got != 40 {
		t.Errorf("JSON has %d clusters, want 40", got)
	}
}
