// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// Decode reads Kubernetes objects from a stream of YAML or JSON documents. It skips documents with only comments, and replaces a List by
// its items. name is the source of the stream and begins every error; line numbers in errors count from the start of the stream.
//
// Each object must have apiVersion, kind and metadata.name; a duplicate field is an error.
func Decode(r io.Reader, name string) ([]*unstructured.Unstructured, error) {
	var objs []*unstructured.Unstructured
	documents := utilyaml.NewYAMLReader(bufio.NewReader(r))
	for line := 1; ; {
		text, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return objs, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: document that starts at line %d: %w", name, line, err)
		}
		decoded, err := document{line: line, text: text}.decode()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		objs = append(objs, decoded...)
		line += bytes.Count(text, []byte("\n")) + 1 // The reader dropped the separator line behind the document.
	}
}

// document is one YAML document of a stream.
type document struct {
	// line is the number, from 1, of the document's first line in the stream.
	line int
	text []byte
}

// decode returns the objects of a document: none for an empty one, several for a List.
func (d document) decode() ([]*unstructured.Unstructured, error) {
	// Leading empty lines make the parser count lines from the start of the stream.
	padded := append(bytes.Repeat([]byte("\n"), d.line-1), d.text...)
	converted, err := yaml.YAMLToJSONStrict(padded)
	if err != nil {
		return nil, fmt.Errorf("document that starts at line %d is not valid YAML: %w", d.line, err)
	}
	if string(converted) == "null" {
		return nil, nil
	}
	obj := &unstructured.Unstructured{}
	if err := json.Unmarshal(converted, &obj.Object); err != nil {
		return nil, fmt.Errorf("document that starts at line %d is not a Kubernetes object: %w", d.line, err)
	}
	if obj.IsList() {
		return d.items(obj)
	}
	if err := checkIdentity(obj); err != nil {
		return nil, fmt.Errorf("document that starts at line %d: %w", d.line, err)
	}
	return []*unstructured.Unstructured{obj}, nil
}

// items returns the checked items of a List.
func (d document) items(list *unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	var objs []*unstructured.Unstructured
	err := list.EachListItem(func(item runtime.Object) error {
		obj, ok := item.(*unstructured.Unstructured)
		if !ok {
			return fmt.Errorf("items[%d] is a %T, want an object", len(objs), item)
		}
		if err := checkIdentity(obj); err != nil {
			return fmt.Errorf("items[%d]: %w", len(objs), err)
		}
		objs = append(objs, obj)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s that starts at line %d: %w", list.GetKind(), d.line, err)
	}
	return objs, nil
}

// checkIdentity returns an error that names the missing or malformed parts of an object's identity.
func checkIdentity(obj *unstructured.Unstructured) error {
	var missing []string
	if obj.GetAPIVersion() == "" {
		missing = append(missing, "apiVersion")
	}
	if obj.GetKind() == "" {
		missing = append(missing, "kind")
	}
	if obj.GetName() == "" {
		missing = append(missing, "metadata.name")
	}
	if len(missing) > 0 {
		return fmt.Errorf("%s has no %s: every object needs apiVersion, kind and metadata.name",
			describe(obj), strings.Join(missing, ", "))
	}
	if _, err := schema.ParseGroupVersion(obj.GetAPIVersion()); err != nil {
		return fmt.Errorf("%s: apiVersion: %w", describe(obj), err)
	}
	return nil
}

// describe returns the kind and name of an object: "Placement team-a/rollout", "Namespace team-a".
func describe(obj *unstructured.Unstructured) string {
	kind, name := obj.GetKind(), obj.GetName()
	if kind == "" {
		kind = "object"
	}
	switch {
	case name == "":
		return kind
	case obj.GetNamespace() == "":
		return kind + " " + name
	default:
		return kind + " " + obj.GetNamespace() + "/" + name
	}
}
