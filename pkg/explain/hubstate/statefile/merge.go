// SPDX-License-Identifier: Apache-2.0

package statefile

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/writes"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// merged is a live object after a write, before it is read.
type merged struct {
	object api.Object
	// kept are the fields of the spec that the file does not set, and gone the fields of the live object that are no longer there.
	kept, gone []string
	// raw is the object before it is read by its Go type; nil for one that has none.
	raw *unstructured.Unstructured
}

// merge returns a live object after a write of the file. alone is the object of the file with the defaults of a new one, and raw is the live object
// as the API server has it; nil if that is not known.
func (c *ChangeReader) merge(
	w writes.Write, kind *explain.Kind, alone, live api.Object, raw *unstructured.Unstructured,
) (merged, error) {
	stored, current, err := storedFields(kind, live, raw)
	if err != nil {
		return merged{}, fmt.Errorf("reading the live object: %w", err)
	}
	given := c.givenFields(kind, alone)
	written := metav1.Object(live)
	if raw != nil {
		written = raw
	}
	object, err := c.mergeFields(w, kind, desired(given), current, written)
	if err != nil {
		return merged{}, err
	}
	if kind.Definition == explain.BuiltIn {
		dropNulls(object) // Go types have none.
	}
	if kind.Untyped || kind.Type == nil {
		return merged{object: &unstructured.Unstructured{Object: restore(object, stored)}, gone: goneFields(current, object)}, nil
	}
	object["apiVersion"], object["kind"] = kind.ToAPIVersionAndKind()

	admit := c.reader.admitter(kind, kind.GroupVersionKind).admit
	if defined, is := c.reader.definitions[kind.GroupVersionKind].(*definition); is && w.Method == writes.ServerSide {
		admit = defined.admitApplied
	}
	if findings := admit(object); len(findings) > 0 {
		return merged{}, &invalidError{findings[0]}
	}
	result := merged{raw: &unstructured.Unstructured{Object: restore(object, stored)}}
	if result.object, err = kind.Decode(result.raw.Object); err != nil {
		return merged{}, err
	}
	if result.gone, err = goneOf(kind, live, result.object); err != nil || kind.Definition == explain.BuiltIn {
		return result, err
	}

	if result.kept, err = differingFields(alone, result.object); err != nil {
		return merged{}, err
	}
	generation, err := Generation(result.object, live)
	result.object.SetGeneration(generation)
	return result, err
}

// invalidError is the error of a write whose result is not valid.
type invalidError struct{ finding finding }

// Error names the field.
func (e *invalidError) Error() string {
	return fmt.Sprintf("together with the live object, %s: %s", e.finding.path, e.finding.text)
}

// dropNulls removes the nulls of an object, which has none once an API server has read it into a Go type.
func dropNulls(value any) {
	switch value := value.(type) {
	case map[string]any:
		maps.DeleteFunc(value, func(_ string, inner any) bool { return inner == nil })
		for _, inner := range value {
			dropNulls(inner)
		}
	case []any:
		for _, inner := range value {
			dropNulls(inner)
		}
	}
}

// goneOf returns the fields that a live object has lost. Both objects are read by their Go type, which gives empty fields to both.
func goneOf(kind *explain.Kind, live, after api.Object) ([]string, error) {
	_, before, err := storedFields(kind, live, nil)
	if err != nil {
		return nil, err
	}
	_, rest, err := storedFields(kind, after, nil)
	return goneFields(before, rest), err
}

// storedFields returns the fields of a live object, and those that users write.
func storedFields(kind *explain.Kind, live api.Object, raw *unstructured.Unstructured) (stored, current map[string]any, err error) {
	if raw != nil {
		return raw.Object, desired(raw.Object), nil
	}
	if stored, err = fieldsOf(live); err != nil {
		return nil, nil, err
	}
	current = desired(stored)
	if _, is := live.(*unstructured.Unstructured); !is && slices.Contains(placements(), kind.GroupVersionKind) {
		dropEmpty(current)
	}
	return stored, current, nil
}

// givenFields returns the fields of an object of the files, without the defaults of a new one.
func (c *ChangeReader) givenFields(kind *explain.Kind, alone api.Object) map[string]any {
	if untyped, is := alone.(*unstructured.Unstructured); is {
		return untyped.Object
	}
	return c.reader.rules.given[identityOf(kind.GroupVersionKind, alone)]
}

// createdFields returns an object of the files that is created, with the defaults of a new one; nil for one without a Go type, which has no others.
func (c *ChangeReader) createdFields(kind *explain.Kind, alone api.Object) *unstructured.Unstructured {
	fields := c.reader.rules.created[identityOf(kind.GroupVersionKind, alone)]
	if _, is := alone.(*unstructured.Unstructured); is || fields == nil {
		return nil
	}
	return &unstructured.Unstructured{Object: fields}
}

