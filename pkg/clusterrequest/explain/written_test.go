// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

// docs/spec/differences.md E1a: a request that cannot be evaluated is reported with its status, and with its own Grant alone.
func TestWrittenReports(t *testing.T) {
	request := &openmcpv1alpha1.ClusterRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "ci", UID: "1"}}
	request.Spec.Purposes = []openmcpv1alpha1.PurposeName{"workload"}
	request.Status.Status, request.Status.Reason, request.Status.Message = "Denied", "NoMatchingProfile", "no profile fits"

	grant := func(namespace, owner string) *openmcpv1alpha1.ClusterRequestGrant {
		return &openmcpv1alpha1.ClusterRequestGrant{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "ci", OwnerReferences: []metav1.OwnerReference{{
				APIVersion: openmcpv1alpha1.GroupVersion.String(), Kind: "ClusterRequest", Name: "ci", UID: "1",
			}}},
			Spec: openmcpv1alpha1.ClusterRequestGrantSpec{ClusterRef: openmcpv1alpha1.NamespacedName{Namespace: "team-a", Name: owner}},
		}
	}

	want := Report{
		Namespace: "team-a", Name: "ci", Outcome: OutcomeWritten, Unanswered: "because", Status: "Denied", Reason: "NoMatchingProfile",
		Message: "no profile fits", Requirement: Requirement{Purposes: []string{"workload"}},
	}
	if diff := cmp.Diff(want, NewWrittenReport(request, []*openmcpv1alpha1.ClusterRequestGrant{grant("team-b", "other")}, "because")); diff != "" {
		t.Errorf("without a Grant of its own (-want +got):\n%s", diff)
	}

	want.Cluster = &Granted{Namespace: "team-a", Name: "own"}
	if diff := cmp.Diff(want, NewWrittenReport(request, []*openmcpv1alpha1.ClusterRequestGrant{grant("team-a", "own")}, "because")); diff != "" {
		t.Errorf("with a Grant (-want +got):\n%s", diff)
	}
}
