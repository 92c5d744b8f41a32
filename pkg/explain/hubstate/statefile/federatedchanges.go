package statefile

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/objectlist"
	"github.com/placement-hub/placement-hub/pkg/federation"
)

var bindingKind = kindOf(clusterv1beta2.GroupVersion.Version, "ManagedClusterSetBinding")

// ApplyFederatedTo applies the objects, Namespaces and bindings of the files to a State as `kubectl apply` does. It does not modify the given
// State.
func (c *ChangeReader) ApplyFederatedTo(hub *explain.State) (*explain.State, error) {
	given, err := c.State()
	if err != nil {
		return nil, err
	}

	after := *hub
	after.Bindings = objectlist.Overlay(hub.Bindings, given.Bindings)
	after.Federated.Objects = slices.Clone(hub.Federated.Objects)

	namespaces, err := c.NamespacesAfter(hub.Federated.Namespaces)
	if err != nil {
		return nil, err
	}

	after.Federated.Namespaces = objectlist.Overlay(hub.Federated.Namespaces, namespaces)

	for _, object := range given.Federated.Objects {
		same := func(other *unstructured.Unstructured) bool {
			return other.GroupVersionKind() == object.GroupVersionKind() && other.GetNamespace() == object.GetNamespace() &&
				other.GetName() == object.GetName()
		}

		merged := object
		if at := slices.IndexFunc(after.Federated.Objects, same); at >= 0 {
			if merged, err = mergeObject(after.Federated.Objects[at], object); err != nil {
				return nil, err
			}
		}

		replaceOrAdd(&after.Federated.Objects, merged, same)
	}

	return &after, nil
}

// replaceOrAdd replaces the element that is the same object, or adds it.
func replaceOrAdd[T any](list *[]T, object T, same func(T) bool) {
	if at := slices.IndexFunc(*list, same); at >= 0 {
		(*list)[at] = object
	} else {
		*list = append(*list, object)
	}
}

// lastApplied returns what kubectl applied last; empty without its annotation.
func lastApplied(annotations map[string]string) (map[string]any, error) {
	last := map[string]any{}

	applied := annotations[corev1.LastAppliedConfigAnnotation]
	if applied == "" {
		return last, nil
	}

	if err := json.Unmarshal([]byte(applied), &last); err != nil {
		return nil, fmt.Errorf("the live object has a damaged annotation %s, which kubectl apply refuses too; remove the annotation: %w",
			corev1.LastAppliedConfigAnnotation, err)
	}

	return last, nil
}

// mergeObject returns a live object after the file was applied. Elements of lists keep the fields that the file does not set, which the API
// server has filled in.
func mergeObject(live, given *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	last, err := lastApplied(live.GetAnnotations())
	if err != nil {
		return nil, fmt.Errorf("applying %s %s/%s: %w", given.GetKind(), given.GetNamespace(), given.GetName(), err)
	}

	encodeStringData(&unstructured.Unstructured{Object: last})

	if _, has := last[metadataKey]; !has {
		last[metadataKey] = map[string]any{}
	}

	merged := threeWay(last, given.Object, live.Object)
	fillLists(merged, live.Object)

	return &unstructured.Unstructured{Object: merged}, nil
}

// fillLists fills the elements of lists of a merged object with the fields of the live elements at the same place that they lack. Of lists
// with another length nothing is filled.
func fillLists(merged, live map[string]any) {
	for key, value := range merged {
		switch typed := value.(type) {
		case map[string]any:
			if fields, isMap := live[key].(map[string]any); isMap {
				fillLists(typed, fields)
			}
		case []any:
			elements, isList := live[key].([]any)
			if !isList || len(elements) != len(typed) {
				continue
			}

			for i := range typed {
				element, isMap := typed[i].(map[string]any)
				fields, isAlso := elements[i].(map[string]any)

				if isMap && isAlso {
					filled := threeWay(nil, element, fields)
					fillLists(filled, fields)
					typed[i] = filled
				}
			}
		}
	}
}

// Deliver sets the delivered kinds, as Reader.Deliver does.
func (c *ChangeReader) Deliver(kinds []federation.Kind) { c.reader.Deliver(kinds) }

// decidesDelivery reports whether a kind decides about delivery, besides Placements and Namespaces.
func (r *Reader) decidesDelivery(gvk schema.GroupVersionKind) bool {
	return gvk == bindingKind || isFederated(&r.state, gvk)
}
