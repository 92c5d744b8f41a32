// SPDX-License-Identifier: Apache-2.0

package objectlist

import (
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Overlay returns a list with the objects of another one, which replace those of the same kind, namespace and name. It does not modify its
// arguments.
func Overlay[T metav1.Object](list, objects []T) []T {
	list = slices.Clone(list)
	for _, object := range objects {
		if at := Index(list, object); at >= 0 {
			list[at] = object
		} else {
			list = append(list, object)
		}
	}
	return list
}

// Index returns the index of the object of the same type, kind, namespace and name; -1 if there is none.
func Index[T metav1.Object](list []T, object T) int {
	return slices.IndexFunc(list, func(other T) bool {
		return other.GetName() == object.GetName() && other.GetNamespace() == object.GetNamespace() && kindIn(other) == kindIn(object) &&
			reflect.TypeOf(other) == reflect.TypeOf(object)
	})
}

// Find returns the object of the same kind, namespace and name; the zero value if there is none.
func Find[T metav1.Object](list []T, object T) T {
	var none T
	if at := Index(list, object); at >= 0 {
		return list[at]
	}
	return none
}

// kindIn returns the kind of an object that can be in a list with other kinds; empty for a typed one.
func kindIn(object metav1.Object) string {
	if untyped, is := object.(interface{ GetKind() string }); is {
		return untyped.GetKind()
	}
	return ""
}
