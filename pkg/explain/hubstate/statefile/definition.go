// SPDX-License-Identifier: Apache-2.0

package statefile

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	metavalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// admitter fills in the defaults of an object of one kind, and returns the findings of its validation.
type admitter interface {
	admit(object map[string]any) []finding
}

// definition is the admitter of a CustomResourceDefinition.
type definition struct {
	metadataRules
	structural *structuralschema.Structural
	validator  validation.SchemaValidator
	shape      func() *shape
	rules      func() *cel.Validator
}

// finding is an error at a field path; the path is empty for the object as a whole.
type finding struct{ path, text string }

func newDefinitions(crds []*apiextensionsv1.CustomResourceDefinition) (map[schema.GroupVersionKind]admitter, error) {
	definitions := map[schema.GroupVersionKind]admitter{}
	for _, crd := range crds {
		for _, version := range crd.Spec.Versions {
			if !version.Served {
				continue
			}
			gvk := schema.GroupVersionKind{Group: crd.Spec.Group, Version: version.Name, Kind: crd.Spec.Names.Kind}

			compiled, err := newDefinition(version.Schema)
			if err != nil {
				return nil, fmt.Errorf("schema of CustomResourceDefinition %s, version %s: %w", crd.Name, version.Name, err)
			}
			compiled.metadataRules = metadataRules{
				kind: gvk.Kind, namespaced: crd.Spec.Scope == apiextensionsv1.NamespaceScoped, nameRule: metavalidation.NameIsDNSSubdomain,
			}
			definitions[gvk] = compiled
		}
	}

	return definitions, nil
}

// structuralsOf returns the schemas of definitions.
func structuralsOf(definitions map[schema.GroupVersionKind]admitter) map[schema.GroupVersionKind]*structuralschema.Structural {
	structurals := make(map[schema.GroupVersionKind]*structuralschema.Structural, len(definitions))
	for gvk, of := range definitions {
		if defined, is := of.(*definition); is {
			structurals[gvk] = defined.structural
		}
	}
	return structurals
}

func newDefinition(versioned *apiextensionsv1.CustomResourceValidation) (*definition, error) {
	var internal apiextensions.CustomResourceValidation
	err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(versioned, &internal, nil)
	if err != nil {
		return nil, fmt.Errorf("converting: %w", err)
	}
	structural, err := structuralschema.NewStructural(internal.OpenAPIV3Schema)
	if err != nil {
		return nil, fmt.Errorf("reading: %w", err)
	}

	validator, _, err := validation.NewSchemaValidator(internal.OpenAPIV3Schema)
	if err != nil {
		return nil, fmt.Errorf("compiling: %w", err)
	}
	return &definition{
		structural: structural, validator: validator, shape: sync.OnceValue(func() *shape { return newShape(structural) }),
		rules: sync.OnceValue(func() *cel.Validator { return newRules(structural) }),
	}, nil
}

// admit fills in defaults and validates, in the order of an API server.
func (d *definition) admit(object map[string]any) []finding {
	findings := d.checkMetadata(object)
	defaulting.Default(object, d.structural)
	defaulting.PruneNonNullableNullsWithoutDefaults(object, d.structural)
	return append(findings, d.validate(object)...)
}

// admitApplied does what admit does with the result of a server-side apply, of which an API server leaves out no nulls.
func (d *definition) admitApplied(object map[string]any) []finding {
	findings := d.checkMetadata(object)
	defaulting.Default(object, d.structural)
	return append(findings, d.validate(object)...)
}

func (d *definition) validate(object map[string]any) []finding {
	if d.shape().conformsObject(object) {
		return findingsOf(listtype.ValidateListSetsAndMaps(nil, d.structural, object))
	}
	return d.validateSlowly(object)
}

// validateSlowly does what validate does with the validator of the API server.
func (d *definition) validateSlowly(object map[string]any) []finding {
	var findings []finding
	isMetadata := func(err *field.Error) bool { return err.Field == metadataKey } // That was said.
	options := structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	for _, path := range pruning.PruneWithOptions(object, d.structural, true, options) {
		findings = append(findings, finding{path, unknownField(knownFields(d.structural, path))})
	}

	errs := validation.ValidateCustomResource(nil, object, d.validator)
	if len(errs) == 0 { // Lists are compared by their keys, which must have the right types.
		errs = listtype.ValidateListSetsAndMaps(nil, d.structural, object)
	}
	return append(findings, findingsOf(slices.DeleteFunc(errs, isMetadata))...)
}

// withoutPath matches the path in errors that have it only in their text.
var withoutPath = regexp.MustCompile(`^(?:"(\S+)" must .*|.* in (\S+))$`)

// findingsOf converts errors to findings. Of a field with a wrong type it drops the errors that follow from that.
func findingsOf(errs field.ErrorList) []finding {
	findings := make([]finding, 0, len(errs))
	wrongType := map[string]bool{}
	for _, err := range errs {
		if err.Type == field.ErrorTypeTypeInvalid && !wrongType[err.Field] {
			wrongType[err.Field] = true
			findings = append(findings, finding{err.Field, ruleOf(err)})
		}
	}

	for _, err := range errs {
		path, text := err.Field, err.ErrorBody()
		switch {
		case err.Type == field.ErrorTypeRequired:
			text = "is required: add it"
		case path == "<nil>" || path == "":
			path = ""
			if found := withoutPath.FindStringSubmatch(err.Detail); found != nil {
				path, text = found[1]+found[2], err.Detail
			}
		case err.Type == field.ErrorTypeInvalid:
			reported := *err
			reported.Detail = ruleOf(err)
			text = reported.ErrorBody()
		default:
		}

		if !wrongType[path] {
			findings = append(findings, finding{path, text})
		}
	}

	return findings
}

// ruleOf returns the detail of an error without the path prefix of some validators.
func ruleOf(err *field.Error) string {
	if _, rule, found := strings.Cut(err.Detail, " in body "); found {
		return rule
	}
	return err.Detail
}

func unknownField(known []string) string {
	if len(known) == 0 {
		return "unknown field: remove it or correct its spelling"
	}
	return "unknown field: remove it, or use one of " + strings.Join(known, ", ")
}

// knownFields returns the valid fields at the position of the unknown field at the end of the path.
func knownFields(s *structuralschema.Structural, path string) []string {
	for s != nil {
		if _, rest, isBracketed := cutBrackets(path); isBracketed {
			s, path = s.Items, rest
			continue
		}
		var next *structuralschema.Structural

		for name, property := range s.Properties {
			if rest, fits := cutKey(path, name); fits {
				next, path = &property, rest
				break
			}
		}
		if next == nil {
			return slices.Sorted(maps.Keys(s.Properties))
		}
		s = next
	}

	return nil
}
