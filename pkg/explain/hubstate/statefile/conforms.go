// SPDX-License-Identifier: Apache-2.0

package statefile

import (
	"math"
	"reflect"
	"regexp"
	"unicode/utf8"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
)

// shape is the part of a schema by which most values are seen to be valid at once. The validator of the API server, which makes a validator for
// every field of every object, takes twenty times as long.
type shape struct {
	of         *structuralschema.Structural
	properties map[string]*shape
	// elements are those of a list, or of a map with any keys.
	elements *shape
	pattern  *regexp.Regexp // nil: any text
	enum     map[string]bool
	// unknown is set for a schema that has more than a shape says, so that no value conforms to it.
	unknown bool
}

// newShape returns the shape of the schema of an object. It leaves out the metadata, which is validated elsewhere, but for rules of the schema.
func newShape(structural *structuralschema.Structural) *shape {
	root := shapeOf(structural)
	if metadata, has := structural.Properties[metadataKey]; has {
		root.unknown = root.unknown || len(metadata.Properties) > 0 ||
			metadata.ValueValidation != nil && !reflect.ValueOf(*metadata.ValueValidation).IsZero()
	}
	return root
}

func shapeOf(of *structuralschema.Structural) *shape {
	s := &shape{of: of, unknown: of.XPreserveUnknownFields || of.XEmbeddedResource}
	if of.ValueValidation != nil {
		s.readValidation(of.ValueValidation)
	}
	switch additional := of.AdditionalProperties; {
	case of.Items != nil:
		s.elements = shapeOf(of.Items)
	case additional != nil && additional.Structural != nil:
		s.elements = shapeOf(additional.Structural)
	case additional != nil:
		s.unknown = true
	}
	s.properties = make(map[string]*shape, len(of.Properties))
	for name, property := range of.Properties {
		s.properties[name] = shapeOf(&property)
	}
	return s
}

func (s *shape) readValidation(rules *structuralschema.ValueValidation) {
	s.unknown = s.unknown || len(rules.AllOf) > 0 || len(rules.OneOf) > 0 || rules.Not != nil || len(rules.AnyOf) > 0 && !s.of.XIntOrString ||
		rules.UniqueItems || rules.MultipleOf != nil || rules.ExclusiveMaximum || rules.ExclusiveMinimum
	if rules.Pattern != "" {
		pattern, err := regexp.Compile(rules.Pattern)
		s.pattern, s.unknown = pattern, s.unknown || err != nil
	}
	for _, each := range rules.Enum {
		text, isText := each.Object.(string)
		if s.enum == nil {
			s.enum = map[string]bool{}
		}
		s.enum[text], s.unknown = true, s.unknown || !isText
	}
}

// conforms reports whether a value is valid for certain, and has no unknown field.
func (s *shape) conforms(value any) bool {
	switch {
	case s.unknown:
		return false
	case s.of.XIntOrString:
		return s.isWhole(value) || s.isText(value)
	}
	switch s.of.Type {
	case "string":
		return s.isText(value)
	case "integer":
		return s.isWhole(value)
	case "boolean":
		_, is := value.(bool)
		return is && s.enum == nil
	case "array":
		return s.isList(value)
	case "object":
		fields, is := value.(map[string]any)
		return is && s.enum == nil && s.hasFields(fields)
	default:
		return false
	}
}

// conformsObject does what conforms does with an object that has metadata.
func (s *shape) conformsObject(object map[string]any) bool {
	if s.unknown || s.of.Type != "object" || !s.counts(len(object)) {
		return false
	}
	for key, value := range object {
		if property := s.properties[key]; key != metadataKey && (property == nil || !property.conforms(value)) {
			return false
		}
	}
	return s.hasRequired(object)
}

func (s *shape) hasFields(fields map[string]any) bool {
	for key, value := range fields {
		of := s.properties[key]
		if of == nil {
			of = s.elements
		}
		if of == nil || !of.conforms(value) {
			return false
		}
	}
	return s.counts(len(fields)) && s.hasRequired(fields)
}

func (s *shape) hasRequired(fields map[string]any) bool {
	if s.of.ValueValidation == nil {
		return true
	}
	for _, name := range s.of.ValueValidation.Required {
		if _, has := fields[name]; !has {
			return false
		}
	}
	return true
}

func (s *shape) isList(value any) bool {
	list, is := value.([]any)
	if !is || s.elements == nil || s.enum != nil || !s.counts(len(list)) {
		return false
	}
	for _, element := range list {
		if !s.elements.conforms(element) {
			return false
		}
	}
	return true
}

// counts reports whether a list or an object may have a number of elements or fields.
func (s *shape) counts(length int) bool {
	rules := s.of.ValueValidation
	return rules == nil || within(length, rules.MinItems, rules.MaxItems) && within(length, rules.MinProperties, rules.MaxProperties)
}

func within(length int, lowest, highest *int64) bool {
	return (lowest == nil || int64(length) >= *lowest) && (highest == nil || int64(length) <= *highest)
}

func (s *shape) isText(value any) bool {
	text, is := value.(string)
	if !is || s.enum != nil && !s.enum[text] || s.pattern != nil && !s.pattern.MatchString(text) {
		return false
	}
	rules := s.of.ValueValidation
	return rules == nil || within(utf8.RuneCountInString(text), rules.MinLength, rules.MaxLength) &&
		(rules.Format == "" || strfmt.Default.Validates(rules.Format, text))
}

// isWhole reports whether a value is a valid integer that every parser reads alike.
func (s *shape) isWhole(value any) bool {
	number, is := value.(int64)
	if !is || s.enum != nil || number > math.MaxInt32 || number < math.MinInt32 {
		return false
	}
	rules := s.of.ValueValidation
	return rules == nil || (rules.Minimum == nil || float64(number) >= *rules.Minimum) && (rules.Maximum == nil || float64(number) <= *rules.Maximum)
}
