// SPDX-License-Identifier: Apache-2.0

package explain

import (
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
)

// OutcomeWritten is the outcome of a request that was not evaluated.
const OutcomeWritten = "Written"

// NewWrittenReport reports the status and the Grant that the hub has written for a request that was not evaluated; unanswered is the reason.
// The Grants are those of its namespace.
func NewWrittenReport(
	request *openmcpv1alpha1.ClusterRequest, grants []*openmcpv1alpha1.ClusterRequestGrant, unanswered string,
) Report {
	report := Report{
		Namespace: request.Namespace, Name: request.Name, Outcome: OutcomeWritten, Unanswered: unanswered,
		Status: string(request.Status.Status), Reason: request.Status.Reason, Message: request.Status.Message,
	}
	for _, purpose := range request.Spec.Purposes {
		report.Requirement.Purposes = append(report.Requirement.Purposes, string(purpose))
	}

	for _, grant := range grants {
		if keyOf(grant) == keyOf(request) && clusterrequest.GrantOwner(grant) == request.UID {
			report.Cluster = newGranted(grant, false)
		}
	}
	return report
}
