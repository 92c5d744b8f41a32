// SPDX-License-Identifier: Apache-2.0

package writes

import (
	"errors"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/util/csaupgrade"
)

// Apply returns what an API server makes of a live object by a server-side apply, before it fills in defaults. It modifies neither object. An error
// of the reason Conflict is about fields of other field managers.
func (t *Types) Apply(w Write, live, given *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	kind := given.GroupVersionKind()
	types, err := t.of(kind)
	if err != nil {
		return nil, err
	}
	fields, err := managedfields.NewDefaultCRDFieldManager(types, versions{}, versions{}, versions{}, kind, kind.GroupVersion(), "", nil)
	if err != nil {
		return nil, fmt.Errorf("preparing to merge %s: %w", kind.Kind, err)
	}

	applied, err := applyOnce(fields, w, live, given)
	if err != nil || !w.TakesOver(applied) {
		return applied, err
	}
	// When kubectl has applied, it takes over the fields of its client-side applies and applies again. What the file lacks goes then. Helm does the
	// same with the updates of Helm 3.
	if err := csaupgrade.UpgradeManagedFields(applied, w.takenOver(applied), w.FieldManager); err != nil {
		return nil, fmt.Errorf("taking over the fields of earlier writes of %s: %w", kind.Kind, err)
	}
	return applyOnce(fields, w, applied, given)
}

func applyOnce(
	fields *managedfields.FieldManager, w Write, live, given *unstructured.Unstructured,
) (*unstructured.Unstructured, error) {
	wanted := given.DeepCopy()
	wanted.SetManagedFields(nil)
	after, err := fields.Apply(live.DeepCopy(), wanted, w.FieldManager, w.Force)
	if err != nil {
		return nil, err //nolint:wrapcheck // A conflict of field managers is that of the API server.
	}
	merged, is := after.(*unstructured.Unstructured)
	if !is { // Nothing would change.
		return live.DeepCopy(), nil
	}
	return merged, nil
}

// versions converts objects between the versions of a definition as the strategy None does: they differ in their apiVersion alone. A version
// without a type is one that an API server does not have, and its managedFields do not count.
type versions struct{}

// errNotConverted is the error of what nothing calls.
var errNotConverted = errors.New("not converted")

// Convert returns an error: nothing calls it.
func (versions) Convert(_, _, _ any) error { return errNotConverted }

// ConvertFieldLabel returns an error: nothing calls it.
func (versions) ConvertFieldLabel(schema.GroupVersionKind, string, string) (label, value string, err error) {
	return "", "", errNotConverted
}

// ConvertToVersion returns an object as one of another version.
func (versions) ConvertToVersion(object runtime.Object, to runtime.GroupVersioner) (runtime.Object, error) {
	from, is := object.(*unstructured.Unstructured)
	version, known := to.(schema.GroupVersion)
	if !is || !known {
		return nil, errNotConverted
	}
	converted := &unstructured.Unstructured{Object: maps.Clone(from.Object)}
	converted.SetAPIVersion(version.String())
	return converted, nil
}

// Default does nothing: defaults are filled in when the object is admitted.
func (versions) Default(runtime.Object) {}

// New returns an empty object of a kind.
func (versions) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	return object, nil
}

var (
	_ runtime.ObjectConvertor = versions{}
	_ runtime.ObjectDefaulter = versions{}
	_ runtime.ObjectCreater   = versions{}
)
