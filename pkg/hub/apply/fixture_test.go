// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"net/http"
	"os"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

const (
	own    = "ours"
	others = "theirs"
)

// widgets is the kind of the schema in testdata, of which the version v1 is gone.
var widgets = schema.GroupVersionKind{Group: "example.com", Version: "v2", Kind: "Widget"}

// document has the schema of the kind. It is its own source.
type document struct{ *schemas }

func (d document) of(context.Context, schema.GroupVersion) (*schemas, error) { return d.schemas, nil }

func readDocument(t *testing.T) document {
	t.Helper()
	content, err := os.ReadFile("testdata/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := newSchemas("", content)
	if err != nil {
		t.Fatal(err)
	}
	return document{decoded}
}

// widget returns a Widget with fields in YAML.
func widget(t *testing.T, fields string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(fields), &object.Object); err != nil {
		t.Fatal(err)
	}
	if object.Object == nil {
		object.Object = map[string]any{}
	}
	object.SetGroupVersionKind(widgets)
	object.SetNamespace("team")
	object.SetName("w")
	return object
}

// managed returns an entry of managedFields in a version, with fields as FieldsV1 has them.
func managed(manager, version, fields, subresource string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationApply, APIVersion: widgets.Group + "/" + version, Subresource: subresource,
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
	}
}

// The texts of answers of kube-apiserver 1.37.
const (
	goneAnswer = "failed to convert old object: request to convert CR to an invalid group/version: example.com/v1"
	lackAnswer = "failed to create typed patch object (team/w; example.com/v2, Kind=Widget): .status.newer: field not declared in schema"
)

// internal is the error of an answer of the API server with a text.
func internal(text string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: text,
	}}
}

// mapper knows the kind.
func mapper() meta.RESTMapper {
	known := meta.NewDefaultRESTMapper(nil)
	known.Add(widgets, meta.RESTScopeNamespace)
	return known
}

// noScheme is a scheme that knows no type.
func noScheme() *runtime.Scheme { return runtime.NewScheme() }

// schemaResource is the resource of the kind.
var schemaResource = schema.GroupResource{Group: widgets.Group, Resource: "widgets"}
