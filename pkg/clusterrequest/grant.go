// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

// requestKind is the kind of the owner of a Grant.
const requestKind = "ClusterRequest"

// GrantOwner returns the UID of the request that owns a Grant; "" if none does.
func GrantOwner(grant *openmcpv1alpha1.ClusterRequestGrant) types.UID {
	for _, owner := range grant.OwnerReferences {
		if isRequest(owner) {
			return owner.UID
		}
	}
	return ""
}

func isRequest(owner metav1.OwnerReference) bool {
	return owner.Kind == requestKind && owner.APIVersion == openmcpv1alpha1.GroupVersion.String()
}

// newGrant returns the Grant of a request on a Cluster that has its finalizer and prefix.
func newGrant(request *openmcpv1alpha1.ClusterRequest, cluster *openmcpv1alpha1.Cluster, now metav1.Time) *openmcpv1alpha1.ClusterRequestGrant {
	return &openmcpv1alpha1.ClusterRequestGrant{
		TypeMeta: typeMeta("ClusterRequestGrant"),
		ObjectMeta: metav1.ObjectMeta{
			Namespace: request.Namespace, Name: request.Name, OwnerReferences: []metav1.OwnerReference{ownerReference(request)},
		},
		Spec: openmcpv1alpha1.ClusterRequestGrantSpec{
			ClusterRef: openmcpv1alpha1.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name},
			Prefix:     Prefix(cluster, request.UID),
			Cluster:    recorded(cluster),
		},
		Status: openmcpv1alpha1.ClusterRequestGrantStatus{
			ConditionedStatus: openmcpv1alpha1.ConditionedStatus{ObservedGeneration: request.Generation, LastReconcileTime: ptr.To(now)},
			Request: &openmcpv1alpha1.ClusterRequestSnapshot{
				Metadata: openmcpv1alpha1.NamespacedName{Namespace: request.Namespace, Name: request.Name},
				Spec:     *request.Spec.DeepCopy(),
			},
		},
	}
}

// ownerReference makes the garbage collector delete the Grant with its request. It does not block the deletion of the request.
func ownerReference(request *openmcpv1alpha1.ClusterRequest) metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion: openmcpv1alpha1.GroupVersion.String(), Kind: requestKind, Name: request.Name, UID: request.UID, Controller: ptr.To(true),
	}
}

// isFor reports whether the snapshot of a Grant equals the spec of a request.
func isFor(grant *openmcpv1alpha1.ClusterRequestGrant, request *openmcpv1alpha1.ClusterRequest) bool {
	return grant.Status.Request != nil && equality.Semantic.DeepEqual(grant.Status.Request.Spec, request.Spec)
}

// adopted returns the Grant with another request as its owner.
func adopted(grant *openmcpv1alpha1.ClusterRequestGrant, request *openmcpv1alpha1.ClusterRequest) *openmcpv1alpha1.ClusterRequestGrant {
	adopted := grant.DeepCopy()
	adopted.OwnerReferences = append(slices.DeleteFunc(adopted.OwnerReferences, isRequest), ownerReference(request))
	return adopted
}
