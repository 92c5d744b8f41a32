// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

// AccessDuty is what a provider has to do for an AccessRequest.
type AccessDuty string

// The duties.
const (
	// AccessWait means that the provider leaves everything as it is: the AccessRequest is not its own, or the hub has not decided.
	AccessWait AccessDuty = "Wait"
	// AccessGrant means that the provider gives the access, or keeps it.
	AccessGrant AccessDuty = "Grant"
	// AccessWithdraw means that the provider removes the access from the cluster, the Secret and its finalizer.
	AccessWithdraw AccessDuty = "Withdraw"
	// AccessRelease means that the Cluster is gone: only the Secret and the finalizer are removed.
	AccessRelease AccessDuty = "Release"
)

// AccessDutyOf returns what a provider has to do for an AccessRequest whose status names a Cluster, which is nil if it does not exist. Of an
// AccessRequest whose Cluster is gone the label says whose it was.
func AccessDutyOf(provider string, request *openmcpv1alpha1.AccessRequest, cluster *openmcpv1alpha1.Cluster) AccessDuty {
	ends := request.DeletionTimestamp != nil || meta.IsStatusConditionFalse(request.Status.Conditions, openmcpv1alpha1.ConditionResolved)
	held := slices.Contains(request.Finalizers, openmcpv1alpha1.AccessFinalizer)
	foreign := AccessProvider(request, cluster) != provider
	switch {
	case request.Status.ClusterRef == nil || foreign:
		return AccessWait
	case ends && held && cluster == nil:
		return AccessRelease
	case ends && held:
		return AccessWithdraw
	case !ends && cluster != nil && AccessResolved(request) && !needsReview(request, cluster):
		return AccessGrant
	default:
		return AccessWait
	}
}

// needsReview reports whether a Cluster needs a permission that the condition Resolved does not have, such as a shared Cluster that has taken
// the place of an exclusive one of its name.
func needsReview(request *openmcpv1alpha1.AccessRequest, cluster *openmcpv1alpha1.Cluster) bool {
	resolved := meta.FindStatusCondition(request.Status.Conditions, openmcpv1alpha1.ConditionResolved)
	return cluster.Spec.Tenancy == openmcpv1alpha1.TenancyShared &&
		(resolved == nil || resolved.Reason != openmcpv1alpha1.ReasonAccessAllowed)
}

// AccessGranted reports whether the present generation of an AccessRequest is granted.
func AccessGranted(request *openmcpv1alpha1.AccessRequest) bool {
	return request.Status.Status == openmcpv1alpha1.RequestGranted && request.Status.ObservedGeneration == request.Generation
}
