// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// errChanged is the error of the API server for an object that has changed since it was read.
var errChanged = errors.New("the object has been modified; please apply your changes to the latest version and try again")

func decode(body []byte) (*unstructured.Unstructured, error) {
	applied := &unstructured.Unstructured{}
	if err := json.Unmarshal(body, applied); err != nil {
		return nil, fmt.Errorf("decode what is applied: %w", err)
	}
	return applied, nil
}

// isAnother reports whether an object is not the one, or not as it was, of which the UID and resourceVersion are applied.
func isAnother(applied, live *unstructured.Unstructured) bool {
	version, uid := applied.GetResourceVersion(), applied.GetUID()
	return version != "" && version != live.GetResourceVersion() || uid != "" && uid != live.GetUID()
}

// resourceOf returns the resource of a kind, whose text is the name of its CustomResourceDefinition.
func (c *Client) resourceOf(kind schema.GroupVersionKind) (schema.GroupResource, error) {
	mapping, err := c.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return schema.GroupResource{}, fmt.Errorf("finding the resource of %s: %w", kind.Kind, err)
	}
	return mapping.Resource.GroupResource(), nil
}

// merge returns what the API server would make of an object by an apply, with the managedFields of the object. What the object has below the paths
// in owns is the manager's, whatever the managedFields say.
func (s *schemas) merge(
	live, applied *unstructured.Unstructured, manager string, r *request, owns []fieldpath.Path,
) (*unstructured.Unstructured, error) {
	kind := applied.GroupVersionKind()
	wanted := applied.DeepCopy()
	wanted.SetResourceVersion("")
	wanted.SetUID("")
	present, err := s.fieldsOf(live)
	if err != nil {
		return nil, err
	}

	if !r.force {
		entries, _, err := inVersion(live.GetManagedFields(), manager, kind.GroupVersion(), r.subresource, fieldpath.NewSet())
		if err != nil {
			return nil, err
		}
		if _, err := s.apply(live, wanted, manager, r, entries); err != nil {
			return nil, err
		}
	}
	entries, owned, err := inVersion(live.GetManagedFields(), manager, kind.GroupVersion(), r.subresource, below(present, owns))
	if err != nil {
		return nil, err
	}
	// While a version is gone, no write is recorded. What nobody owns would go with a field beside it that is not applied any more.
	rest, err := entryOf(metav1.ManagedFieldsEntry{Manager: "nobody", Operation: metav1.ManagedFieldsOperationUpdate}, kind.GroupVersion(),
		present.Difference(owned))
	if err != nil {
		return nil, err
	}
	return s.apply(live, wanted, manager, &request{subresource: r.subresource, force: true}, append(entries, rest))
}

// below returns the fields that lie at or below paths.
func below(fields *fieldpath.Set, paths []fieldpath.Path) *fieldpath.Set {
	found := fieldpath.NewSet()
	for field := range fields.All() {
		for _, path := range paths {
			if len(field) >= len(path) && field[:len(path)].Equals(path) {
				found.Insert(field.Copy())
			}
		}
	}
	return found
}

// apply applies to an object as if it had other managedFields.
func (s *schemas) apply(
	live, wanted *unstructured.Unstructured, manager string, r *request, entries []metav1.ManagedFieldsEntry,
) (*unstructured.Unstructured, error) {
	kind := wanted.GroupVersionKind()
	fields, err := managedfields.NewDefaultCRDFieldManager(
		s.types, asIs{}, asIs{}, asIs{}, kind, kind.GroupVersion(), r.subresource, nil)
	if err != nil {
		return nil, fmt.Errorf("preparing to merge %s: %w", kind.Kind, err)
	}
	before := live.DeepCopy()
	before.SetManagedFields(entries)

	after, err := fields.Apply(before, wanted.DeepCopy(), manager, r.force)
	if err != nil {
		return nil, err //nolint:wrapcheck // A conflict of field managers is that of the API server.
	}
	merged, is := after.(*unstructured.Unstructured)
	if !is { // Nothing would change.
		return live, nil
	}
	merged.SetManagedFields(live.GetManagedFields())
	return merged, nil
}

