// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/cluster-inventory-api/client/clientset/versioned"
	"sigs.k8s.io/yaml"

	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/test/program"
)

// The repository is two directories up.
const repository = "../.."

// profileDefinitions are the definitions of multicluster.x-k8s.io.
const profileDefinitions = "manifests/multicluster/multicluster.x-k8s.io_*.yaml"

// plane is an API server without objects.
type plane struct {
	*localplane.ControlPlane

	dynamic  dynamic.Interface
	profiles versioned.Interface
}

// startPlane starts an API server that ends with the test, and creates the definitions in files of the repository.
func startPlane(t *testing.T, o localplane.Options, patterns ...string) *plane {
	t.Helper()
	started, err := localplane.Start(t.Context(), o)
	program.Must(t, err)
	t.Cleanup(func() { program.Must(t, started.Stop()) })
	p := &plane{ControlPlane: started}
	config := p.config()
	p.dynamic, err = dynamic.NewForConfig(config)
	program.Must(t, err)
	p.profiles, err = versioned.NewForConfig(config)
	program.Must(t, err)
	for _, pattern := range patterns {
		p.define(t, pattern)
	}
	return p
}

// config is for a client without a limit of its own.
func (p *plane) config() *rest.Config {
	config := p.AdminConfig()
	config.QPS, config.Burst = -1, 0
	return config
}

// kubeconfig returns the path of a kubeconfig with all rights.
func (p *plane) kubeconfig(t *testing.T) string {
	t.Helper()
	content, err := localplane.Kubeconfig(p.AdminConfig())
	program.Must(t, err)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	program.Must(t, os.WriteFile(file, content, 0o600))
	return file
}

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// define creates the definitions in files of the repository, and waits until they are served.
func (p *plane) define(t *testing.T, pattern string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(repository, pattern))
	program.Must(t, err)
	if len(files) == 0 {
		t.Fatalf("no file is %s", pattern)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		program.Must(t, err)
		definition := &unstructured.Unstructured{}
		program.Must(t, yaml.Unmarshal(content, &definition.Object))
		_, err = p.dynamic.Resource(definitions).Create(t.Context(), definition, metav1.CreateOptions{})
		program.Must(t, err)
		p.awaitServed(t, definition)
	}
}

// awaitServed waits until the objects of a definition can be listed.
func (p *plane) awaitServed(t *testing.T, definition *unstructured.Unstructured) {
	t.Helper()
	group, _, err := unstructured.NestedString(definition.Object, "spec", "group")
	program.Must(t, err)
	plural, _, err := unstructured.NestedString(definition.Object, "spec", "names", "plural")
	program.Must(t, err)
	versions, _, err := unstructured.NestedSlice(definition.Object, "spec", "versions")
	program.Must(t, err)
	version, isObject := versions[len(versions)-1].(map[string]any)
	if !isObject {
		t.Fatalf("%s has no version", definition.GetName())
	}
	name, _, err := unstructured.NestedString(version, "name")
	program.Must(t, err)
	program.Eventually(t, "waiting for "+definition.GetName()+" to be served", func() error {
		served := schema.GroupVersionResource{Group: group, Version: name, Resource: plural}
		_, err := p.dynamic.Resource(served).List(t.Context(), metav1.ListOptions{})
		return err
	})
}

// patchDefinition changes the definition of PlacementDecisions by a JSON patch.
func (p *plane) patchDefinition(t *testing.T, operations ...map[string]any) {
	t.Helper()
	patch, err := json.Marshal(operations)
	program.Must(t, err)
	const name = "placementdecisions.multicluster.x-k8s.io"
	_, err = p.dynamic.Resource(definitions).Patch(t.Context(), name, types.JSONPatchType, patch, metav1.PatchOptions{})
	program.Must(t, err)
}