// mergeFields returns the fields that users write after a write of those of a file.
func (c *ChangeReader) mergeFields(
	w writes.Write, kind *explain.Kind, given, current map[string]any, live metav1.Object,
) (map[string]any, error) {
	switch {
	case w.Method == writes.Replace, w.Method == writes.ServerSide && writes.IsHidden(live):
		return given, nil
	case w.Method == writes.ServerSide:
		return c.applyServerSide(w, kind, given, current, live)
	default:
		last, err := lastApplied(live)
		if err != nil {
			return nil, err
		}
		return threeWay(kind, desired(last), given, current)
	}
}

func (c *ChangeReader) applyServerSide(
	w writes.Write, kind *explain.Kind, given, current map[string]any, live metav1.Object,
) (map[string]any, error) {
	before, wanted := &unstructured.Unstructured{Object: current}, &unstructured.Unstructured{Object: given}
	before = before.DeepCopy()
	for _, object := range []*unstructured.Unstructured{before, wanted} {
		object.SetGroupVersionKind(kind.GroupVersionKind)
	}
	before.SetManagedFields(live.GetManagedFields())
	after, err := c.types.Apply(w, before, wanted)
	if err != nil {
		return nil, err
	}
	return desired(after.Object), nil
}

// goneFields returns the sorted paths of the labels, the annotations and the fields of the spec and of other parts that only the first object has.
func goneFields(before, after map[string]any) []string {
	var gone []string
	lacking := func(path string, one, other any) {
		fields, _ := one.(map[string]any)
		rest, _ := other.(map[string]any)
		for key := range fields {
			if _, has := rest[key]; !has && key != corev1.LastAppliedConfigAnnotation {
				gone = append(gone, path+"."+key)
			}
		}
	}
	for key, value := range before {
		if key == metadataKey {
			one, _ := value.(map[string]any)
			other, _ := after[key].(map[string]any)
			lacking("metadata.labels", one["labels"], other["labels"])
			lacking("metadata.annotations", one["annotations"], other["annotations"])
			continue
		}
		if _, isObject := value.(map[string]any); !isObject && after[key] == nil && value != nil {
			gone = append(gone, key)
		}
		lacking(key, value, after[key])
	}
	slices.Sort(gone)
	return gone
}

// placements returns the kinds of Placements.
func placements() []schema.GroupVersionKind {
	kinds := make([]schema.GroupVersionKind, 0, len(api.Adapters()))
	for _, adapter := range api.Adapters() {
		kinds = append(kinds, adapter.Kind())
	}
	return kinds
}

// fieldsOf returns the fields of a live object, which the caller may change.
func fieldsOf(live api.Object) (map[string]any, error) {
	if untyped, is := live.(*unstructured.Unstructured); is {
		return runtime.DeepCopyJSON(untyped.Object), nil
	}
	stored, err := runtime.DefaultUnstructuredConverter.ToUnstructured(live)
	if err != nil {
		return nil, err //nolint:wrapcheck // The caller says what it is for.
	}
	restoreWeights(live, stored)
	return stored, nil
}

// lastApplied returns what kubectl applied last; empty without its annotation.
func lastApplied(live metav1.Object) (map[string]any, error) {
	last := map[string]any{}

	applied := live.GetAnnotations()[corev1.LastAppliedConfigAnnotation]
	if applied == "" {
		return last, nil
	}
	if err := json.Unmarshal([]byte(applied), &last); err != nil {
		return nil, fmt.Errorf("the live object has a damaged annotation %s, which kubectl apply refuses too; remove the annotation: %w",
			corev1.LastAppliedConfigAnnotation, err)
	}
	explain.EncodeStringData(&unstructured.Unstructured{Object: last})
	return last, nil
}

// threeWay merges as `kubectl apply` does.
func threeWay(kind *explain.Kind, last, given, live map[string]any) (map[string]any, error) {
	patchType, patch, err := patchOf(kind, last, given, live)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(live)
	if err != nil {
		return nil, fmt.Errorf("encoding: %w", err)
	}
	if patchType == types.MergePatchType {
		text, err = jsonpatch.MergePatch(text, patch)
	} else {
		text, err = strategicpatch.StrategicMergePatch(text, patch, kind.Type)
	}
	if err != nil {
		return nil, fmt.Errorf("merging: %w", err)
	}
	object := map[string]any{}
	if err := json.Unmarshal(text, &object); err != nil {
		return nil, fmt.Errorf("reading the result: %w", err)
	}
	return object, nil
}

