// SPDX-License-Identifier: Apache-2.0

package controller

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// workName indexes ManifestWorks by their name, which is the same in all clusters.
const workName = "name"

var namespaceResource = corev1.SchemeGroupVersion.WithResource("namespaces")

var workKind = schema.GroupVersion(workv1.GroupVersion).WithKind("ManifestWork")

var managedCluster = inventory.Clusters.Resource.GroupVersion().WithKind("ManagedCluster")

func groupKind(kind federation.FederatedKind) inventory.GroupKind {
	return inventory.GroupKind(kind.GroupKind().String())
}

func resourceOf(kind federation.FederatedKind) schema.GroupVersionResource {
	return kind.GroupVersion().WithResource(kind.Resource)
}

func keyOf(kind inventory.GroupKind, object metav1.Object) inventory.Key {
	return inventory.Key{NamespacedName: nameOf(object), GroupKind: kind}
}

func nameOf(object metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}

// dependencyKey returns the key of a dependency, which is in the core group.
func dependencyKey(namespace string, d federation.Dependency) inventory.Key {
	return inventory.Key{NamespacedName: types.NamespacedName{Namespace: namespace, Name: d.Name}, GroupKind: inventory.GroupKind(d.Kind)}
}
