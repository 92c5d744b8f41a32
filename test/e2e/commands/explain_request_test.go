// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/manifests"
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// docs/spec/differences.md E1a: with the shipped roles for a namespace and fleet-view a tenant may explain a ClusterRequest; without fleet-view
// the tenant sees the written status, and which role is missing.
func TestExplainRequestAsATenant(t *testing.T) {
	h := suite.StartHub(t)
	suite.Must(t, manifests.InstallSystem(t.Context(), h.Environment.AdminConfig(), manifests.ClusterRequest, ""))
	suite.Must(t, h.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team-a"}}))
	request := &openmcpv1alpha1.ClusterRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "ci"}}
	request.Spec.Purposes = []openmcpv1alpha1.PurposeName{"workload"}
	suite.Must(t, h.Client.Create(t.Context(), request))
	request.Status.Status, request.Status.Reason, request.Status.Message = "Denied", "PurposeNotFound", "Purpose workload does not exist"
	suite.Must(t, h.Client.Status().Update(t.Context(), request))

	const view = "open-cluster-management:placement-hub:clusterrequest-view"
	p := suite.Run(t, "explain", "--kubeconfig", withRoles(t, h, "request-tenant", view), "clusterrequest/ci", "-n", "team-a")
	p.WantExit(t, 1)
	p.WantStdout(t, "ClusterRequest/team-a/ci: no explanation, as this user may not read what the request is decided by; "+
		"the status is Denied, PurposeNotFound: Purpose workload does not exist")
	p.WantStderr(t, "ask an administrator of the hub for the ClusterRole open-cluster-management:placement-hub:fleet-view")
	p = suite.Run(t, "explain", "--kubeconfig", withRoles(t, h, "request-viewer", view, "open-cluster-management:placement-hub:fleet-view"),
		"clusterrequest/ci", "-n", "team-a")
	p.WantExit(t, 0)
	p.WantStdout(t, "ClusterRequest/team-a/ci: Denied, PurposeNotFound")

	p = suite.Run(t, "explain", "--kubeconfig", withRoles(t, h, "request-none", "open-cluster-management:placement-hub:view"),
		"clusterrequest/ci", "-n", "team-a")
	p.WantExit(t, 1)
	if text := p.Stdout.String(); text != "" {
		t.Errorf("a user of no request is shown %q", text)
	}
}
