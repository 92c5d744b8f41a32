// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// contents are the fields of Secrets and ConfigMaps that no evaluation reads.
var contents = []string{"data", "stringData", "binaryData"}

// programs are the fields of containers that no evaluation reads and that may have passwords.
var programs = []string{"env", "envFrom", "args", "command"}

// containerLists are the fields with containers.
var containerLists = []string{"containers", "initContainers", "ephemeralContainers"}

// copies are the annotations in which tools keep a copy of an object: kubectl, kapp, Rancher, Banzai Cloud's operators.
var copies = []string{
	corev1.LastAppliedConfigAnnotation, "kapp.k14s.io/original", "objectset.rio.cattle.io/applied", "banzaicloud.com/last-applied",
}

// Redact removes from an object what no evaluation reads: the contents of Secrets and ConfigMaps, and what containers are started with.
func Redact(object *unstructured.Unstructured) { redact(object.Object) }

// redact removes the contents of Secrets and ConfigMaps, and what containers are started with, from a value and from all objects inside of it.
// An object whose contents are removed loses the annotations in which tools keep a copy of it.
func redact(value any) {
	switch value := value.(type) {
	case map[string]any:
		hidden := redactContents(value)
		for _, name := range containerLists {
			hidden = redactContainers(value[name]) || hidden
		}
		if metadata, is := value["metadata"].(map[string]any); is {
			if annotations, is := metadata["annotations"].(map[string]any); is && (hidden || isTemplated(value)) {
				for _, name := range copies {
					delete(annotations, name)
				}
			}
		}
		for _, inner := range value {
			redact(inner)
		}
	case []any:
		for _, inner := range value {
			redact(inner)
		}
	}
}

// redactContents removes the contents of an object that is a Secret or a ConfigMap, and reports whether it is one.
func redactContents(object map[string]any) bool {
	if kind := object["kind"]; object["apiVersion"] != "v1" || kind != "Secret" && kind != "ConfigMap" {
		return false
	}
	for _, name := range contents {
		delete(object, name)
	}
	return true
}

// redactContainers removes what containers are started with, and reports whether the value is a list.
func redactContainers(value any) bool {
	list, is := value.([]any)
	for _, each := range list {
		if container, is := each.(map[string]any); is {
			for _, name := range programs {
				delete(container, name)
			}
		}
	}
	return is
}

// isTemplated reports whether an object has Pods, or other objects, inside of its spec, so that the copy of kubectl has them too.
func isTemplated(object map[string]any) bool {
	spec, is := object["spec"].(map[string]any)
	if !is {
		return false
	}
	for _, name := range []string{"template", "jobTemplate", "workload", "values", "containers", "initContainers", "ephemeralContainers"} {
		if _, has := spec[name]; has {
			return true
		}
	}
	return false
}