// fieldsOf returns the fields that an object has, but for identity.
func (s *schemas) fieldsOf(object *unstructured.Unstructured) (*fieldpath.Set, error) {
	value, err := s.types.ObjectToTyped(object, typed.AllowDuplicates)
	if err != nil {
		return nil, fmt.Errorf("reading the fields of %s: %w", object.GetKind(), err)
	}
	fields, err := value.ToFieldSet()
	if err != nil {
		return nil, fmt.Errorf("reading the fields of %s: %w", object.GetKind(), err)
	}
	return fields.Difference(identity), nil
}

// identity are the fields by which an object is found. No managedFields have them.
var identity = fieldpath.NewSet(fieldpath.MakePathOrDie("apiVersion"), fieldpath.MakePathOrDie("kind"),
	fieldpath.MakePathOrDie("metadata", "name"), fieldpath.MakePathOrDie("metadata", "namespace"))

// inVersion returns managedFields as if all of them were of one version, with one entry of the manager that alone has the fields in ours, and the
// fields that they have: none can be converted from a version that is gone, and the paths of fields are mostly the same. Entries of other managers
// and versions stay apart.
func inVersion(
	entries []metav1.ManagedFieldsEntry, own string, version schema.GroupVersion, subresource string, ours *fieldpath.Set,
) (converted []metav1.ManagedFieldsEntry, owned *fieldpath.Set, err error) {
	alone := ours
	owned = ours
	for _, entry := range entries {
		fields := fieldpath.NewSet()
		if entry.FieldsV1 != nil {
			if err := fields.FromJSON(entry.FieldsV1.GetRawReader()); err != nil {
				return nil, nil, fmt.Errorf("decode the managedFields of %s: %w", entry.Manager, err)
			}
		}
		owned = owned.Union(fields)

		if entry.Manager == own && entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == subresource {
			ours = ours.Union(fields)
			continue
		}
		if entry.APIVersion != version.String() {
			entry.Manager += " " + entry.APIVersion
		}
		entry, err := entryOf(entry, version, fields.Difference(alone))
		if err != nil {
			return nil, nil, err
		}
		converted = append(converted, entry)
	}

	if ours.Empty() {
		return converted, owned, nil
	}
	entry, err := entryOf(
		metav1.ManagedFieldsEntry{Manager: own, Operation: metav1.ManagedFieldsOperationApply, Subresource: subresource}, version, ours)
	return append(converted, entry), owned, err
}

// entryOf completes an entry of managedFields with a version and fields.
func entryOf(entry metav1.ManagedFieldsEntry, version schema.GroupVersion, fields *fieldpath.Set) (metav1.ManagedFieldsEntry, error) {
	content, err := fields.ToJSON()
	if err != nil {
		return entry, fmt.Errorf("encode fields: %w", err)
	}
	entry.APIVersion, entry.FieldsType, entry.FieldsV1 = version.String(), "FieldsV1", metav1.NewFieldsV1(string(content))
	return entry, nil
}

// differ reports whether two objects differ at one of some paths. Lists may be ordered differently without a difference, which costs a look at the
// schema.
func differ(a, b *unstructured.Unstructured, at []fieldpath.Path) bool {
	return slices.ContainsFunc(at, func(path fieldpath.Path) bool {
		return !equality.Semantic.DeepEqual(valueAt(a.Object, path), valueAt(b.Object, path))
	})
}

// valueAt returns the value at a path of field names; nil if there is none.
func valueAt(value any, path fieldpath.Path) any {
	for _, element := range path {
		fields, is := value.(map[string]any)
		if !is || element.FieldName == nil {
			return nil
		}
		value = fields[*element.FieldName]
	}
	return value
}

// asIs converts, defaults and creates unstructured objects of one version.
type asIs struct{}

// Convert returns an error: nothing calls it.
func (asIs) Convert(_, _, _ any) error { return errors.New("not converted") }

// ConvertToVersion returns the object.
func (asIs) ConvertToVersion(object runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return object, nil
}

// ConvertFieldLabel returns an error: nothing calls it.
func (asIs) ConvertFieldLabel(schema.GroupVersionKind, string, string) (label, value string, err error) {
	return "", "", errors.New("not converted")
}

// Default does nothing: the API server sets defaults when it stores the object.
func (asIs) Default(runtime.Object) {}

// New returns an empty object of a kind.
func (asIs) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	return object, nil
}

var (
	_ runtime.ObjectConvertor = asIs{}
	_ runtime.ObjectDefaulter = asIs{}
	_ runtime.ObjectCreater   = asIs{}
)
