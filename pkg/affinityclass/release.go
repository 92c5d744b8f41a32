// SPDX-License-Identifier: Apache-2.0

package affinityclass

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime/schema"

	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
)

// The labels and annotations of a HelmRelease.
const (
	// ClassLabel has the name of the class of an application.
	ClassLabel = "apps.cozystack.io/affinity-class"
	// ResolvedAnnotation has the Record.
	ResolvedAnnotation = "apps.cozystack.io/affinity-class-resolved"

	applicationGroupLabel = "apps.cozystack.io/application.group"
	applicationKindLabel  = "apps.cozystack.io/application.kind"
	applicationNameLabel  = "apps.cozystack.io/application.name"
)

// schedulingValue is the key of the values of a HelmRelease that charts render into pod templates.
const schedulingValue = "_scheduling"

// Release is what the HelmRelease of an application has to have.
type Release struct {
	// Class is the value of ClassLabel; empty for no label.
	Class string
	// Record is the value of ResolvedAnnotation.
	Record string
	// Scheduling is spec.values._scheduling; nil for no such value.
	Scheduling map[string]any
}

// NewRelease returns what follows from a resolution without a refusal.
func NewRelease(resolution Resolution) Release {
	release := Release{Class: resolution.Record.Class, Record: resolution.Record.String()}
	if class := resolution.Class; class != nil {
		release.Scheduling = map[string]any{classField: class.Name, "nodeSelector": nodeSelector(class)}
	}
	return release
}

func nodeSelector(class *cozystackv1alpha1.AffinityClass) map[string]any {
	selector := make(map[string]any, len(class.Spec.NodeSelector))
	for key, value := range class.Spec.NodeSelector {
		selector[key] = string(value)
	}
	return selector
}

// InStep reports whether a HelmRelease with these labels, annotations and values has exactly what it has to have. Whatever else it has
// does not matter.
func (r Release) InStep(labels, annotations map[string]string, values map[string]any) bool {
	class, labelled := labels[ClassLabel]
	scheduling, scheduled := values[schedulingValue]
	if labelled != (r.Class != "") || class != r.Class || annotations[ResolvedAnnotation] != r.Record || scheduled != (r.Scheduling != nil) {
		return false
	}
	return r.Scheduling == nil || reflect.DeepEqual(scheduling, any(r.Scheduling))
}

// The reasons of an application without a HelmRelease to write.
const (
	ReasonReleaseNotFound  = "ReleaseNotFound"
	ReasonReleaseAmbiguous = "ReleaseAmbiguous"
)

// ReleaseLabels returns the labels by which the HelmRelease of an application is found.
func ReleaseLabels(group, kind, name string) map[string]string {
	return map[string]string{applicationGroupLabel: group, applicationKindLabel: kind, applicationNameLabel: name}
}

// ApplicationOf returns the kind and the name of the application whose HelmRelease has these labels; false if they are those of none.
func ApplicationOf(labels map[string]string) (kind schema.GroupKind, name string, found bool) {
	kind = schema.GroupKind{Group: labels[applicationGroupLabel], Kind: labels[applicationKindLabel]}
	name = labels[applicationNameLabel]
	return kind, name, kind.Group != "" && kind.Kind != "" && name != ""
}

// ofApplication reports whether labels are those of the HelmRelease of an application.
func ofApplication(labels map[string]string) bool {
	_, _, found := ApplicationOf(labels)
	return found
}
