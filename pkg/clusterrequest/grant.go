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
			Request:           snapshotOf(request),
		},
	}
}

// ownerReference makes the garbage collector delete the Grant with its request. It does not block the deletion of the request.
func ownerReference(request *openmcpv1alpha1.ClusterRequest) metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion: openmcpv1alpha1.GroupVersion.String(), Kind: requestKind, Name: request.Name, UID: request.UID, Controller: ptr.To(true),
	}
}

// snapshotOf returns the copy of a request that its Grant has.
func snapshotOf(request *openmcpv1alpha1.ClusterRequest) *openmcpv1alpha1.ClusterRequestSnapshot {
	return &openmcpv1alpha1.ClusterRequestSnapshot{
		Metadata: openmcpv1alpha1.NamespacedName{Namespace: request.Namespace, Name: request.Name},
		Spec:     *request.Spec.DeepCopy(),
	}
}

// isFor reports whether a Grant of the name of a request is for it: the snapshot of the Grant equals the spec of the request. A Grant without
// a snapshot was restored without its status, because the hub writes both in one request. It is for a request that what was granted suits.
func isFor(grant *openmcpv1alpha1.ClusterRequestGrant, request *openmcpv1alpha1.ClusterRequest) bool {
	if grant.Status.Request != nil {
		return equality.Semantic.DeepEqual(grant.Status.Request.Spec, request.Spec)
	}
	return suits(&grant.Spec.Cluster, &request.Spec)
}

// suits reports whether a granted Cluster has the purposes, the tenancy and the version that a request itself asks for. What its Purposes ask
// for does not count: they may be restored later than the request.
func suits(cluster *openmcpv1alpha1.GrantedCluster, request *openmcpv1alpha1.ClusterRequestSpec) bool {
	for _, purpose := range request.Purposes {
		if !slices.Contains(cluster.Purposes, purpose) {
			return false
		}
	}
	exclusive := cluster.Tenancy == openmcpv1alpha1.TenancyExclusive
	return ptr.Deref(request.Dedicated, exclusive) == exclusive && versionMatches(versionOf(request.Kubernetes), versionOf(cluster.Kubernetes))
}

// adopted returns the Grant with another request as its owner, and with a snapshot of it if there is none.
func adopted(grant *openmcpv1alpha1.ClusterRequestGrant, request *openmcpv1alpha1.ClusterRequest) *openmcpv1alpha1.ClusterRequestGrant {
	adopted := grant.DeepCopy()
	adopted.OwnerReferences = append(slices.DeleteFunc(adopted.OwnerReferences, isRequest), ownerReference(request))
	if adopted.Status.Request == nil {
		adopted.Status.Request = snapshotOf(request)
	}
	return adopted
}
