// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/placement-hub/placement-hub/pkg/explain/objectlist"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// list is a list of objects of a State.
type list interface {
	// concerns reports whether the objects of the list decide about some results.
	concerns(concerns Concern) bool
	// all returns the objects, and find the one of the type, kind, namespace and name of another, or nil.
	all(s *State) []api.Object
	find(s *State, object api.Object) api.Object
	// add adds an object that is not in the list, and put adds or replaces one in a copy of the list.
	add(s *State, object api.Object) error
	put(s *State, object api.Object) error
	// remove removes one from a copy of the list, if it has it.
	remove(s *State, object api.Object)
}

// listOf is a list of a State, for some results. Kinds with objects in one list have the same *listOf.
type listOf[T api.Object] struct {
	of      func(*State) *[]T
	results Concern
}

func newList[T api.Object](results Concern, of func(*State) *[]T) *listOf[T] {
	return &listOf[T]{of, results}
}

func (l *listOf[T]) concerns(concerns Concern) bool { return l.results&concerns != 0 }

func (l *listOf[T]) all(s *State) []api.Object {
	objects := make([]api.Object, 0, len(*l.of(s)))
	for _, object := range *l.of(s) {
		objects = append(objects, object)
	}
	return objects
}

func (l *listOf[T]) find(s *State, object api.Object) api.Object {
	typed, is := object.(T)
	if !is {
		return nil
	}
	if at := objectlist.Index(*l.of(s), typed); at >= 0 {
		return (*l.of(s))[at]
	}
	return nil
}

func (l *listOf[T]) add(s *State, object api.Object) error {
	typed, is := object.(T)
	if !is {
		return fmt.Errorf("a list of %T has no %T", *l.of(s), object)
	}
	*l.of(s) = append(*l.of(s), typed)
	return nil
}

func (l *listOf[T]) put(s *State, object api.Object) error {
	typed, is := object.(T)
	if !is {
		return fmt.Errorf("a list of %T has no %T", *l.of(s), object)
	}
	*l.of(s) = objectlist.Overlay(*l.of(s), []T{typed})
	return nil
}

func (l *listOf[T]) remove(s *State, object api.Object) {
	typed, is := object.(T)
	if !is {
		return
	}
	if at := objectlist.Index(*l.of(s), typed); at >= 0 {
		*l.of(s) = slices.Delete(slices.Clone(*l.of(s)), at, at+1)
	}
}

// ifDelivered is the list of the objects that are delivered to clusters. It leaves out those of kinds that the hub of the State does not deliver.
type ifDelivered struct {
	*listOf[*unstructured.Unstructured]
}

func (i ifDelivered) add(s *State, object api.Object) error {
	if !s.delivers(object) {
		return nil
	}
	return i.listOf.add(s, object)
}

func (i ifDelivered) put(s *State, object api.Object) error {
	if !s.delivers(object) {
		return nil
	}
	return i.listOf.put(s, object)
}

// deliveredPlacements adds the Placements that the hub of the State delivers to other hubs to the objects that are delivered. They are in the list of
// Placements, too.
type deliveredPlacements struct{ ifDelivered }

// all and find leave the Placements to their own list.
func (d deliveredPlacements) all(*State) []api.Object { return nil }

func (d deliveredPlacements) find(*State, api.Object) api.Object { return nil }

func (d deliveredPlacements) add(s *State, object api.Object) error {
	delivered, err := asDelivered(object)
	if err != nil {
		return err
	}
	return d.ifDelivered.add(s, delivered)
}

func (d deliveredPlacements) put(s *State, object api.Object) error {
	delivered, err := asDelivered(object)
	if err != nil {
		return err
	}
	return d.ifDelivered.put(s, delivered)
}

func (d deliveredPlacements) remove(s *State, object api.Object) {
	if delivered, err := asDelivered(object); err == nil { // Without it there is nothing to remove.
		d.ifDelivered.remove(s, delivered)
	}
}

// asDelivered returns a Placement as delivered objects are kept: without what its type says of fields that are not set.
func asDelivered(placement api.Object) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(placement)
	if err != nil {
		return nil, fmt.Errorf("converting Placement %s/%s: %w", placement.GetNamespace(), placement.GetName(), err)
	}
	if spec, is := content["spec"].(map[string]any); is {
		withoutEmpty(spec)
	}
	object := &unstructured.Unstructured{Object: content}
	object.SetGroupVersionKind(api.V1beta1.Kind())
	return object, nil
}

// withoutEmpty removes the empty objects in the spec of a Placement, and the number of clusters in a group that its type has where none is set.
func withoutEmpty(object map[string]any) {
	maps.DeleteFunc(object, func(name string, value any) bool {
		if name == "clustersPerDecisionGroup" {
			return value == int64(0)
		}
		inner, is := value.(map[string]any)
		if is {
			withoutEmpty(inner)
		}
		return is && len(inner) == 0
	})
}

// DeliveredKind returns the kind by which a State keeps objects that are delivered. Placements that a hub of hubs delivers are a kind of their own
// there.
func (s *State) DeliveredKind(kind federation.FederatedKind) *Kind {
	if kind.SelectsClusters() {
		return newDelivered(kind.GroupVersionKind, nil)
	}
	return s.KindOf(kind.GroupVersionKind)
}

func (s *State) delivers(object api.Object) bool {
	_, is := s.Federated.KindOf(object.GetObjectKind().GroupVersionKind())
	return is
}

// namespaces are the lists that have the Namespaces.
var namespaces = []list{
	newList(OfPods, func(s *State) *[]*corev1.Namespace { return &s.Pods.Namespaces }),
	newList(OfDelivery, func(s *State) *[]*corev1.Namespace { return &s.Federated.Namespaces }),
}
