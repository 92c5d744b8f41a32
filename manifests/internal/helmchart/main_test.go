// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/placement-hub/placement-hub/manifests"
)

const (
	manifestsDirectory = "../.."
	deployDirectory    = "../../../deploy"
)

var chartDirectory = filepath.Join(deployDirectory, "charts", "placement-hub")

func TestChartIsUpToDate(t *testing.T) {
	chart := t.TempDir()
	if err := os.CopyFS(chart, os.DirFS(chartDirectory)); err != nil {
		t.Fatal(err)
	}
	before := contents(t, chart)

	// A file that no manifest leads to any more is removed.
	if err := os.WriteFile(filepath.Join(chart, "templates", "generated", "old.yaml"), []byte("a: b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writeTemplates(manifestsDirectory, deployDirectory, chart); err != nil {
		t.Fatal(err)
	}
	if err := writeValues(chart, manifests.Systems()); err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff(before, contents(t, chart)); diff != "" {
		t.Errorf("the chart is not up to date: run make generate (-is +generated):\n%s", diff)
	}
}

// contents returns the files of a directory by their paths.
func contents(t *testing.T, directory string) map[string]string {
	t.Helper()
	found := map[string]string{}

	err := filepath.WalkDir(directory, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		found[strings.TrimPrefix(path, directory)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	return found
}

func TestDocument(t *testing.T) {
	object := func(kind, namespace, name string, more map[string]any) *unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{"kind": kind}}
		o.SetName(name)
		o.SetNamespace(namespace)
		maps.Copy(o.Object, more)
		return o
	}
	for _, c := range []struct {
		reason    string
		condition string
		labels    bool
		object    *unstructured.Unstructured
		want      string
	}{
		{
			reason: "the namespace of the hub is that of the release", condition: always,
			object: object("Namespace", "", "open-cluster-management-hub", nil),
		},
		{
			reason: "another namespace is kept", condition: ".Values.a", object: object("Namespace", "", "b", nil),
			want: "{{- if .Values.a }}\n---\nkind: Namespace\nmetadata:\n  annotations:\n    helm.sh/resource-policy: keep\n  name: b\n{{- end }}\n",
		},
		{
			reason: "a ServiceAccount has a switch", condition: always,
			object: object("ServiceAccount", "open-cluster-management-hub", "placement-controller-sa", nil),
			want: "{{- if .Values.serviceAccount.create }}\n---\nkind: ServiceAccount\nmetadata:\n" +
				"  name: {{ .Values.serviceAccount.name | quote }}\n  namespace: {{ .Release.Namespace | quote }}\n{{- end }}\n",
		},
		{
			reason: "names inside of a text, and braces", condition: always,
			object: object("Other", "", "a", map[string]any{
				"user": "system:serviceaccount:open-cluster-management-hub:placement-controller-sa", "text": "{{ $value }}",
			}),
			want: "---\nkind: Other\nmetadata:\n  name: a\ntext: '{{ \"{{\" }} $value }}'\n" +
				"user: system:serviceaccount:{{ .Release.Namespace }}:{{ .Values.serviceAccount.name }}\n",
		},
		{
			reason: "a ServiceAccount of Open Cluster Management stays in its namespace", condition: always,
			object: object("RoleBinding", "", "a", map[string]any{"subjects": []any{
				map[string]any{"name": "placement-controller-sa", "namespace": "open-cluster-management-hub"},
				map[string]any{"name": "registration", "namespace": "open-cluster-management-hub"},
			}}),
			want: "---\nkind: RoleBinding\nmetadata:\n  name: a\nsubjects:\n- name: {{ .Values.serviceAccount.name | quote }}\n" +
				"  namespace: {{ .Release.Namespace | quote }}\n- name: registration\n  namespace: open-cluster-management-hub\n",
		},
		{
			reason: "labels of the values", condition: always, labels: true, object: object("Other", "", "a", nil),
			want: "---\nkind: Other\nmetadata:\n  labels:\n    {{- with .Values.monitoring.labels }}\n" +
				"    {{- toYaml . | nindent 4 }}\n    {{- end }}\n  name: a\n",
		},
		{
			reason: "a runbook on the dashboard of the values", condition: always,
			object: object("Other", "", "a", map[string]any{"runbook_url": "https://example.com/docs/runbooks/HubDown.md"}),
			want: "---\nkind: Other\nmetadata:\n  name: a\nrunbook_url: {{ with .Values.dashboard.url }}{{ trimSuffix \"/\" . }}/runbooks/HubDown" +
				"{{ else }}https://example.com/docs/runbooks/HubDown.md{{ end }}\n",
		},
		{
			reason: "a definition of a group that no other project owns", condition: ".Values.systems.toy",
			object: object("CustomResourceDefinition", "", "a", map[string]any{"spec": map[string]any{"group": "toy.example.com"}}),
			want: "{{- if and (.Values.systems.toy) .Values.crds.placementHub }}\n---\nkind: CustomResourceDefinition\nmetadata:\n" +
				"  annotations:\n    helm.sh/resource-policy: keep\n  name: a\nspec:\n  group: toy.example.com\n{{- end }}\n",
		},
		{
			reason: "a definition has the switch of its owner, and no status", condition: "not .Values.x",
			object: object("CustomResourceDefinition", "", "a", map[string]any{
				"spec": map[string]any{"group": "kupid.gardener.cloud"}, "status": map[string]any{"acceptedNames": "b"},
			}),
			want: "{{- if and (not .Values.x) .Values.crds.kupid }}\n---\nkind: CustomResourceDefinition\nmetadata:\n  annotations:\n" +
				"    helm.sh/resource-policy: keep\n  name: a\nspec:\n  group: kupid.gardener.cloud\n{{- end }}\n",
		},
	} {
		t.Run(c.reason, func(t *testing.T) {
			got, err := template{condition: c.condition, labels: c.labels}.document(c.object)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("document (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSystems adds a system to the values, and removes one.
func TestSystems(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(chartDirectory, "values.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	added, err := addSystems(text, append(manifests.Systems(), "toy"))
	if err != nil {
		t.Fatal(err)
	}

	if !json.Valid(added) || !strings.Contains(string(added), `"toy": {`) || len(added)-len(text) > 200 {
		t.Errorf("the schema with a system more:\n%s", cmp.Diff(string(text), string(added)))
	}
	if _, err := addSystems(added, manifests.Systems()); err == nil || !strings.Contains(err.Error(), "toy, which is no system") {
		t.Errorf("a system that is gone: %v", err)
	}
}

func TestValuesHaveDescriptionsAndDefaults(t *testing.T) {
	for _, c := range []struct{ reason, schema, want string }{
		{"no description", `{"properties": {"a": {"type": "string", "default": "b"}}}`, "the value a has no description"},
		{"no default", `{"properties": {"a": {"description": "A.", "properties": {"b": {"description": "B."}}}}}`, "the value a.b has no default"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			chart := t.TempDir()
			if err := os.WriteFile(filepath.Join(chart, "values.schema.json"), []byte(c.schema), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := writeValues(chart, nil); err == nil || err.Error() != c.want {
				t.Errorf("writeValues: %v, want %q", err, c.want)
			}
		})
	}
}
