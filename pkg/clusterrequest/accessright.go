// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"fmt"
	"slices"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

const (
	// AccessReviewPeriod is the longest time between two reviews of the rights that an access was given for (docs/spec/trust.md R8).
	AccessReviewPeriod = 5 * time.Minute
	// AccessReviewGrace is the shortest time between the two reviews in a row that have to say no before an access ends.
	AccessReviewGrace = time.Minute
)

// AccessRight is a right that the requester of an AccessRequest needs, for as long as the access lasts.
type AccessRight struct {
	// Verbs are those of which one is enough.
	Verbs                 []string
	Resource, Subresource string
	// Object is the key of the object; without a name it is every object of the namespace.
	Object types.NamespacedName
	// why begins the message of a refusal.
	why string
}

// AccessRights returns the rights that the requester of an AccessRequest needs for a Cluster: those that admission asked for when the AccessRequest
// was written, and that for a shared Cluster, which may not be known then. A requester that is not known has no rights, and needs none but the last.
func AccessRights(access *openmcpv1alpha1.AccessRequest, cluster *openmcpv1alpha1.Cluster) []AccessRight {
	var rights []AccessRight
	key, isRequest := AccessReference(access)
	shared := cluster.Spec.Tenancy == openmcpv1alpha1.TenancyShared
	known := AccessRequester(access) != ""

	resource, kind := "clusters", "Cluster"
	if isRequest {
		resource, kind = "clusterrequests", "ClusterRequest"
	}
	// The right for a shared Cluster includes that for a Cluster of another namespace.
	if key.Namespace != access.Namespace && known && (isRequest || !shared) {
		rights = append(rights, AccessRight{
			Verbs: []string{"create"}, Resource: resource, Subresource: "access", Object: key,
			why: fmt.Sprintf("%s '%s' is in another namespace", kind, key),
		})
	}
	if shared {
		rights = append(rights, AccessRight{
			Verbs: []string{"create"}, Resource: "clusters", Subresource: "access", Object: keyOf(cluster),
			why: fmt.Sprintf("Cluster '%s' is shared", keyOf(cluster)),
		})
	}
	if len(rights) == 0 && known {
		rights = append(rights, AccessRight{
			Verbs: []string{"create", "update", "patch"}, Resource: "accessrequests", Object: types.NamespacedName{Namespace: access.Namespace},
			why: fmt.Sprintf("Cluster '%s' is for those who may write AccessRequests in namespace '%s'", keyOf(cluster), access.Namespace),
		})
	}
	return rights
}

// purposeRights returns the rights to use the Purposes of a ClusterRequest. An access lasts as long as they do only if the requester had all of them
// when it was given: a ClusterRequest does not say who made it, and a colleague without these rights may ask for access to its Cluster.
func purposeRights(access *openmcpv1alpha1.AccessRequest, request *openmcpv1alpha1.ClusterRequest) []AccessRight {
	if request == nil || AccessRequester(access) == "" {
		return nil
	}
	rights := make([]AccessRight, 0, len(request.Spec.Purposes))
	for _, purpose := range request.Spec.Purposes {
		rights = append(rights, AccessRight{
			Verbs: []string{"use"}, Resource: "purposes", Object: types.NamespacedName{Namespace: request.Namespace, Name: string(purpose)},
			why: fmt.Sprintf("ClusterRequest '%s' has Purpose '%s'", keyOf(request), purpose),
		})
	}
	return rights
}

// UsesRecorded reports whether it is known if the requester of the present generation of an AccessRequest could use the Purposes.
func UsesRecorded(access *openmcpv1alpha1.AccessRequest) bool {
	usable := meta.FindStatusCondition(access.Status.Conditions, openmcpv1alpha1.ConditionPurposesUsable)
	return usable != nil && usable.ObservedGeneration == access.Generation
}

// RightsThatLast returns the rights without which an access that was given ends.
func (r AccessResolution) RightsThatLast(access *openmcpv1alpha1.AccessRequest) []AccessRight {
	if UsesRecorded(access) && meta.IsStatusConditionTrue(access.Status.Conditions, openmcpv1alpha1.ConditionPurposesUsable) {
		return slices.Concat(r.Rights, r.Uses)
	}
	return r.Rights
}

// Attributes returns what the API server is asked about the right, one for each verb.
func (r AccessRight) Attributes() []*authorizationv1.ResourceAttributes {
	all := make([]*authorizationv1.ResourceAttributes, 0, len(r.Verbs))
	for _, verb := range r.Verbs {
		all = append(all, &authorizationv1.ResourceAttributes{
			Verb: verb, Group: openmcpv1alpha1.GroupName, Version: openmcpv1alpha1.GroupVersion.Version,
			Resource: r.Resource, Subresource: r.Subresource, Namespace: r.Object.Namespace, Name: r.Object.Name,
		})
	}
	return all
}

// String names the right, as in "create clusters/access of Cluster 'a/b'".
func (r AccessRight) String() string {
	resource := r.Resource
	if r.Subresource != "" {
		resource += "/" + r.Subresource
	}
	if r.Object.Name == "" {
		return fmt.Sprintf("%s %s in namespace '%s'", r.Verbs[0], resource, r.Object.Namespace)
	}
	return fmt.Sprintf("%s %s of '%s'", r.Verbs[0], resource, r.Object)
}

// AccessRefused reports whether the requester of the present generation of an AccessRequest has been refused. That is final: a right that comes later
// counts for the next AccessRequest, or the next spec.
func AccessRefused(access *openmcpv1alpha1.AccessRequest) bool {
	resolved := meta.FindStatusCondition(access.Status.Conditions, openmcpv1alpha1.ConditionResolved)
	return resolved != nil && resolved.Status == metav1.ConditionFalse && resolved.Reason == openmcpv1alpha1.ReasonAccessNotAllowed &&
		resolved.ObservedGeneration == access.Generation
}

// Refused returns the resolution after a review that said no to a right.
func (r AccessResolution) Refused(access *openmcpv1alpha1.AccessRequest, right AccessRight) AccessResolution {
	r.Status, r.Reason, r.Resolved = openmcpv1alpha1.RequestDenied, openmcpv1alpha1.ReasonAccessNotAllowed, metav1.ConditionFalse
	r.Message = fmt.Sprintf("%s, and it is not known who asks: the webhook of AccessRequests writes spec.requester", right.why)
	if user := AccessRequester(access); user != "" {
		r.Message = fmt.Sprintf("%s, and user '%s' has no permission to %s: ask for it, and then change the spec or create another AccessRequest",
			right.why, user, right)
	}
	return r
}
