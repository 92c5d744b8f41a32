// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

// AccessReferents are what the reference of an AccessRequest leads to. Each is nil if it does not exist.
type AccessReferents struct {
	Request *openmcpv1alpha1.ClusterRequest
	Grant   *openmcpv1alpha1.ClusterRequestGrant
	Cluster *openmcpv1alpha1.Cluster
	// RequestLost says that the ClusterRequest may be gone, or is being deleted, with its CustomResourceDefinition.
	RequestLost bool
	// NoAccess says that the ClusterProvider of the Cluster does not exist or has no spec.access.
	NoAccess bool
}

// AccessResolution is what the hub decides on an AccessRequest.
type AccessResolution struct {
	Result

	// Resolved is the status of the condition Resolved; empty leaves the condition as it is.
	Resolved metav1.ConditionStatus
	// Cluster is the one to give access to; nil if there is none.
	Cluster *openmcpv1alpha1.Cluster
	// Rights are what the requester needs for the access to be given, and for it to stay. Review says that they have to be asked for before it is
	// given: see Refused.
	Rights []AccessRight
	Review bool
	// Uses are the rights to use the Purposes of the ClusterRequest; see RightsThatLast. Usable is whether the requester has all of them, for the
	// condition PurposesUsable; empty leaves it as it is.
	Uses   []AccessRight
	Usable metav1.ConditionStatus
}

// Labels returns the labels of an AccessRequest that is resolved.
func (r AccessResolution) Labels() map[string]string {
	ref := r.Cluster.Spec.ClusterProviderRef
	return map[string]string{openmcpv1alpha1.ProviderLabel: ref.Name, openmcpv1alpha1.ProfileLabel: string(ref.Profile)}
}

// AccessReference returns the key of the object in the spec of an AccessRequest, and whether it is a ClusterRequest. Otherwise it is a
// Cluster.
func AccessReference(access *openmcpv1alpha1.AccessRequest) (key types.NamespacedName, isRequest bool) {
	ref := access.Spec.ClusterRef
	if ref == nil {
		ref, isRequest = access.Spec.RequestRef, true
	}
	key = types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
	if key.Namespace == "" {
		key.Namespace = access.Namespace
	}
	return key, isRequest
}

// AccessCluster returns the key of the Cluster that the reference of an AccessRequest leads to; false if it leads to none, because the
// ClusterRequest has no Grant.
func AccessCluster(access *openmcpv1alpha1.AccessRequest, to AccessReferents) (types.NamespacedName, bool) {
	key, isRequest := AccessReference(access)
	if !isRequest {
		return key, true
	}
	if to.Request == nil || to.Grant == nil || GrantOwner(to.Grant) != to.Request.UID {
		return types.NamespacedName{}, false
	}
	return keyOfName(to.Grant.Spec.ClusterRef), true
}

// ResolveAccess decides on an AccessRequest. Once it is resolved, the access is withdrawn only if the ClusterRequest is deleted or has another
// Cluster, or the requester has lost one of the rights. A Cluster that is only missing may be created again, and so may a ClusterRequest that was
// lost with its CustomResourceDefinition. A refusal stays for its generation, whatever comes and goes meanwhile.
func ResolveAccess(access *openmcpv1alpha1.AccessRequest, to AccessReferents) AccessResolution {
	found := resolveAccess(access, to)
	if AccessRefused(access) && found.Resolved != metav1.ConditionTrue {
		return stillRefused(access, found.Cluster)
	}
	return found
}

// stillRefused returns the refusal of the present generation of an AccessRequest.
func stillRefused(access *openmcpv1alpha1.AccessRequest, cluster *openmcpv1alpha1.Cluster) AccessResolution {
	return AccessResolution{Cluster: cluster, Resolved: metav1.ConditionFalse, Result: Result{
		Status: openmcpv1alpha1.RequestDenied, Reason: openmcpv1alpha1.ReasonAccessNotAllowed,
		Message: meta.FindStatusCondition(access.Status.Conditions, openmcpv1alpha1.ConditionResolved).Message,
	}}
}

func resolveAccess(access *openmcpv1alpha1.AccessRequest, to AccessReferents) AccessResolution {
	given := access.Status.ClusterRef
	key, isRequest := AccessReference(access)
	target, granted := AccessCluster(access, to)
	if isRequest && to.requestGone(given != nil) {
		return withoutRequest(key, to, given != nil)
	}

	switch {
	case !granted && given == nil:
		return unresolved(metav1.ConditionFalse, "ClusterRequest '%s' is not granted", key)
	case !granted:
		return unresolved("", "ClusterRequest '%s' is not granted", key)
	case given != nil && keyOfName(*given) != target:
		return unresolved(metav1.ConditionFalse, "ClusterRequest '%s' has another Cluster now: the access to the former is removed first", key)
	case to.Cluster == nil && given == nil:
		return unresolved(metav1.ConditionUnknown, "Cluster '%s' not found", target)
	case to.Cluster == nil:
		return unresolved("", "Cluster '%s' not found", target)
	}

	if to.NoAccess && access.Status.SecretRef == nil {
		return AccessResolution{Resolved: metav1.ConditionFalse, Result: Result{
			Status: openmcpv1alpha1.RequestDenied, Reason: openmcpv1alpha1.ReasonNoAccess, Message: fmt.Sprintf(
				"ClusterProvider %s gives no access to its clusters (spec.access): ask for a Cluster of another profile",
				to.Cluster.Spec.ClusterProviderRef.Name),
		}}
	}
	found := resolveCluster(access, to.Cluster)
	if isRequest {
		found.Uses = purposeRights(access, to.Request)
	}
	return found
}

