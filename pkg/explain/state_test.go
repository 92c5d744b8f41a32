// SPDX-License-Identifier: Apache-2.0

package explain_test

import (
	"bytes"
	"fmt"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

func TestEvaluateDoesNotModifyTheState(t *testing.T) {
	state := testState(t)
	var first, second bytes.Buffer
	for _, out := range []*bytes.Buffer{&first, &second} {
		if err := printers.Print(out, printers.FormatJSON, reportsOf(state, true, nil), allStyle); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(first.String(), second.String()); diff != "" {
		t.Errorf("the second evaluation differs from the first (-first +second):\n%s", diff)
	}
}

func TestEvaluateDoesNotDependOnTheOrderOfDocuments(t *testing.T) {
	state, turned := testState(t), testState(t)
	slices.Reverse(turned.Clusters)
	slices.Reverse(turned.ClusterSets)
	slices.Reverse(turned.Bindings)
	slices.Reverse(turned.Scores)
	slices.Reverse(turned.Placements)
	slices.Reverse(turned.Decisions)
	if diff := cmp.Diff(reportsOf(state, true, nil), reportsOf(turned, true, nil)); diff != "" {
		t.Errorf("reports (-as they stand +turned):\n%s", diff)
	}
}

func TestPagesAreThoseAfterThePlan(t *testing.T) {
	const decisionHead = "---\napiVersion: cluster.open-cluster-management.io/v1beta1\nkind: PlacementDecision\n" +
		"metadata: {namespace: ns, labels: {cluster.open-cluster-management.io/placement: a}, name: "
	var content strings.Builder
	fmt.Fprintf(&content, "%smetadata: {name: c1, labels: {cluster.open-cluster-management.io/clusterset: default}}\n", clusterHead)
	fmt.Fprintf(&content, "---\napiVersion: cluster.open-cluster-management.io/v1beta2\nkind: ManagedClusterSetBinding\n"+
		"metadata: {name: default, namespace: ns}\nspec: {clusterSet: default}\n")
	fmt.Fprintf(&content, "%sa-decision-1}\nstatus: {decisions: [{clusterName: gone, reason: \"\"}]}\n", decisionHead)
	fmt.Fprintf(&content, "%sa-decision-2}\nstatus: {decisions: [{clusterName: c1, reason: \"\"}]}\n", decisionHead)

	for _, tc := range []struct {
		reason, placement string
		wantPages         map[string][]string
		wantDeletes       int
	}{
		{
			reason: "what is gone is taken out, and what is not needed is deleted", placement: "metadata: {name: a, namespace: ns}\nspec: {}\n",
			wantPages: map[string][]string{"a-decision-1": {"c1"}}, wantDeletes: 1,
		},
		{
			reason:    "a placement with a mistake keeps all",
			placement: "metadata: {name: a, namespace: ns}\nspec: {prioritizerPolicy: {mode: Exactly}}\n",
			wantPages: map[string][]string{"a-decision-1": {"gone"}, "a-decision-2": {"c1"}},
		},
		{
			reason: "so does one that is being deleted",
			placement: "metadata: {name: a, namespace: ns, deletionTimestamp: \"2026-01-31T11:00:00Z\", finalizers: [example.com/a]}\n" +
				"spec: {}\n",
			wantPages: map[string][]string{"a-decision-1": {"gone"}, "a-decision-2": {"c1"}},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			state := read(t, content.String()+"---\n"+placementHead+tc.placement)
			evaluation := state.Evaluate(noon, nil)[0]
			if diff := cmp.Diff(tc.wantPages, evaluation.Pages); diff != "" {
				t.Errorf("pages (-want +got):\n%s", diff)
			}
			if got := len(evaluation.Plan.Deletes); got != tc.wantDeletes {
				t.Errorf("%d pages are to be deleted, want %d", got, tc.wantDeletes)
			}
		})
	}
}

// An outline is the report without what takes long: the reasons, clauses and scores of the clusters.
func TestOutlineIsTheReportWithoutTexts(t *testing.T) {
	state := testState(t)
	for _, evaluation := range state.Evaluate(noon, nil) {
		want := state.Explain(evaluation, false)
		for i := range want.Clusters {
			cluster := &want.Clusters[i]
			cluster.Reason, cluster.Clause, cluster.Score, cluster.Scores = "", "", nil, nil
		}
		if diff := cmp.Diff(want, state.Outline(evaluation)); diff != "" {
			t.Errorf("%s (-report +outline):\n%s", want.Placement, diff)
		}
	}
}

func TestEvaluateOnlyWhatIsWanted(t *testing.T) {
	wanted := inventory.NewPlacementKey(inventory.V1beta1, "team-b", "scores")
	reports := reportsOf(testState(t), false, func(key inventory.Key) bool { return key == wanted })
	if len(reports.Placements) != 1 || reports.Placements[0].Placement != wanted.String() {
		t.Errorf("got %d reports, want that of %s", len(reports.Placements), wanted)
	}
}

// The packages serve debug endpoints and tools alike: they call no API server and open no file. Each imports only the packages named here;
// a result does not need the packages that read files.
func TestImports(t *testing.T) {
	const own = "github.com/placement-hub/placement-hub/"
	for dir, rooms := range map[string][]string{
		".": {
			"pkg/clustersets", "pkg/clusterinfo", "pkg/selector", "pkg/inventory", "pkg/scheduling", "pkg/placement", "pkg/placement/api",
			"pkg/removalbudget", "pkg/explain/document", "pkg/podscheduling/explain", "pkg/federation/explain", "pkg/clusterrequest/explain",
			"pkg/federation", "pkg/clusterrequest", "pkg/explain/objectlist", "pkg/apis/kupid/v1alpha1", "pkg/apis/cozystack/v1alpha1",
			"pkg/apis/cozystackapps/v1alpha1", "pkg/apis/openmcp/v1alpha1", "pkg/apis/openmcploopback/v1alpha1",
		},
		"../clusterrequest/explain": {"pkg/apis/openmcp/v1alpha1", "pkg/clusterrequest", "pkg/explain/document", "pkg/explain/search"},
		"../federation/explain": {
			"pkg/explain/document", "pkg/removalbudget", "pkg/federation", "pkg/inventory", "pkg/scheduling", "pkg/selector",
		},
		"../podscheduling/explain": {"pkg/podscheduling", "pkg/affinityclass", "pkg/apis/kupid/v1alpha1", "pkg/apis/cozystack/v1alpha1",
			"pkg/apis/cozystackapps/v1alpha1", "pkg/explain/document", "pkg/explain/objectlist"},
		// What shows documents knows no system.
		"snapshot": {},
		"document": {"pkg/scheduling"},
		"printers": {"pkg/explain/document"},
		"hubstate/statefile": {
			"pkg/explain", "pkg/explain/admission", "pkg/explain/snapshot", "pkg/explain/writes", "pkg/inventory", "pkg/placement/api",
			"pkg/apis/placement/v1alpha1", "pkg/federation",
		},
	} {
		for file, paths := range importsOf(t, dir) {
			for _, path := range paths {
				room, isOwn := strings.CutPrefix(path, own)
				if isOwn && !slices.Contains(rooms, room) || path == "os" || path == "net" ||
					strings.HasPrefix(path, "k8s.io/client-go") || strings.HasPrefix(path, "sigs.k8s.io/controller-runtime") {
					t.Errorf("%s imports %s", file, path)
				}
			}
		}
	}
}

// importsOf are the imports of the files in a directory, tests left out, by file.
func importsOf(t *testing.T, dir string) map[string][]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	imports := map[string][]string{}

	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		imports[file] = []string{}

		for _, spec := range parsed.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			imports[file] = append(imports[file], path)
		}
	}

	if len(imports) == 0 {
		t.Fatalf("no Go files in %s", dir)
	}
	return imports
}

