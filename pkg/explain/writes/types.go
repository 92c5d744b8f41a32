// SPDX-License-Identifier: Apache-2.0

package writes

import (
	"fmt"
	"strings"
	"sync"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	generatedopenapi "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// Types are the types of kinds. They are made when they are used first, and safe for concurrent use.
type Types struct {
	definitions map[schema.GroupVersionKind]*structuralschema.Structural
	defined     func() (managedfields.TypeConverter, error)
}

// NewTypes returns the types of kinds with definitions, and those of Kubernetes.
func NewTypes(definitions map[schema.GroupVersionKind]*structuralschema.Structural) *Types {
	return &Types{definitions: definitions, defined: sync.OnceValues(func() (managedfields.TypeConverter, error) {
		return newDefinedTypes(definitions)
	})}
}

// builtIn are the types of Kubernetes.
var builtIn = sync.OnceValue(func() managedfields.TypeConverter { return applyconfigurations.NewTypeConverter(clientgoscheme.Scheme) })

// of returns the types of a kind. The error is about one that is not known.
func (t *Types) of(kind schema.GroupVersionKind) (managedfields.TypeConverter, error) {
	switch {
	case t.definitions[kind] != nil:
		return t.defined()
	case clientgoscheme.Scheme.Recognizes(kind):
		return builtIn(), nil
	default:
		return nil, &UnknownTypeError{Kind: kind}
	}
}

// UnknownTypeError is the error of a server-side apply to an object whose type is not known here.
type UnknownTypeError struct{ Kind schema.GroupVersionKind }

// Error names the kind.
func (e *UnknownTypeError) Error() string {
	return fmt.Sprintf("the definition of %s of %s is not known here", e.Kind.Kind, e.Kind.GroupVersion())
}

// referencePrefix is what references to schemas begin with.
const referencePrefix = "#/components/schemas/"

// newDefinedTypes makes types of definitions as an API server does: with the metadata of Kubernetes, which definitions do not describe.
func newDefinedTypes(definitions map[schema.GroupVersionKind]*structuralschema.Structural) (managedfields.TypeConverter, error) {
	reference := func(model string) spec.Ref { return spec.MustCreateRef(referencePrefix + model) }
	metadata := metav1.ObjectMeta{}.OpenAPIModelName()
	schemas := map[string]*spec.Schema{}
	for model, definition := range generatedopenapi.GetOpenAPIDefinitions(reference) {
		if strings.HasPrefix(model, strings.TrimSuffix(metadata, "ObjectMeta")) {
			schemas[model] = &definition.Schema
		}
	}

	for kind, structural := range definitions {
		of := structural.ToKubeOpenAPI()
		if of.Properties == nil {
			of.Properties = map[string]spec.Schema{}
		}
		of.Properties["apiVersion"], of.Properties["kind"] = *spec.StringProperty(), *spec.StringProperty()
		of.Properties["metadata"] = spec.Schema{SchemaProps: spec.SchemaProps{Ref: reference(metadata)}}
		of.AddExtension("x-kubernetes-group-version-kind", []any{
			map[string]any{"group": kind.Group, "version": kind.Version, "kind": kind.Kind},
		})
		schemas[kind.Group+"."+kind.Version+"."+kind.Kind] = of
	}
	types, err := managedfields.NewTypeConverter(schemas, false)
	if err != nil {
		return nil, fmt.Errorf("making types of the definitions: %w", err)
	}
	return types, nil
}