// patchOf returns the patch that `kubectl apply` sends: by the merge keys of the type for kinds of Kubernetes, and otherwise objects by their keys
// and lists as a whole.
func patchOf(kind *explain.Kind, last, given, live map[string]any) (types.PatchType, []byte, error) {
	var texts [3][]byte
	for i, fields := range []map[string]any{last, given, live} {
		var err error
		if texts[i], err = json.Marshal(fields); err != nil {
			return "", nil, fmt.Errorf("encoding: %w", err)
		}
	}
	patchType, patch, err := patchOfTexts(kind, texts[0], texts[1], texts[2])
	if err != nil {
		return "", nil, fmt.Errorf("merging: %w", err)
	}
	return patchType, patch, nil
}

//nolint:wrapcheck // The caller adds what was done.
func patchOfTexts(kind *explain.Kind, last, given, live []byte) (types.PatchType, []byte, error) {
	if kind.Type == nil || kind.Definition != explain.BuiltIn {
		patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(last, given, live)
		return types.MergePatchType, patch, err
	}
	schema, err := strategicpatch.NewPatchMetaFromStruct(kind.Type)
	if err != nil {
		return "", nil, err
	}
	patch, err := strategicpatch.CreateThreeWayMergePatch(last, given, live, schema, true)
	return types.StrategicMergePatchType, patch, err
}

// restoreWeights restores weights of 0, which the Go type omits and the definition would default to 1.
func restoreWeights(live api.Object, stored map[string]any) {
	placement, ok := live.(*clusterv1beta1.Placement)
	if !ok {
		return
	}

	configurations, _, err := unstructured.NestedFieldNoCopy(stored, "spec", "prioritizerPolicy", "configurations")
	if list, isList := configurations.([]any); err == nil && isList {
		for i, configuration := range placement.Spec.PrioritizerPolicy.Configurations {
			if fields, isMap := list[i].(map[string]any); isMap {
				fields["weight"] = int64(configuration.Weight)
			}
		}
	}
}

// restore adds the status and the system metadata of the stored object to a merged one.
func restore(object, stored map[string]any) map[string]any {
	whole := maps.Clone(object)
	if status, has := stored["status"]; has {
		whole["status"] = status
	}
	own, _ := object[metadataKey].(map[string]any)
	rest, _ := stored[metadataKey].(map[string]any)
	metadata := maps.Clone(rest)
	for _, key := range userMetadata {
		delete(metadata, key)
	}

	maps.Copy(metadata, own)
	whole[metadataKey] = metadata
	return whole
}

func identityOf(kind schema.GroupVersionKind, object metav1.Object) string {
	return identify(kind, map[string]any{metadataKey: map[string]any{"namespace": object.GetNamespace(), "name": object.GetName()}})
}

// userMetadata are the fields of metadata that users write.
var userMetadata = []string{"name", "namespace", "labels", "annotations"}

// desired returns a copy of an object with the fields that users write.
func desired(object map[string]any) map[string]any {
	metadata, _ := object[metadataKey].(map[string]any)
	own := map[string]any{}
	for _, key := range userMetadata {
		if value, has := metadata[key]; has {
			own[key] = value
		}
	}

	result := maps.Clone(object)
	if result == nil {
		result = map[string]any{}
	}
	delete(result, "status")
	result[metadataKey] = own
	return runtime.DeepCopyJSON(result)
}

// dropEmpty removes empty objects, which Go types have where the hub has no field, because defaulting would fill them. It keeps lists,
// whose empty elements have a meaning.
func dropEmpty(object map[string]any) {
	for key, value := range object {
		fields, isObject := value.(map[string]any)
		if !isObject {
			continue
		}
		dropEmpty(fields)
		if len(fields) == 0 {
			delete(object, key)
		}
	}
}

// Generation returns the metadata.generation that an API server sets, from 1, when a live object gets the spec of the changed one. The
// error says that one of the two cannot be encoded.
func Generation(changed, live api.Object) (int64, error) {
	fields, err := differingFields(changed, live)
	if err != nil {
		return 0, err
	}
	if len(fields) == 0 {
		return live.GetGeneration(), nil
	}
	return max(1, live.GetGeneration()) + 1, nil
}

// differingFields returns the sorted paths of the top-level spec fields that differ.
func differingFields(a, b api.Object) ([]string, error) {
	one, err := specOf(a)
	if err != nil {
		return nil, err
	}
	other, err := specOf(b)
	if err != nil {
		return nil, err
	}
	all := maps.Clone(one)
	maps.Copy(all, other)

	var paths []string
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if !reflect.DeepEqual(one[key], other[key]) {
			paths = append(paths, "spec."+key)
		}
	}
	return paths, nil
}

func specOf(object api.Object) (map[string]any, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, fmt.Errorf("comparing: %w", err)
	}
	spec, _ := fields["spec"].(map[string]any)
	if policy, has := spec["prioritizerPolicy"].(map[string]any); has && policy["mode"] == string(clusterv1beta1.PrioritizerPolicyModeAdditive) {
		delete(policy, "mode") // Absent, it means the same.
	}
	dropEmpty(spec)
	return spec, nil
}
