// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

// AccessMark is what an object on a target cluster says of the AccessRequest that it was made for. By the marks a provider finds objects whose
// AccessRequest went without its finalizer (docs/spec/trust.md R7).
type AccessMark struct {
	// ID is the value of the label AccessIDLabel.
	ID string
	// Request is the key of the AccessRequest.
	Request types.NamespacedName
	// UID is that of the AccessRequest, and Cluster the <namespace>/<name> of the Cluster; empty on an object of a provider that did not write
	// them.
	UID     types.UID
	Cluster string
}

// AccessMarkOf returns the mark of an object on a target cluster. Objects from before the annotation have the name in their label.
func AccessMarkOf(object metav1.Object) AccessMark {
	labels, annotations := object.GetLabels(), object.GetAnnotations()
	mark := AccessMark{
		ID: labels[openmcpv1alpha1.AccessIDLabel], UID: types.UID(annotations[openmcpv1alpha1.AccessRequestUIDAnnotation]),
		Cluster: annotations[openmcpv1alpha1.ClusterAnnotation],
		Request: types.NamespacedName{
			Namespace: labels[openmcpv1alpha1.AccessRequestNamespaceLabel], Name: labels[openmcpv1alpha1.AccessRequestNameLabel],
		},
	}
	if namespace, name, found := strings.Cut(annotations[openmcpv1alpha1.AccessRequestAnnotation], "/"); found {
		mark.Request = types.NamespacedName{Namespace: namespace, Name: name}
	}
	return mark
}

// By reports whether a provider made the object of the mark. The ID is a hash of environment, provider and AccessRequest, so that the objects of
// other hubs and providers, and objects with a label that was cut, do not count.
func (m AccessMark) By(environment, provider string) bool {
	return m.ID != "" && m.ID == AccessID(environment, provider, m.Request)
}

// Left reports whether the object of the mark, on the cluster of a Cluster, is left of an access that has ended. request is the present
// AccessRequest of that name; nil if there is none. An AccessRequest that was never decided on keeps what was made for it, but not what was made
// for a former one of its name, which it could otherwise keep alive by never being decided on.
func (m AccessMark) Left(request *openmcpv1alpha1.AccessRequest, cluster types.NamespacedName) bool {
	if m.Cluster != "" && m.Cluster != cluster.String() {
		return false // Two Clusters are of one cluster.
	}
	if request == nil {
		return true
	}
	ref := request.Status.ClusterRef
	switch {
	case ref != nil && keyOfName(*ref) != cluster:
		return m.Cluster != ""
	case m.UID != "" && m.UID != request.UID:
		return !AccessResolved(request) // The provider gives its access, and takes the objects over.
	case ref != nil:
		return false // The provider decides by the condition.
	default:
		return meta.IsStatusConditionFalse(request.Status.Conditions, openmcpv1alpha1.ConditionResolved)
	}
}

// AccessID returns the value of the label AccessIDLabel of the objects of an AccessRequest.
func AccessID(environment, provider string, request types.NamespacedName) string {
	return hash(fmt.Sprintf("%q %q %q", environment, provider, request), accessIDLength)
}