// fleet returns YAML of many clusters in five regions, and many Placements of different kinds.
func fleet(clusters, placements int) string {
	var out strings.Builder
	out.WriteString("apiVersion: cluster.open-cluster-management.io/v1beta2\nkind: ManagedClusterSetBinding\n" +
		"metadata: {name: global, namespace: ns}\nspec: {clusterSet: global}\n")
	for i := range clusters {
		fmt.Fprintf(&out, `---
%smetadata:
  name: cluster-%04d
  labels:
    region: region-%d
    env: %s
    cluster.open-cluster-management.io/clusterset: set-%d
spec:
  hubAcceptsClient: true
  leaseDurationSeconds: 60
status:
  version:
    kubernetes: v1.%d.0
  allocatable:
    cpu: "%d"
    memory: %dGi
  capacity:
    cpu: "%d"
    memory: %dGi
  clusterClaims:
  - name: platform.open-cluster-management.io
    value: AWS
  - name: id.k8s.io
    value: cluster-%04d
  conditions:
  - type: ManagedClusterConditionAvailable
    status: "True"
    reason: ManagedClusterAvailable
    message: Managed cluster is available
    lastTransitionTime: "2026-01-01T00:00:00Z"
`, clusterHead, i, i%5, []string{"prod", "staging"}[i%2], i%10, 30+i%5, i%64, i%256, 64, 256, i)
	}

	for i := range placements {
		fmt.Fprintf(&out, "---\n%smetadata: {name: placement-%d, namespace: ns}\nspec:\n  numberOfClusters: %d\n  predicates:\n"+
			"  - requiredClusterSelector:\n      labelSelector: {matchLabels: {region: region-%d}}\n", placementHead, i, 10+i, i%5)
		if i%5 == 0 {
			out.WriteString("      celSelector: {celExpressions: ['managedCluster.status.version.kubernetes != \"v1.31.0\"']}\n")
		}
		out.WriteString("  prioritizerPolicy:\n    configurations:\n    - scoreCoordinate: {type: BuiltIn, builtIn: ResourceAllocatableCPU}\n")
	}
	return out.String()
}

func BenchmarkSimulate1000x50(b *testing.B) {
	content := []byte(fleet(1000, 50))
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		reader := newReader(b)
		reader.Read("fleet.yaml", content)
		state, err := reader.State()
		if err != nil {
			b.Fatal(err)
		}
		var out bytes.Buffer
		if err := printers.Print(&out, printers.FormatTable, reportsOf(state, true, nil), allStyle); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEvaluate1000x50(b *testing.B) {
	state := read(b, fleet(1000, 50))
	for b.Loop() {
		if got := len(state.Evaluate(noon, nil)); got != 50 {
			b.Fatalf("%d evaluations", got)
		}
	}
}
