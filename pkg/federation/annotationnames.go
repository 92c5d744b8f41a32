// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// annotationPrefixes begin the names of annotations that users write for the hub, and of no others.
var annotationPrefixes = []string{"federation.kubernetes.io/", "federation.alpha.kubernetes.io/"}

// formerAnnotations are annotations of Federation v1 (Kubernetes 1.7 and 1.8) that have no effect here. Objects that come from there have them.
var formerAnnotations = []string{
	"federation.kubernetes.io/job-preferences", "federation.kubernetes.io/hpa-target-cluster-list", "federation.kubernetes.io/service-ingresses",
	"federation.kubernetes.io/cluster-role-name", "federation.kubernetes.io/servive-account-name",
	"federation.alpha.kubernetes.io/federation-name", "federation.alpha.kubernetes.io/cluster-name",
}

// IsAnnotation reports whether the name of an annotation has a prefix of those of the hub.
func IsAnnotation(name string) bool {
	return slices.ContainsFunc(annotationPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// HasFormerMeaning reports whether an annotation had an effect in Federation v1 only.
func HasFormerMeaning(name string) bool { return slices.Contains(formerAnnotations, name) }

// UnknownAnnotation returns what is wrong with the name of an annotation, which is neither one of the hub nor one of Federation v1; empty if nothing
// is.
func UnknownAnnotation(name string) string {
	if !IsAnnotation(name) || slices.Contains(objectAnnotations, name) || HasFormerMeaning(name) {
		return ""
	}
	if similar := similarAnnotation(name); similar != "" {
		return "is unknown; did you mean " + similar + "? Correct its name, or remove it"
	}
	return "is unknown; correct its name, or remove it"
}

// similarAnnotation returns the annotation of the hub that may be meant by a name: the one with the same name after another prefix, or else one with
// few typing errors; empty if there is none.
func similarAnnotation(name string) string {
	bases, byBase := make([]string, 0, len(objectAnnotations)), make(map[string]string, len(objectAnnotations))
	for _, known := range objectAnnotations {
		base := known[strings.Index(known, "/")+1:]
		bases, byBase[base] = append(bases, base), known
	}
	return byBase[Similar(name[strings.Index(name, "/")+1:], bases)]
}

// CheckNames returns an error for each annotation of an object whose name is unknown, sorted by name. One of them may be a misspelt
// SelectorAnnotation, without which the object would be delivered to all clusters.
func CheckNames(annotations map[string]string) error {
	var mistakes []error
	for _, name := range slices.Sorted(maps.Keys(annotations)) {
		if text := UnknownAnnotation(name); text != "" {
			mistakes = append(mistakes, fmt.Errorf("annotation %s: %s", name, text))
		}
	}
	return errors.Join(mistakes...)
}
