// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"fmt"
	"maps"
	"slices"

	"github.com/placement-hub/placement-hub/pkg/federation"
)

// maxWarnings, with maxConsequences, keeps all warnings of webhook.MaxWarningBytes at the 4096 bytes that an API server passes on at most.
const maxWarnings = 10

const namespaceKind = "Namespace"

// warningsOf returns what is wrong with the annotations of an object of a kind.
func warningsOf(kind string, annotations map[string]string) []string {
	var held []string
	if err := federation.CheckNames(annotations); err != nil && kind != namespaceKind {
		held = append(held, texts(err)...)
	}
	if _, err := federation.Choose(annotations, nil); err != nil {
		held = append(held, texts(err)...)
	}
	if _, err := federation.PreferencesOf(kind, annotations); err != nil {
		held = append(held, texts(err)...)
	}
	ignored := ignoredOf(kind, annotations)

	if more := len(held) + len(ignored) - maxWarnings; more > 0 {
		all := slices.Concat(held, ignored)
		held, ignored = all[:maxWarnings], []string{fmt.Sprintf("federation: %d more warnings", more)}
	}
	if len(held) > 0 {
		held = append(held, consequence(kind))
	}
	return append(held, ignored...)
}

// texts returns the texts of the errors that an error joins, or of the error itself.
func texts(err error) []string {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []string{err.Error()}
	}
	var all []string
	for _, each := range joined.Unwrap() {
		all = append(all, each.Error())
	}
	return all
}

func consequence(kind string) string {
	if kind == namespaceKind {
		return "federation: objects of the namespace without an annotation of their own are neither delivered nor withdrawn until this is corrected"
	}
	return "federation: the object is neither delivered nor withdrawn until this is corrected"
}

// ignoredOf returns a text for each annotation without an effect on an object of a kind, sorted by name.
func ignoredOf(kind string, annotations map[string]string) []string {
	var ignored []string
	for _, name := range slices.Sorted(maps.Keys(annotations)) {
		if !federation.IsAnnotation(name) || kind != namespaceKind && federation.UnknownAnnotation(name) != "" {
			continue
		}
		if text := effectOf(kind, name, annotations[name]); text != "" {
			ignored = append(ignored, "annotation "+name+": "+text)
		}
	}
	return ignored
}

// effectOf returns why an annotation has no effect on an object of a kind; "" if it has one.
func effectOf(kind, name, value string) string {
	switch name {
	case federation.SelectorAnnotation:
		return ""
	case federation.OrphanAnnotation, federation.PropagateDependenciesAnnotation:
		if name == federation.OrphanAnnotation && kind == namespaceKind {
			return "has no effect on a Namespace; annotate its objects"
		}
		if value != "true" && value != "false" {
			return fmt.Sprintf("%q has no effect; use \"true\", or remove the annotation", value)
		}
		return ""
	case federation.DeploymentPreferencesAnnotation, federation.ReplicaSetPreferencesAnnotation:
		if federation.PreferencesAnnotation(kind) != name {
			return "has no effect on a " + kind
		}
		return ""
	default:
		if unknown := federation.UnknownAnnotation(name); unknown != "" {
			return unknown
		}
		return "has no effect on this hub, as opposed to Federation v1"
	}
}
