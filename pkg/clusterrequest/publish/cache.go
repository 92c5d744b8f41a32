// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
)

// nodeLeases is the namespace of the Leases of nodes, which are many and of no interest.
const nodeLeases = "kube-node-lease"

// objectCache returns a cache of Leases, and of the metadata of the objects that have the label ClusterLabel. It is not that of the manager,
// which has other ones of these kinds.
func objectCache(mgr manager.Manager) (cache.Cache, error) {
	published, err := labels.NewRequirement(openmcpv1alpha1.ClusterLabel, selection.Exists, nil)
	if err != nil {
		return nil, fmt.Errorf("selecting by label %s: %w", openmcpv1alpha1.ClusterLabel, err)
	}
	return objects.MetadataCache(mgr, "namespaces and Leases", objects.Annotation(openmcpv1alpha1.ClusterAnnotation), cache.Options{
		DefaultLabelSelector: labels.NewSelector().Add(*published),
		ByObject: map[client.Object]cache.ByObject{
			&coordinationv1.Lease{}: {
				Label: labels.Everything(), Field: fields.OneTermNotEqualSelector("metadata.namespace", nodeLeases),
			},
		},
	})
}

// companions are the kinds of the objects that a published Cluster has beside its ManagedCluster.
func companions() []*metav1.PartialObjectMetadata {
	return []*metav1.PartialObjectMetadata{metadataOf("Namespace"), metadataOf("ServiceAccount"), metadataOf("RoleBinding")}
}

// metadataOf returns an object whose kind makes caches and clients transfer metadata only.
func metadataOf(kind string) *metav1.PartialObjectMetadata {
	if kind == "RoleBinding" {
		return objects.Metadata(rbacv1.SchemeGroupVersion.WithKind(kind))
	}
	return objects.Metadata(corev1.SchemeGroupVersion.WithKind(kind))
}
