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

// groups are the API groups whose objects are defined by CustomResourceDefinitions and read by the hub. Objects of the groups that are compiled
// into an API server have been decoded by the same Go types there.
var groups = []string{clusterv1.GroupName, placementv1alpha1.GroupName, clusterinventory.GroupVersion.Group}

// covered is the kind of a typed object or list of the groups; false for everything else.
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

// itemKind is the kind of the items of a list.
func itemKind(list schema.GroupVersionKind) schema.GroupVersionKind {
	list.Kind = strings.TrimSuffix(list.Kind, "List")

	return list
}
