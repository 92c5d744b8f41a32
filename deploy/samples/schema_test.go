// SPDX-License-Identifier: Apache-2.0

package samples

import (
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/placement-hub/placement-hub/manifests"
)

// definition checks objects of one kind as the API server would.
type definition struct {
	namespaced bool
	structural *structuralschema.Structural
	validator  validation.SchemaValidator
}

// definitions returns the definitions that the manifests and the samples of Pods install, by what they serve.
func definitions(t *testing.T) map[schema.GroupVersionKind]definition {
	t.Helper()
	objs, err := manifests.Objects()
	if err != nil {
		t.Fatal(err)
	}
	for _, system := range []string{manifests.PodScheduling, manifests.AffinityClass, manifests.ClusterRequest} {
		of, err := manifests.System(system, "")
		if err != nil {
			t.Fatal(err)
		}
		objs = append(objs, of...)
	}
	objs = append(objs, decode(t, PodsDefinitions)...)
	found := map[schema.GroupVersionKind]definition{}
	for _, obj := range objs {
		if obj.GetKind() != "CustomResourceDefinition" {
			continue
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, &crd); err != nil {
			t.Fatalf("%s: %v", obj.GetName(), err)
		}
		for _, version := range crd.Spec.Versions {
			gvk := schema.GroupVersionKind{Group: crd.Spec.Group, Version: version.Name, Kind: crd.Spec.Names.Kind}
			definition := compile(t, gvk, version.Schema)
			definition.namespaced = crd.Spec.Scope == apiextensionsv1.NamespaceScoped
			found[gvk] = definition
		}
	}
	return found
}

func compile(t *testing.T, gvk schema.GroupVersionKind, versioned *apiextensionsv1.CustomResourceValidation) definition {
	t.Helper()
	var internal apiextensions.CustomResourceValidation
	err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(versioned, &internal, nil)
	if err != nil {
		t.Fatalf("%s: %v", gvk, err)
	}
	structural, err := structuralschema.NewStructural(internal.OpenAPIV3Schema)
	if err != nil {
		t.Fatalf("%s: %v", gvk, err)
	}
	validator, _, err := validation.NewSchemaValidator(internal.OpenAPIV3Schema)
	if err != nil {
		t.Fatalf("%s: %v", gvk, err)
	}
	return definition{structural: structural, validator: validator}
}

// problems returns what the API server would reject about obj, and the fields that it would silently drop.
func (d definition) problems(obj *unstructured.Unstructured) []string {
	var problems []string
	if d.namespaced != (obj.GetNamespace() != "") {
		problems = append(problems, "metadata.namespace does not fit the scope of its kind")
	}
	content := obj.DeepCopy().Object
	options := structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	for _, path := range pruning.PruneWithOptions(content, d.structural, true, options) {
		problems = append(problems, "unknown field "+path)
	}
	defaulting.Default(content, d.structural)
	for _, err := range validation.ValidateCustomResource(nil, content, d.validator) {
		problems = append(problems, err.Error())
	}
	for _, err := range listtype.ValidateListSetsAndMaps(nil, d.structural, content) {
		problems = append(problems, err.Error())
	}
	return problems
}

// A check that finds nothing proves nothing unless it can find something.
func TestProblemsAreFound(t *testing.T) {
	gvk := schema.FromAPIVersionAndKind("cluster.open-cluster-management.io/v1beta1", "Placement")
	placement, found := definitions(t)[gvk]
	if !found {
		t.Fatal(&meta.NoKindMatchError{GroupKind: gvk.GroupKind()})
	}
	cases := []struct {
		name, reason string
		spec         map[string]any
	}{
		{"unknown field", "a misspelt field is dropped by the API server", map[string]any{"numberOfCluster": int64(3)}},
		{"wrong type", "the schema says integer", map[string]any{"numberOfClusters": "3"}},
		{"enum", "the schema lists the effects", map[string]any{"tolerations": []any{map[string]any{"effect": "Never"}}}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			obj := &unstructured.Unstructured{Object: map[string]any{"spec": tc.spec}}
			obj.SetGroupVersionKind(gvk)
			obj.SetNamespace("team-a")
			obj.SetName("broken")
			if got := placement.problems(obj); len(got) != 1 {
				t.Errorf("problems = %q, want one: %s", got, tc.reason)
			}
		})
	}
}
