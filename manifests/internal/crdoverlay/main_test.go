// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const widgets = `---
spec:
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        properties:
          spec:
            properties:
              name:
                maxLength: 63
                type: string
`

func TestRun(t *testing.T) {
	got, err := overlaid(t, widgets, "{properties: {spec: {required: [name], properties: {name: {minLength: 1, maxLength: 63}}}}}")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(widgets, "                type: string\n", "                minLength: 1\n                type: string\n"+
		"            required:\n            - name\n", 1)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what the overlay has more is added, the rest stays (-want +got):\n%s", diff)
	}
}

func TestRunErrors(t *testing.T) {
	cases := []struct{ name, reason, crd, overlay, want string }{
		{
			"misspelt", "a rule for a field that is not there would be a rule for nothing",
			widgets, "{properties: {spec: {properties: {nam: {minLength: 1}}}}}",
			".properties.spec.properties.nam is not in the schema: correct the overlay or the Go type",
		},
		{
			"contradicts a marker", "the marker would be a lie",
			widgets, "{properties: {spec: {properties: {name: {maxLength: 64}}}}}",
			".properties.spec.properties.name.maxLength is 63 already, and would become 64: remove it from the overlay or from the markers",
		},
		{"no definition", "the wrong file", "kind: Namespace", "{}", "not a CustomResourceDefinition: it has no spec.versions"},
		{"no schema", "the wrong file", "spec: {versions: [{name: v1}]}", "{}", "version v1 has no schema.openAPIV3Schema"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			got, err := overlaid(t, tc.crd, tc.overlay)
			if err == nil || !strings.HasSuffix(err.Error(), tc.want) {
				t.Errorf("error = %v, want %q: %s", err, tc.want, tc.reason)
			}
			if got != tc.crd {
				t.Errorf("the file was changed:\n%s", got)
			}
		})
	}
}

// overlaid returns the definition after run.
func overlaid(t *testing.T, crd, overlay string) (string, error) {
	t.Helper()
	directory := t.TempDir()
	crdFile, overlayFile := filepath.Join(directory, "crd.yaml"), filepath.Join(directory, "overlay.yaml")
	for file, content := range map[string]string{crdFile: crd, overlayFile: overlay} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	failure := run(crdFile, overlayFile)
	content, err := os.ReadFile(crdFile)
	if err != nil {
		t.Fatal(err)
	}
	return string(content), failure
}
