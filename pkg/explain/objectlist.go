// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/placement-hub/placement-hub/pkg/explain/objectlist"
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

func (s *State) delivers(object api.Object) bool {
	_, is := s.Federated.KindOf(object.GetObjectKind().GroupVersionKind())
	return is
}

// namespaces are the lists that have the Namespaces.
var namespaces = []list{
	newList(OfPods, func(s *State) *[]*corev1.Namespace { return &s.Pods.Namespaces }),
	newList(OfDelivery, func(s *State) *[]*corev1.Namespace { return &s.Federated.Namespaces }),
}
