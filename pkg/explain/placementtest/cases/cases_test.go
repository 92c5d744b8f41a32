// SPDX-License-Identifier: Apache-2.0

package cases_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/pkg/explain/placementtest/cases"
)

const head = "apiVersion: placement-hub.open-cluster-management.io/v1alpha1\nkind: PlacementTest\n"

// caseOf returns a case with a spec in one line.
func caseOf(name, spec string) string {
	return head + "metadata: {name: " + name + "}\nspec: {" + spec + "}\n"
}

func read(t *testing.T, content string) (*cases.Reader, string) {
	t.Helper()
	reader := cases.NewReader()
	rest, _ := reader.Read("cases.yaml", []byte(content))
	return reader, string(rest)
}

func TestPT1CasesAreTakenOutOfAFile(t *testing.T) {
	const object = "kind: Placement\nmetadata: {name: p}\n"
	one := caseOf("one", "objects: {placement: a/p}, expect: {selected: {exactly: []}}")
	content := object + "---\n" + one + "---\n" + object
	reader, rest := read(t, content)
	if err := reader.Err(); err != nil {
		t.Fatal(err)
	}
	if len(reader.Cases) != 1 || reader.Cases[0].Line != 4 || reader.Cases[0].Spec.Expect.Selected.Exactly == nil {
		t.Errorf("PT1: got %+v", reader.Cases)
	}
	if strings.Count(rest, "\n") != strings.Count(content, "\n") {
		t.Errorf("PT1: the lines of the rest have moved:\n%s", rest)
	}
	if strings.Contains(rest, cases.Kind) || strings.Count(rest, "kind: Placement\n") != 2 {
		t.Errorf("PT1: the rest is\n%s", rest)
	}
	if _, objects := cases.NewReader().Read("f", []byte("# nothing\n---\n"+one)); objects {
		t.Error("PT1: a file with cases and comments alone has objects")
	}
	quoted := `{"apiVersion":"placement-hub.open-cluster-management.io/v1alpha1","kind":"PlacementTest","metadata":{"name":"j"},` +
		`"spec":{"objects":{"placement":"a/p"},"expect":{"satisfied":true}}}`
	reader, _ = read(t, quoted)
	if err := reader.Err(); err != nil || len(reader.Cases) != 1 {
		t.Errorf("PT1: JSON: %v, %d cases", err, len(reader.Cases))
	}
}

