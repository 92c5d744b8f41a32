// SPDX-License-Identifier: Apache-2.0

package affinityclass

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// ChartAnnotation is on the CustomResourceDefinition of an application kind whose HelmReleases the hub creates. It has the JSON of their
// spec.chartRef.
const ChartAnnotation = "apps.cozystack.io/chart-ref"

// Application is what the hub reads of an application.
type Application struct {
	Kind            schema.GroupVersionKind
	Namespace, Name string
	UID             types.UID
	Spec            map[string]any
}

// CreateRelease returns the HelmRelease that the hub creates for an application without one, by the chart of the annotation of its kind:
// docs/spec/affinity-class.md 1.1. It shares the values of the spec.
func (a *Application) CreateRelease(chart string, release Release) (*unstructured.Unstructured, error) {
	var chartRef map[string]any
	if err := json.Unmarshal([]byte(chart), &chartRef); err != nil {
		return nil, fmt.Errorf("annotation %s of the CustomResourceDefinition of %s: %w", ChartAnnotation, a.Kind.Kind, err)
	}
	if chartRef == nil {
		return nil, fmt.Errorf("annotation %s of the CustomResourceDefinition of %s is null", ChartAnnotation, a.Kind.Kind)
	}
	values := a.Values()
	if release.Scheduling != nil {
		values[schedulingValue] = release.Scheduling
	}
	created := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"chartRef": chartRef,
		"interval": "5m",
		"values":   values,
		"valuesFrom": []any{
			map[string]any{"kind": "Secret", "name": ValuesSecret},
		},
	}}}
	created.SetGroupVersionKind(ReleaseKind)
	created.SetNamespace(a.Namespace)
	created.SetName(strings.ToLower(a.Kind.Kind) + "-" + a.Name)
	labels := ReleaseLabels(a.Kind.Group, a.Kind.Kind, a.Name)
	if release.Class != "" {
		labels[ClassLabel] = release.Class
	}
	created.SetLabels(labels)
	created.SetAnnotations(map[string]string{ResolvedAnnotation: release.Record})
	created.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: a.Kind.GroupVersion().String(), Kind: a.Kind.Kind, Name: a.Name, UID: a.UID,
	}})

	return created, nil
}

// Values returns the values of a HelmRelease that the hub has created: the spec without the class. The map is new.
func (a *Application) Values() map[string]any {
	values := maps.Clone(a.Spec)
	if values == nil {
		values = map[string]any{}
	}
	delete(values, classField)
	return values
}

// Created reports whether the hub has created a HelmRelease for the application: it is known by its ownerReference.
func (a *Application) Created(release metav1.Object) bool {
	for _, owner := range release.GetOwnerReferences() {
		if owner.UID == a.UID {
			return true
		}
	}
	return false
}

// ChooseRelease returns the only one of the HelmReleases with the labels of an application. Without one, and unless the hub can create it, or
// with several, the result is nil and the reason why.
func ChooseRelease(found []*unstructured.Unstructured, creatable bool) (release *unstructured.Unstructured, reason string) {
	switch {
	case len(found) == 1:
		return found[0], ""
	case len(found) > 1:
		return nil, ReasonReleaseAmbiguous
	case creatable:
		return nil, ""
	default:
		return nil, ReasonReleaseNotFound
	}
}
