#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# An entry of metadata.managedFields whose API version exists no more means different things for a custom resource and for a built-in kind.
#
# Versions:  k8s.io/apimachinery, k8s.io/apiextensions-apiserver and k8s.io/client-go v0.37.2, the packages of kube-apiserver 1.37.2.
# Input:     a live object with an entry of the manager "before" (Apply), in a version that the CustomResourceDefinition, or the API group, has
#            lost. The entry owns spec.paused. Then somebody applies the object in the version that there is, without spec.paused.
# Seen:      custom resource: no apply and no update of the entries is possible, by any manager, forced or not. It fails in the conversion:
#                request to convert CR to an invalid group/version: example.com/v1alpha1
#            built-in kind: the entry is dropped without a word and the apply succeeds. What it owned belongs to nobody from then on: the manager
#            "before", which applies without spec.paused now, has not removed the field.
# Expected:  the same for both, as both have the same API.
#
# The script needs Go 1.26 and a module proxy. It exits with 1 if the behaviour differs from what is written here.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

cat >go.mod <<'END'
module finding

go 1.26

require (
	k8s.io/api v0.37.2
	k8s.io/apiextensions-apiserver v0.37.2
	k8s.io/apimachinery v0.37.2
	k8s.io/client-go v0.37.2
)
END
cat >main.go <<'END'
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/conversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/kubernetes/scheme"
)

type creater struct{}

func (creater) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(gvk)
	return object, nil
}

type noDefaults struct{}

func (noDefaults) Default(runtime.Object) {}

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Println("unexpected:", err)
		os.Exit(1)
	}
	return value
}

func entries(object runtime.Object) string {
	accessor := object.(metav1.Object)
	var texts []string
	for _, entry := range accessor.GetManagedFields() {
		texts = append(texts, fmt.Sprintf("%s %s %s", entry.Manager, entry.Operation, entry.APIVersion))
	}
	return strings.Join(texts, ", ")
}

func entry(version string) []metav1.ManagedFieldsEntry {
	return []metav1.ManagedFieldsEntry{{
		Manager: "before", Operation: metav1.ManagedFieldsOperationApply, APIVersion: version, FieldsType: "FieldsV1",
		FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:spec":{"f:a":{},"f:paused":{}}}`)},
	}}
}

func custom() {
	gvk := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Demo"}
	crd := &apiextensionsv1.CustomResourceDefinition{Spec: apiextensionsv1.CustomResourceDefinitionSpec{
		Group: gvk.Group, Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: gvk.Kind, Plural: "demos"},
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true}},
		Conversion: &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter},
	}}
	factory := must(conversion.NewCRConverterFactory(nil, nil))
	converter, _, err := factory.NewConverter(crd)
	must(0, err)
	manager := must(managedfields.NewDefaultCRDFieldManager(
		managedfields.NewDeducedTypeConverter(), converter, noDefaults{}, creater{}, gvk, gvk.GroupVersion(), "", nil))

	object := func(a string) *unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"a": a}}}
		o.SetGroupVersionKind(gvk)
		o.SetName("demo")
		return o
	}
	live := object("one")
	live.SetManagedFields(entry("example.com/v1alpha1"))
	_, err = manager.Apply(live, object("two"), "after", true)
	fmt.Println("custom resource, apply:", err)
	changed := object("two")
	changed.SetManagedFields(live.GetManagedFields())
	_, err = manager.Update(live, changed, "after")
	fmt.Println("custom resource, update:", err)
}

func builtIn() {
	gvk := appsv1.SchemeGroupVersion.WithKind("Deployment")
	manager := must(managedfields.NewDefaultFieldManager(
		managedfields.NewDeducedTypeConverter(), scheme.Scheme, scheme.Scheme, scheme.Scheme, gvk, gvk.GroupVersion(), "", nil))
	live := &appsv1.Deployment{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}, ObjectMeta: metav1.ObjectMeta{Name: "demo"},
		Spec: appsv1.DeploymentSpec{Paused: true},
	}
	live.ManagedFields = entry("apps/v1alpha1")
	applied := &unstructured.Unstructured{}
	must(0, json.Unmarshal([]byte(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"demo"},"spec":{"replicas":2}}`), &applied.Object))
	result, err := manager.Apply(live, applied, "before", false)
	fmt.Println("built-in kind, apply:", err)
	if err == nil {
		fmt.Println("built-in kind, entries:", entries(result), "paused:", result.(*appsv1.Deployment).Spec.Paused)
	}
}

func main() {
	custom()
	builtIn()
}
END

cat >expected <<'END'
custom resource, apply: request to convert CR to an invalid group/version: example.com/v1alpha1
custom resource, update: failed to update ManagedFields (/demo; example.com/v1, Kind=Demo): request to convert CR to an invalid group/version: example.com/v1alpha1
built-in kind, apply: <nil>
built-in kind, entries: before Apply apps/v1 paused: true
END
go mod tidy 2>tidy.log || { cat tidy.log; exit 1; }
go run . >seen
cat seen
diff expected seen