// requestGone reports whether the ClusterRequest of an AccessRequest is missing or being deleted.
func (r AccessReferents) requestGone(given bool) bool {
	return r.Request == nil || r.Request.DeletionTimestamp != nil || r.RequestLost && given
}

// withoutRequest decides on an AccessRequest whose ClusterRequest is missing or being deleted.
func withoutRequest(request types.NamespacedName, to AccessReferents, given bool) AccessResolution {
	switch {
	case to.RequestLost && given:
		return unresolved("", "ClusterRequest '%s' is gone with its CustomResourceDefinition: the access stays until it is created again. "+
			"To end the access, delete the AccessRequest", request)
	case to.Request == nil:
		return unresolved(metav1.ConditionFalse, "ClusterRequest '%s' not found", request)
	default:
		return unresolved(metav1.ConditionFalse, "ClusterRequest '%s' is being deleted", request)
	}
}

// AccessProvider returns the name of the ClusterProvider of an AccessRequest: that of its Cluster or, if that is nil, of the label that the
// hub wrote; empty if it is not known.
func AccessProvider(access *openmcpv1alpha1.AccessRequest, cluster *openmcpv1alpha1.Cluster) string {
	if cluster != nil {
		return cluster.Spec.ClusterProviderRef.Name
	}
	return access.Labels[openmcpv1alpha1.ProviderLabel]
}

// HubReleasesAccess reports whether the hub removes the finalizer of a provider from an AccessRequest: the provider gives no access, it has
// made no Secret, and the AccessRequest is being deleted or not granted.
func HubReleasesAccess(access *openmcpv1alpha1.AccessRequest, to AccessReferents) bool {
	return to.NoAccess && access.Status.SecretRef == nil && slices.Contains(access.Finalizers, openmcpv1alpha1.AccessFinalizer)
}

// resolveCluster decides on an AccessRequest whose Cluster exists.
func resolveCluster(access *openmcpv1alpha1.AccessRequest, cluster *openmcpv1alpha1.Cluster) AccessResolution {
	found := AccessResolution{Cluster: cluster, Resolved: metav1.ConditionTrue, Result: Result{
		Status: openmcpv1alpha1.RequestPending, Reason: openmcpv1alpha1.ReasonResolved,
		Message: fmt.Sprintf("ClusterProvider '%s' has not given the access yet", cluster.Spec.ClusterProviderRef.Name),
	}}
	found.Rights = AccessRights(access, cluster)
	if AccessRefused(access) && len(found.Rights) > 0 {
		return stillRefused(access, cluster)
	}
	labels := found.Labels()
	for _, label := range []string{openmcpv1alpha1.ProviderLabel, openmcpv1alpha1.ProfileLabel} {
		if is, labelled := access.Labels[label]; labelled && is != labels[label] {
			found.Resolved, found.Reason = metav1.ConditionUnknown, openmcpv1alpha1.ReasonLabelConflict
			found.Message = fmt.Sprintf("label %s is '%s', and Cluster '%s' has '%s': remove the label", label, is, keyOf(cluster), labels[label])
			return found
		}
	}
	if cluster.Spec.Tenancy == openmcpv1alpha1.TenancyShared {
		found.Reason = openmcpv1alpha1.ReasonAccessAllowed
	}
	found.Review = len(found.Rights) > 0 && (!AccessResolved(access) || needsReview(access, cluster))

	return found
}

// ConditionMessage returns the message of the condition Resolved. That of a resolved AccessRequest stays true when the access is given.
func (r AccessResolution) ConditionMessage() string {
	if r.Resolved != metav1.ConditionTrue {
		return r.Message
	}
	return fmt.Sprintf("ClusterProvider '%s' gives access to Cluster '%s'", r.Cluster.Spec.ClusterProviderRef.Name, keyOf(r.Cluster))
}

// AccessRequester returns the name of the user whose permissions count for an AccessRequest; empty if there is none.
func AccessRequester(access *openmcpv1alpha1.AccessRequest) string {
	if access.Spec.Requester == nil {
		return ""
	}
	return access.Spec.Requester.Username
}

// AccessResolved reports whether the present generation of an AccessRequest is resolved.
func AccessResolved(access *openmcpv1alpha1.AccessRequest) bool {
	resolved := meta.FindStatusCondition(access.Status.Conditions, openmcpv1alpha1.ConditionResolved)
	return resolved != nil && resolved.Status == metav1.ConditionTrue && resolved.ObservedGeneration == access.Generation &&
		access.Status.ClusterRef != nil
}

func unresolved(resolved metav1.ConditionStatus, message string, key types.NamespacedName) AccessResolution {
	return AccessResolution{Resolved: resolved, Result: Result{
		Status: openmcpv1alpha1.RequestPending, Reason: openmcpv1alpha1.ReasonInvalidReference, Message: fmt.Sprintf(message, key),
	}}
}

func keyOfName(name openmcpv1alpha1.NamespacedName) types.NamespacedName {
	return types.NamespacedName{Namespace: name.Namespace, Name: name.Name}
}
