// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"reflect"
	"strconv"
	"strings"
)

// The types of JSON schemas.
const (
	typeObject  = "object"
	typeArray   = "array"
	typeString  = "string"
	typeInteger = "integer"
	typeBoolean = "boolean"
)

// Schema is a JSON schema of draft 2020-12, as far as PlacementTests need it.
type Schema struct {
	Draft       string             `json:"$schema,omitempty"`
	Title       string             `json:"title,omitempty"`
	Description string             `json:"description,omitempty"`
	Type        string             `json:"type"`
	Enum        []string           `json:"enum,omitempty"`
	Minimum     *int               `json:"minimum,omitempty"`
	Properties  map[string]*Schema `json:"properties,omitempty"`
	Required    []string           `json:"required,omitempty"`
	// Additional is false for an object without other properties, and the *Schema of the values of a map; nil for other types.
	Additional any     `json:"additionalProperties,omitempty"`
	Items      *Schema `json:"items,omitempty"`
}

// NewSchema returns the schema of the documents.
func NewSchema() *Schema {
	schema := schemaOf(reflect.TypeFor[Document]())
	schema.Draft, schema.Title = "https://json-schema.org/draft/2020-12/schema", Kind
	schema.Description = "What is expected of the decisions of a hub; placement test checks it."
	return schema
}

// schemaOf returns the schema of a Go type, of which the tags json, doc, enum and rule say the rest.
func schemaOf(of reflect.Type) *Schema {
	switch of.Kind() {
	case reflect.Pointer:
		return schemaOf(of.Elem())
	case reflect.Struct:
		object := &Schema{Type: typeObject, Properties: map[string]*Schema{}, Additional: false}
		for field := range of.Fields() {
			object.addField(field)
		}
		return object
	case reflect.Map:
		return &Schema{Type: typeObject, Additional: schemaOf(of.Elem())}
	case reflect.Slice:
		return &Schema{Type: typeArray, Items: schemaOf(of.Elem())}
	case reflect.Bool:
		return &Schema{Type: typeBoolean}
	case reflect.Int, reflect.Uint64:
		least := 0
		return &Schema{Type: typeInteger, Minimum: &least}
	default:
		return &Schema{Type: typeString}
	}
}

// addField adds the property of a field of a struct.
func (s *Schema) addField(field reflect.StructField) {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	property := schemaOf(field.Type)
	property.Description = field.Tag.Get("doc")
	if values := field.Tag.Get("enum"); values != "" {
		property.Enum = strings.Split(values, ",")
	}
	rule, value, _ := strings.Cut(field.Tag.Get("rule"), "=")
	switch rule {
	case "required":
		s.Required = append(s.Required, name)
	case "min":
		if least, err := strconv.Atoi(value); err == nil { // TestSchema reads every rule.
			property.Minimum = &least
		}
	}
	s.Properties[name] = property
}
