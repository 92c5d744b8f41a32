// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/placement-hub/placement-hub/deploy"
	"github.com/placement-hub/placement-hub/manifests"
)

// TestManifestsAreTheKustomizations compares what `placement manifests` prints with the kustomizations of the same choices.
func TestManifestsAreTheKustomizations(t *testing.T) {
	type choice struct {
		name                  string
		chosen                deploy.Choices
		resources, components []string
	}
	const base, overlay = "deploy/base", "deploy/overlays/beside-upstream"

	choices := []choice{
		{name: "base", resources: []string{base}},
		{
			name: "without taints", chosen: deploy.Choices{WithoutTaints: true},
			resources: []string{base}, components: []string{"deploy/components/without-taints"},
		},
		{
			name: "without FlowSchemas", chosen: deploy.Choices{WithoutFlowSchemas: true},
			resources: []string{base}, components: []string{"deploy/components/without-flowschemas"},
		},
		{name: "beside upstream", chosen: deploy.Choices{BesideUpstream: true}, resources: []string{overlay}},
		{
			name: "with ManifestWorks", chosen: deploy.Choices{ManifestWorks: true},
			resources: []string{base, "manifests/manifestworks"},
		},
	}
	all := choice{name: "all systems", chosen: deploy.Choices{Systems: manifests.Systems()}, resources: []string{base}}

	for _, system := range manifests.Systems() {
		component := "deploy/components/" + system
		all.components = append(all.components, component)
		choices = append(choices, choice{
			name: system, chosen: deploy.Choices{Systems: []string{system}}, resources: []string{base}, components: []string{component},
		}, choice{
			name: system + " beside upstream", chosen: deploy.Choices{BesideUpstream: true, Systems: []string{system}},
			resources: []string{overlay}, components: []string{component},
		})
	}

	for _, c := range append(choices, all) {
		t.Run(c.name, func(t *testing.T) {
			want := byName(kustomize(t, c.resources, c.components))
			if diff := cmp.Diff(want, byName(decode(t, printed(t, c.chosen)))); diff != "" {
				t.Errorf("what is printed (+) differs from the kustomization (-):\n%s", diff)
			}
		})
	}
}

// byName returns the contents of objects by their names. The status of a definition belongs to the API server.
func byName(objects []*unstructured.Unstructured) map[string]any {
	contents := map[string]any{}
	for _, object := range objects {
		unstructured.RemoveNestedField(object.Object, "status")
		contents[describe(object)] = joinLines(object.Object)
	}
	return contents
}

// printed returns what `placement manifests` prints.
func printed(t *testing.T, chosen deploy.Choices) string {
	t.Helper()
	objects, err := deploy.Objects(chosen)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := deploy.Print(&text, objects); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// TestManifestsAreAppliedTwice applies all that `placement manifests` can print to an empty API server. Applying it again changes nothing.
func TestManifestsAreAppliedTwice(t *testing.T) {
	c := startCluster(t, helm4)
	text := printed(t, deploy.Choices{Systems: manifests.Systems(), ManifestWorks: true})
	file := filepath.Join(t.TempDir(), "hub.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	apply := func() {
		kubectl(t, "apply", "--server-side", "--kubeconfig", c.kubeconfig, "--cache-dir", t.TempDir(), "--filename", file)
	}
	apply()

	objects := slices.DeleteFunc(decode(t, text), func(object *unstructured.Unstructured) bool {
		// With the second apply, the API server records the owners of fields of a Namespace of which no field was applied.
		return object.GetKind() == "Namespace"
	})
	before := c.states(t, objects)
	if len(before) != len(objects) {
		t.Fatalf("%d of %d objects are there", len(before), len(objects))
	}
	apply()

	if diff := cmp.Diff(before, c.states(t, objects)); diff != "" {
		t.Errorf("applied again (-before +after):\n%s", diff)
	}
}
