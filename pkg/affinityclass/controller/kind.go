// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
)

// tenantKind is the only kind of its group that is no application.
const tenantKind = "Tenant"

// kind is what the hub reads of the CustomResourceDefinition of an application kind.
type kind struct {
	schema.GroupVersionKind
	// definition is the name of the CustomResourceDefinition.
	definition string
	// chart is the value of affinityclass.ChartAnnotation; empty if the hub creates no HelmReleases.
	chart string
	// conditions says that the API server keeps status.conditions.
	conditions bool
}

// definesApplications reports whether the name is that of a CustomResourceDefinition of the group of applications.
func definesApplications(definition client.Object) bool {
	return strings.HasSuffix(definition.GetName(), "."+appsv1alpha1.GroupName)
}

// kindOf returns the application kind of a CustomResourceDefinition; false if it is not established or not of applications.
func kindOf(definition *apiextensionsv1.CustomResourceDefinition) (kind, bool) {
	spec := &definition.Spec
	if spec.Group != appsv1alpha1.GroupName || spec.Names.Kind == tenantKind || spec.Scope != apiextensionsv1.NamespaceScoped ||
		!established(definition) {
		return kind{}, false
	}
	version := servedVersion(spec.Versions)
	if version == nil {
		return kind{}, false
	}
	return kind{
		GroupVersionKind: schema.GroupVersionKind{Group: spec.Group, Version: version.Name, Kind: spec.Names.Kind},
		definition:       definition.Name,
		chart:            definition.Annotations[affinityclass.ChartAnnotation],
		conditions:       keepsConditions(version),
	}, true
}

func established(definition *apiextensionsv1.CustomResourceDefinition) bool {
	for _, condition := range definition.Status.Conditions {
		if condition.Type == apiextensionsv1.Established {
			return condition.Status == apiextensionsv1.ConditionTrue
		}
	}
	return false
}

// servedVersion returns the stored version if it is served, otherwise the first one that is; nil if none is.
func servedVersion(versions []apiextensionsv1.CustomResourceDefinitionVersion) *apiextensionsv1.CustomResourceDefinitionVersion {
	var served *apiextensionsv1.CustomResourceDefinitionVersion
	for i := range versions {
		if version := &versions[i]; version.Served && (served == nil || version.Storage) {
			served = version
		}
	}
	return served
}

// keepsConditions reports whether a version has a status subresource whose schema does not prune status.conditions. A condition that is
// pruned would be written again and again.
func keepsConditions(version *apiextensionsv1.CustomResourceDefinitionVersion) bool {
	if version.Subresources == nil || version.Subresources.Status == nil || version.Schema == nil || version.Schema.OpenAPIV3Schema == nil {
		return false
	}
	schema := version.Schema.OpenAPIV3Schema

	for _, field := range []string{"status", "conditions"} {
		next, found := schema.Properties[field]
		if !found {
			return ptr.Deref(schema.XPreserveUnknownFields, false)
		}
		schema = &next
	}
	return true
}

// newObject returns an empty object of a kind.
func newObject(of schema.GroupVersionKind) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(of)
	return object
}

// newList returns an empty list of objects of a kind.
func newList(of schema.GroupVersionKind) *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(of.GroupVersion().WithKind(of.Kind + "List"))
	return list
}

// Compact drops what the controllers do not read of an object before it is cached: the status and most of the spec of a HelmRelease, and the
// schemas of definitions of other groups.
func Compact(object any) {
	switch object := object.(type) {
	case *unstructured.Unstructured:
		if object.GroupVersionKind() == affinityclass.ReleaseKind {
			compactRelease(object)
		}
	case *apiextensionsv1.CustomResourceDefinition:
		if object.Spec.Group != appsv1alpha1.GroupName {
			object.Spec.Versions = nil
		}
	}
}

func compactRelease(release *unstructured.Unstructured) {
	delete(release.Object, "status")
	if spec, isMap := release.Object["spec"].(map[string]any); isMap {
		kept := map[string]any{}
		if values, found := spec["values"]; found {
			kept["values"] = values
		}
		release.Object["spec"] = kept
	}
}
