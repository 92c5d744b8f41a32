// SPDX-License-Identifier: Apache-2.0

package decoding

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

// covered returns the kind of a typed object or list whose API group CustomResourceDefinitions define; false for all others. Objects of
// built-in groups were already decoded by the same Go types in the API server.
func covered(object runtime.Object, scheme *runtime.Scheme) (schema.GroupVersionKind, bool) {
	if _, untyped := object.(runtime.Unstructured); untyped {
		return schema.GroupVersionKind{}, false
	}
	kinds, _, err := scheme.ObjectKinds(object)
	if err != nil || len(kinds) != 1 || clientgoscheme.Scheme.IsGroupRegistered(kinds[0].Group) {
		return schema.GroupVersionKind{}, false
	}
	return kinds[0], true
}

// itemKind returns the kind of the items of a list.
func itemKind(list schema.GroupVersionKind) schema.GroupVersionKind {
	list.Kind = strings.TrimSuffix(list.Kind, "List")
	return list
}
