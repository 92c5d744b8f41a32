// SPDX-License-Identifier: Apache-2.0

package statefile

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	metavalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// metadataKey is the key of the object metadata.
const metadataKey = "metadata"

// metadataRules are the rules for the metadata of a kind.
type metadataRules struct {
	kind       string
	namespaced bool
	nameRule   metavalidation.ValidateNameFunc
}

// checkMetadata validates the metadata, which no CustomResourceDefinition describes.
func (m *metadataRules) checkMetadata(object map[string]any) []finding {
	metadata, isObject := object[metadataKey].(map[string]any)
	if !isObject {
		return []finding{{metadataKey, "must be an object: add metadata.name" + m.orNamespace()}}
	}
	if findings := notStrings(metadata); len(findings) > 0 {
		return findings
	}

	meta, _, unknown, err := objectmeta.GetObjectMetaWithOptions(object, objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil {
		return []finding{malformed(err)}
	}
	findings := make([]finding, 0, len(unknown))
	for _, path := range unknown {
		findings = append(findings, finding{path, unknownField(nil)})
	}

	if meta.Name == "" {
		findings = append(findings, finding{"metadata.name", "is required: give the object a name (a generateName is not enough)"})
		meta.Name = "name" // Said once.
	}

	if m.namespaced && meta.Namespace == "" {
		findings = append(findings, finding{"metadata.namespace", fmt.Sprintf("is required: say which namespace this %s lives in", m.kind)})
		meta.Namespace = "namespace" // Said once.
	}
	errs := metavalidation.ValidateObjectMeta(meta, m.namespaced, m.nameRule, field.NewPath("metadata"))
	return append(findings, findingsOf(errs)...)
}

func (m *metadataRules) orNamespace() string {
	if m.namespaced {
		return " and metadata.namespace"
	}
	return ""
}

// notStrings reports names, labels and annotations that YAML parses as a number, a boolean (n, on) or null.
func notStrings(metadata map[string]any) []finding {
	var findings []finding
	check := func(path string, value any) {
		if _, isString := value.(string); !isString {
			findings = append(findings, finding{path, "must be a string, and is " + describe(value) + ": put it in quotes"})
		}
	}

	for _, name := range []string{"name", "namespace"} {
		if value, found := metadata[name]; found && value != nil {
			check("metadata."+name, value)
		}
	}

	for _, name := range []string{"labels", "annotations"} {
		values, isMap := metadata[name].(map[string]any)
		if !isMap {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(values)) {
			check(fmt.Sprintf("metadata.%s[%s]", name, key), values[key])
		}
	}
	return findings
}

// describe names the type of a JSON value.
func describe(value any) string {
	switch value.(type) {
	case nil:
		return "empty"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case int64, float64:
		return "a number"
	case []any:
		return "a list"
	default:
		return "an object"
	}
}

func malformed(err error) finding {
	var wrongType *json.UnmarshalTypeError
	if !errors.As(err, &wrongType) || wrongType.Field == "" {
		return finding{metadataKey, "cannot be read: " + err.Error()}
	}
	return finding{"metadata." + wrongType.Field, fmt.Sprintf("must be of type %s, and is a JSON %s", wrongType.Type, wrongType.Value)}
}
