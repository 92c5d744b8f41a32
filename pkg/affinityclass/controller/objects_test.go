// SPDX-License-Identifier: Apache-2.0

package controller

import (
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
)

func class(name string) *cozystackv1alpha1.AffinityClass {
	class := &cozystackv1alpha1.AffinityClass{}
	class.Name, class.Finalizers = name, []string{cozystackv1alpha1.InUseFinalizer}
	class.Spec.NodeSelector = map[string]cozystackv1alpha1.NodeLabelValue{zone: cozystackv1alpha1.NodeLabelValue(name)}
	return class
}

func tenant(namespace, name, class string, allowed ...string) *appsv1alpha1.Tenant {
	tenant := &appsv1alpha1.Tenant{}
	tenant.Namespace, tenant.Name, tenant.UID = namespace, name, types.UID(namespace+"/"+name)
	tenant.Spec.DefaultAffinityClass, tenant.Spec.AllowedAffinityClasses = class, allowed
	return tenant
}

func namespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// application returns an application with a class; empty for none.
func application(of schema.GroupVersionKind, namespace, name, class string) *unstructured.Unstructured {
	object := newObject(of)
	object.SetNamespace(namespace)
	object.SetName(name)
	object.SetUID(types.UID(namespace + "/" + name))
	spec := map[string]any{"replicas": int64(1)}
	if class != "" {
		spec["affinityClass"] = class
	}
	object.Object["spec"] = spec
	return object
}

// release returns the HelmRelease of an application, with a label that the platform has set.
func release(name string, of *unstructured.Unstructured) *unstructured.Unstructured {
	object := newObject(affinityclass.ReleaseKind)
	object.SetNamespace(of.GetNamespace())
	object.SetName(name)
	labels := affinityclass.ReleaseLabels(of.GroupVersionKind().Group, of.GetKind(), of.GetName())
	labels["platform"] = "keeps"
	object.SetLabels(labels)
	object.Object["spec"] = map[string]any{"interval": "1m", "values": map[string]any{"kept": "yes"}}
	return object
}

// definition returns an established CustomResourceDefinition of applications.
func definition(kind, plural string, status bool) *apiextensionsv1.CustomResourceDefinition {
	unknown := true
	version := apiextensionsv1.CustomResourceDefinitionVersion{
		Name: "v1alpha1", Served: true, Storage: true,
		Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{XPreserveUnknownFields: &unknown}},
	}
	if status {
		version.Subresources = &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}}
	}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + "." + appsv1alpha1.GroupName},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: appsv1alpha1.GroupName, Scope: apiextensionsv1.NamespaceScoped,
			Names:    apiextensionsv1.CustomResourceDefinitionNames{Kind: kind, Plural: plural},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{version},
		},
		Status: apiextensionsv1.CustomResourceDefinitionStatus{Conditions: []apiextensionsv1.CustomResourceDefinitionCondition{
			{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue},
		}},
	}
}