func TestPT2Mistakes(t *testing.T) {
	for _, test := range []struct{ reason, content, want string }{
		{
			"an unknown field has a suggestion", caseOf("c", "objects: {placement: a/p}, expect: {selekted: {atLeast: 1}}"),
			"cases.yaml:4:44: spec.expect.selekted: there is no such field; did you mean selected?",
		},
		{
			"a type is wrong", caseOf("c", "objects: {placement: a/p}, expect: {selected: {atLeast: '1'}}"),
			`cases.yaml:4:64: spec.expect.selected.atLeast: is the text "1", and has to be a whole number`,
		},
		{
			"null is no value", caseOf("c", "objects: {placement: }, expect: {satisfied: true}"),
			"cases.yaml:4:29: spec.objects.placement: is empty, and has to be text",
		},
		{
			"a value is below the minimum", caseOf("c", "objects: {placement: a/p}, when: {lost: {any: 0}}, expect: {satisfied: true}"),
			"cases.yaml:4:54: spec.when.lost.any: is 0, and has to be at least 1",
		},
		{
			"a value is no member of a list", caseOf("c", "objects: {placement: a/p}, expect: {because: [{cluster: x, stage: Taints}]}"),
			"spec.expect.because[0].stage: is \"Taints\", and has to be one of",
		},
		{"a required field is missing", head + "metadata: {name: c}\n", "cases.yaml:1:1: spec: is missing; add it"},
		{
			"a key is given twice", head + "metadata: {name: c}\nkind: PlacementTest\nspec: {objects: {placement: a/p}, expect: {satisfied: true}}\n",
			"already",
		},
		{"the YAML is broken", head + "metadata: {name: [}\n", "cases.yaml:2:1: not valid YAML"},
		{
			"two kinds of objects", caseOf("c", "objects: {placement: a/p, workload: Pod/a/b}, expect: {satisfied: true}"),
			"spec.objects.workload: placement and workload exclude each other",
		},
		{"no objects", caseOf("c", "objects: {}, expect: {satisfied: true}"), "spec.objects: has no value; give it one of placement, placements"},
		{"a name without a namespace", caseOf("c", "objects: {placement: p}, expect: {satisfied: true}"), `"p" is not of the form namespace/name`},
		{"nothing is expected", caseOf("c", "objects: {placement: a/p}, expect: {}"), "spec.expect: expects nothing"},
		{"nothing is expected of clusters", caseOf("c", "objects: {placement: a/p}, expect: {selected: {}}"),
			"spec.expect.selected: expects nothing"},
		{"an empty list", caseOf("c", "objects: {placement: a/p}, expect: {selected: {allOf: []}}"), "selected.allOf: is empty"},
		{"an empty order", caseOf("c", "objects: {placement: a/p}, expect: {order: []}"), "order: is empty"},
		{"no change", caseOf("c", "objects: {placement: a/p}, when: {changed: []}, expect: {satisfied: true}"), "spec.when.changed: changes nothing"},
		{
			"exactly says all", caseOf("c", "objects: {placement: a/p}, expect: {selected: {exactly: [x], atMost: 1}}"),
			"selected.exactly: says all that the others can; leave out atMost",
		},
		{
			"bounds exclude each other", caseOf("c", "objects: {placement: a/p}, expect: {selected: {atLeast: 2, atMost: 1}}"),
			"atLeast: is 2, more than atMost, which is 1",
		},
		{
			"moves need a change", caseOf("c", "objects: {placement: a/p}, expect: {moves: {atMost: 1}}"),
			"spec.expect.moves: counts what spec.when changes",
		},
		{
			"a Placement has no replicas", caseOf("c", "objects: {placement: a/p}, expect: {replicas: {x: {exactly: 1}}}"),
			"spec.expect.replicas: is not known of spec.objects.placement",
		},
		{
			"a change that is none", caseOf("c", "objects: {placement: a/p}, when: {changed: [{label: c7}]}, expect: {satisfied: true}"),
			`spec.when.changed[0].label: "c7" is not of the form c7:region=eu or c7:region-`,
		},
		{
			"a limit of nothing", caseOf("c", "objects: {placement: a/p}, when: {lost: {topology: region, limit: 3}}, expect: {satisfied: true}"),
			"spec.when.lost.limit: limits any and random",
		},
		{
			"a selector that is none",
			caseOf("c", "objects: {placement: a/p}, expect: {selected: {every: {matchExpressions: [{key: a, operator: Is}]}}}"),
			`"Is" is not a valid label selector operator`,
		},
		{
			"two cases have a name", caseOf("c", "objects: {placement: a/p}, expect: {satisfied: true}") + "---\n" +
				caseOf("c", "objects: {placement: a/p}, expect: {satisfied: true}"),
			"cases.yaml:8:12: metadata.name: c is the name of the case at cases.yaml:1 already; choose another name",
		},
	} {
		reader, _ := read(t, test.content)
		if err := reader.Err(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("PT2: %s: got %v, want %q", test.reason, err, test.want)
		}
	}
}

// TestSchema compares the schema with the one that docs/ has for editors.
func TestSchema(t *testing.T) {
	var got bytes.Buffer
	encoder := json.NewEncoder(&got)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(cases.NewSchema()); err != nil {
		t.Fatal(err)
	}
	const path = "../../../../docs/examples/placementtest.schema.json"
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("placement test --schema > %s brings it up to date (-file +code):\n%s", path, diff)
	}
}
