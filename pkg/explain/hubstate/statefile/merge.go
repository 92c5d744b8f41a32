package statefile

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// merge returns the live Placement after the file was applied. alone is the Placement of the file with the defaults of a new object.
func (c *ChangeReader) merge(alone *api.Placement, live api.Object) (api.Object, error) {
	kind := alone.API.Kind()

	stored, err := runtime.DefaultUnstructuredConverter.ToUnstructured(live)
	if err != nil {
		return nil, fmt.Errorf("reading what the hub has: %w", err)
	}

	restoreWeights(live, stored)

	current := desired(runtime.DeepCopyJSON(stored))
	dropEmpty(current)

	last := map[string]any{}
	if applied := live.GetAnnotations()[corev1.LastAppliedConfigAnnotation]; applied != "" {
		if err := json.Unmarshal([]byte(applied), &last); err != nil {
			return nil, fmt.Errorf("the hub has a damaged annotation %s, which kubectl apply refuses too; remove the annotation: %w",
				corev1.LastAppliedConfigAnnotation, err)
		}
	}

	given := c.reader.rules.given[identityOf(kind, alone.Object)]
	object := threeWay(desired(last), desired(given), current)
	object["apiVersion"], object["kind"] = kind.ToAPIVersionAndKind()

	if findings := c.reader.definitions[kind].admit(object); len(findings) > 0 {
		return nil, fmt.Errorf("together with what the hub has, %s: %s", findings[0].path, findings[0].text)
	}

	merged := alone.API.Empty()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(restore(object, stored), merged, true); err != nil {
		return nil, fmt.Errorf("reading the result: %w", err)
	}

	return merged, nil
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

// desired returns the fields of an object that users write.
func desired(object map[string]any) map[string]any {
	metadata, _ := object[metadataKey].(map[string]any)
	own := map[string]any{}

	for _, key := range userMetadata {
		if value, has := metadata[key]; has {
			own[key] = value
		}
	}

	result := map[string]any{metadataKey: own}
	if spec, has := object["spec"]; has {
		result["spec"] = spec
	}

	return result
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

// threeWay merges as `kubectl apply` does for custom resources: objects by their keys, any other value and lists as a whole. It does not
// modify its arguments. A field that the file sets to null is removed even if the last apply set it to null too; the patch of
// k8s.io/apimachinery/pkg/util/jsonmergepatch would keep it.
func threeWay(last, given, live map[string]any) map[string]any {
	merged := map[string]any{}
	if live != nil {
		merged = runtime.DeepCopyJSON(live)
	}

	for key := range last {
		if _, still := given[key]; !still {
			delete(merged, key)
		}
	}

	for key, value := range given {
		fields, isObject := value.(map[string]any)

		switch {
		case value == nil:
			delete(merged, key)
		case isObject:
			lastFields, _ := last[key].(map[string]any)
			liveFields, _ := live[key].(map[string]any)
			merged[key] = threeWay(lastFields, fields, liveFields)
		default:
			merged[key] = runtime.DeepCopyJSONValue(value)
		}
	}

	return merged
}

// Generation returns the metadata.generation that an API server sets, from 1, when the live Placement gets the spec of the changed one. The
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

func specOf(placement api.Object) (map[string]any, error) {
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(placement)
	if err != nil {
		return nil, fmt.Errorf("comparing: %w", err)
	}

	spec, _ := object["spec"].(map[string]any)
	if policy, has := spec["prioritizerPolicy"].(map[string]any); has && policy["mode"] == string(clusterv1beta1.PrioritizerPolicyModeAdditive) {
		delete(policy, "mode") // Absent, it means the same.
	}

	dropEmpty(spec)

	return spec, nil
}
