// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/pkg/explain/placementtest/cases"
	"github.com/placement-hub/placement-hub/pkg/explain/placementtest/evaluate"
	"github.com/placement-hub/placement-hub/test/expect"
)

// testCase returns a PlacementTest with a spec in one line.
func testCase(name, spec string) string {
	return "---\napiVersion: " + cases.APIVersion + "\nkind: PlacementTest\nmetadata: {name: " + name + "}\nspec: {" + spec + "}\n"
}

func TestTestCommand(t *testing.T) {
	dir := t.TempDir()
	clusters := expect.File(t, filepath.Join(dir, "clusters.yaml"), simulatedClusters)
	hub := expect.File(t, filepath.Join(dir, "placements.yaml"), simulatedPlacements+"---\napiVersion: cluster.open-cluster-management.io/v1beta1\n"+
		"kind: Placement\nmetadata: {name: limited, namespace: team-a}\n"+
		"spec: {predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {no: such}}}}]}\n")
	expect.File(t, filepath.Join(dir, "new.yaml"),
		"apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: Placement\n"+
			"metadata: {name: new, namespace: team-a}\nspec: {numberOfClusters: 1}\n"+
			"---\napiVersion: cluster.open-cluster-management.io/v1beta1\nkind: Placement\n"+
			"metadata: {name: all, namespace: team-a}\nspec: {numberOfClusters: 1}\n")
	expect.File(t, filepath.Join(dir, "fleet.yaml"),
		"apiVersion: cluster.open-cluster-management.io/v1\nkind: ManagedCluster\nmetadata: {name: c3}\n"+
			"---\napiVersion: cluster.open-cluster-management.io/v1\nkind: ManagedCluster\n"+
			"metadata: {name: c1, labels: {cluster.open-cluster-management.io/clusterset: other}}\n")
	expect.File(t, filepath.Join(dir, "old.yaml"),
		"apiVersion: cluster.open-cluster-management.io/v1beta2\nkind: ManagedClusterSetBinding\n"+
			"metadata: {name: default, namespace: team-a}\nspec: {clusterSet: default}\n")
	for _, path := range []string{"old", "new"} {
		if err := os.Mkdir(filepath.Join(dir, path), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	const placementOf = "apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: Placement\n"
	expect.File(t, filepath.Join(dir, "old", "all.yaml"), placementOf+"metadata: {name: all, namespace: team-a}\nspec: {}\n")
	expect.File(t, filepath.Join(dir, "new", "new.yaml"), placementOf+"metadata: {name: new, namespace: team-a}\nspec: {numberOfClusters: 1}\n")
	expect.File(t, filepath.Join(dir, "gone.yaml"), placementOf+"metadata: {name: gone, namespace: team-a}\nspec: {}\n")
	expect.File(t, filepath.Join(dir, "negative.yaml"), placementOf+"metadata: {name: all, namespace: team-a}\nspec: {numberOfClusters: -1}\n")
	expect.File(t, filepath.Join(dir, "emptied.yaml"), placementOf+"metadata: {name: limited, namespace: team-a}\nspec: {}\n")
	const fullSpec = "{predicates: [{requiredClusterSelector: {labelSelector: {}}}], tolerations: [{key: gpu, operator: Equal, value: ''}], "
	full := expect.File(t, filepath.Join(dir, "full-hub.yaml"), placementOf+"metadata: {name: full, namespace: team-a, uid: f, managedFields: ["+
		"{manager: kubectl, operation: Apply, apiVersion: cluster.open-cluster-management.io/v1beta1, fieldsType: FieldsV1, "+
		"fieldsV1: {\"f:spec\": {\"f:numberOfClusters\": {}}}}, "+
		"{manager: ci, operation: Update, apiVersion: cluster.open-cluster-management.io/v1beta1, fieldsType: FieldsV1, "+
		"fieldsV1: {\"f:spec\": {\"f:predicates\": {}, \"f:tolerations\": {}}}}]}\nspec: "+fullSpec+"numberOfClusters: 0}\n")
	expect.File(t, filepath.Join(dir, "full.yaml"), placementOf+"metadata: {name: full, namespace: team-a}\nspec: "+fullSpec+"numberOfClusters: 1}\n")
	expect.File(t, filepath.Join(dir, "none-of-full.yaml"), placementOf+"metadata: {name: full, namespace: team-a}\nspec: {numberOfClusters: 0}\n")
	expect.File(t, filepath.Join(dir, "refused.yaml"), "apiVersion: cluster.open-cluster-management.io/v1\nkind: ManagedCluster\n"+
		"metadata: {name: a.b.c, labels: {cluster.open-cluster-management.io/clusterset: default}}\n")
	const all, added, limited = "objects: {placement: team-a/all}, ", "objects: {placement: team-a/new}, ", "objects: {placement: team-a/limited}, "
	for _, test := range []struct {
		reason, content string
		args            []string
		code            int
		stdout, stderr  string
	}{
		{"all hold", testCase("one", all+"expect: {selected: {exactly: [c1]}}"), nil, 0, "1 case: 1 hold\n", ""},
		{"--verbose lists those that hold", testCase("one", all+"expect: {selected: {exactly: [c1]}}"), []string{"--verbose"}, 0, "PASS        one (",
			""},
		{"one fails", testCase("one", all+"expect: {selected: {exactly: [c1, c2]}}"), nil, 1, "c2 is not selected", ""},
		{"a name that does not exist", testCase("one", all+"expect: {selected: {exactly: [c9]}}"), nil, 2, "there is no ManagedCluster c9",
			"could not be evaluated"},
		{"a mistake", testCase("one", all+"expect: {selectd: {}}"), nil, 2, "", "did you mean selected?"},
		{"no case", "# nothing\n", nil, 2, "", "there is no document of kind PlacementTest"},
		{"--run selects", testCase("one", all+"expect: {selected: {exactly: []}}") + testCase("two", all+"expect: {satisfied: true}"),
			[]string{"--run=^tw"}, 0, "1 case: 1 hold", ""},
		{"--run selects nothing", testCase("one", all+"expect: {satisfied: true}"), []string{"--run=x"}, 2, "", "no case has a name"},
		{"--run is no expression", testCase("one", all+"expect: {satisfied: true}"), []string{"--run=("}, 2, "", "is no regular expression"},
		{"an unknown format", testCase("one", all+"expect: {satisfied: true}"), []string{"-o", "xml"}, 2, "", `unknown format "xml"`},
		{"a file is applied", testCase("one", added+"when: {changed: [{apply: new.yaml}]}, expect: {selected: {exactly: [c1]}}"), nil, 0, "1 hold",
			""},
		{"a file changes a Placement", testCase("one", all+"when: {changed: [{apply: new.yaml}]}, expect: {selected: {atMost: 1}}"), nil, 0, "1 hold",
			""},
		{
			"clusters are added and replaced", testCase("one", all+"when: {changed: [{apply: fleet.yaml}]}, expect: {selected: {allOf: [c3]}}"), nil,
			0, "1 hold", "",
		},
		{
			"a binding is deleted", testCase("one",
				all+"when: {changed: [{delete: old.yaml}]}, expect: {because: [{cluster: c1, stage: OutOfScope}]}"), nil, 0, "1 hold", "",
		},
		{
			"PT17: a directory of new manifests replaces the old one",
			testCase("one", added+"when: {changed: [{apply: new, old: old}]}, expect: {selected: {exactly: [c1]}}"), nil, 0, "1 hold", "",
		},
		{
			"PT17: what the new manifests lack is deleted", testCase("one",
				all+"when: {changed: [{apply: new, old: old}]}, expect: {satisfied: true}"), nil,
			2, "there is no Placement team-a/all", "",
		},
		{
			"PT17: the old manifests are not those of the hub",
			testCase("one", added+"when: {changed: [{apply: new, old: gone.yaml}]}, expect: {satisfied: true}"), nil, 2,
			"spec.when.changed[0]: old: there is no Placement team-a/gone that could be deleted", "",
		},
		{"PT17: old manifests without new ones", testCase("one", added+"when: {changed: [{delete: new, old: old}]}, expect: {satisfied: true}"),
			nil, 2, "",
			"spec.when.changed[0].old: has the manifests before those of apply"},
		{"what is deleted does not exist", testCase("one", all+"when: {changed: [{delete: new.yaml}]}, expect: {satisfied: true}"), nil, 2,
			"there is no Placement team-a/new", ""},
		{"a file does not exist", testCase("one", all+"when: {changed: [{apply: none.yaml}]}, expect: {satisfied: true}"), nil, 2,
			"spec.when.changed[0]: apply: ", ""},
		{
			"PT17: admission refuses a cluster",
			testCase("one", all+"when: {changed: [{apply: refused.yaml}]}, expect: {selected: {allOf: [a.b.c]}}"),
			nil, 2, "ManagedCluster a.b.c: ", "could not be evaluated",
		},
		{
			"PT17: admission refuses a Placement", testCase("one", all+"when: {changed: [{apply: negative.yaml}]}, expect: {satisfied: true}"),
			nil, 2, "denied request: spec.numberOfClusters", "",
		},
		{
			"PT17: it is not known whether a field goes",
			testCase("one", limited+"when: {changed: [{apply: emptied.yaml}]}, expect: {selected: {exactly: []}}") +
				testCase("two", limited+"when: {changed: [{apply: emptied.yaml}]}, expect: {selected: {atMost: 2}}"),
			nil, 2, "it is not known how Placement team-a/limited is written", "2 cases: 1 hold",
		},
		{
			"PT17: fields of another manager with the values of the file are no conflict, also empty ones",
			testCase("one", "objects: {placement: team-a/full}, when: {changed: [{apply: full.yaml}]}, expect: {selected: {exactly: [c1]}}"),
			[]string{"--hub", full}, 0, "1 hold", "",
		},
		{
			"PT17: a second change is written over the first",
			testCase("one", "objects: {placement: team-a/full}, when: {changed: [{apply: full.yaml}, {apply: none-of-full.yaml}]}, "+
				"expect: {selected: {exactly: []}}"),
			[]string{"--hub", full}, 0, "1 hold", "",
		},
		{"JUnit", testCase("one", all+"expect: {satisfied: true}"), []string{"-o", "junit"}, 0, `<testsuites tests="1" failures="0" errors="0">`, ""},
		{"Markdown", testCase("one", all+"expect: {satisfied: true}"), []string{"-o", "markdown"}, 0, "### Placement tests: 1 case: 1 hold", ""},
	} {
		file := expect.File(t, filepath.Join(dir, "cases.yaml"), test.content)
		var out, errs bytes.Buffer
		args := append([]string{"test", "-f", file, "--hub", clusters, "--hub", hub}, test.args...)
		code := execute(t.Context(), args, &out, &errs)
		if code != test.code || !strings.Contains(out.String(), test.stdout) || !strings.Contains(errs.String(), test.stderr) {
			t.Errorf("PT11: %s: exit code %d instead of %d\n%s\n%s", test.reason, code, test.code, out.String(), errs.String())
		}
	}
}

// The objects of the hub may be in the files of the cases.
func TestTestCommandInOneFile(t *testing.T) {
	content := simulatedClusters + "---\n" + simulatedPlacements + testCase("one",
		"objects: {placement: team-a/all}, expect: {selected: {exactly: [c1]}}")
	var out, errs bytes.Buffer
	if code := executeWithInput(t, content, []string{"test", "-f", "-", "-o", "json"}, &out, &errs); code != 0 {
		t.Fatalf("PT1: exit code %d: %s", code, errs.String())
	}
	var results evaluate.Results
	if err := json.Unmarshal(out.Bytes(), &results); err != nil || results.Summary.Passed != 1 || results.Cases[0].Line != 24 {
		t.Errorf("PT1: %v: %+v", err, results)
	}
}

func TestTestSchema(t *testing.T) {
	var out, errs bytes.Buffer
	if code := execute(t.Context(), []string{"test", "--schema"}, &out, &errs); code != 0 || !json.Valid(out.Bytes()) {
		t.Errorf("PT2: exit code %d: %s", code, errs.String())
	}
}

func TestTestRecord(t *testing.T) {
	dir := t.TempDir()
	clusters := expect.File(t, filepath.Join(dir, "clusters.yaml"), simulatedClusters)
	hub := expect.File(t, filepath.Join(dir, "placements.yaml"), simulatedPlacements)
	file := filepath.Join(dir, "recorded.yaml")
	for _, args := range [][]string{{"--record", file}, {"-f", file, "--record", file}, {"-f", file}} {
		var out, errs bytes.Buffer
		if code := execute(t.Context(), append([]string{"test", "--hub", clusters, "--hub", hub}, args...), &out, &errs); code != 0 {
			t.Errorf("PT13: %v: exit code %d: %s%s", args, code, out.String(), errs.String())
		}
	}
}
