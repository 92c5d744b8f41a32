package lenient

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
)

// groups are the API groups that the hub reads and CustomResourceDefinitions define. Objects of built-in groups were already decoded by the
// same Go types in the API server.
var groups = []string{clusterv1.GroupName, placementv1alpha1.GroupName, clusterinventory.GroupVersion.Group}

// covered returns the kind of a typed object or list of the groups; false for all others.
func covered(object runtime.Object, scheme *runtime.Scheme) (schema.GroupVersionKind, bool) {
	if _, untyped := object.(runtime.Unstructured); untyped {
		return schema.GroupVersionKind{}, false
	}

	kinds, _, err := scheme.ObjectKinds(object)
	if err != nil || len(kinds) != 1 || !slices.Contains(groups, kinds[0].Group) {
		return schema.GroupVersionKind{}, false
	}

	return kinds[0], true
}

// itemKind returns the kind of the items of a list.
func itemKind(list schema.GroupVersionKind) schema.GroupVersionKind {
	list.Kind = strings.TrimSuffix(list.Kind, "List")

	return list
}
