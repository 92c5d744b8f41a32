// SPDX-License-Identifier: Apache-2.0

package platform

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// TestNullProviderGivesNoAccess asks for access to a Cluster of the null provider (docs/spec/cluster-request.md C45), with the hub and the
// provider as the binary runs them: each as its ServiceAccount, the provider without any right to Secrets.
func TestNullProviderGivesNoAccess(t *testing.T) {
	h := suite.StartHub(t)
	suite.Must(t, manifests.InstallSystem(t.Context(), h.Environment.AdminConfig(), manifests.ClusterRequest, ""))
	applyFiles(t, h.Environment, "../../../manifests/clusterprovider/*.yaml")
	suite.Must(t, h.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}}))
	hub := h.StartReplica(t, append([]string{"--controllers=clusterrequest/*"}, suite.QuickElection...)...)
	h.WantHolder(t, hub)
	h.CallReplica(t, hub, manifests.ClusterRequest)
	provider := suite.Start(t, "provider", "null", "--kubeconfig", providerKubeconfig(t, h.Environment, "null"))
	wantHealthy(t, h.Client, provider, "null", "default")

	access := &openmcpv1alpha1.AccessRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "a"}}
	access.Spec.ClusterRef = &openmcpv1alpha1.ObjectReference{Name: "null"}
	access.Spec.Permissions = []openmcpv1alpha1.Permission{{Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get"}},
	}}}
	suite.Must(t, h.Client.Create(t.Context(), access))
	wantNoAccess(t, h, access, provider)
	// The provider is asked again.
	suite.Must(t, h.Client.Patch(t.Context(), access, suite.MergePatch(`{"spec":{"permissions":null}}`)))
	wantNoAccess(t, h, access, provider)

	suite.Must(t, h.Client.Delete(t.Context(), access))
	h.WantGone(t, access)
	if log := provider.Stderr.String(); strings.Contains(log, "forbidden") {
		t.Errorf("the provider lacks a right; %s", provider)
	}
}

// wantNoAccess waits until the present generation of an AccessRequest is denied because its provider gives no access, and expects that nothing
// was made for it.
func wantNoAccess(t *testing.T, h *suite.Hub, access *openmcpv1alpha1.AccessRequest, provider *suite.Program) {
	t.Helper()
	suite.Eventually(t, "waiting for the AccessRequest to be denied", func() error {
		suite.Must(t, h.Client.Get(t.Context(), client.ObjectKeyFromObject(access), access))
		if access.Status.Reason != openmcpv1alpha1.ReasonNoAccess || access.Status.ObservedGeneration != access.Generation {
			return fmt.Errorf("generation %d has the status %+v; %s", access.Generation, access.Status, provider)
		}
		return nil
	})
	if access.Status.Status != openmcpv1alpha1.RequestDenied || !strings.Contains(access.Status.Message, "ClusterProvider null gives no access") {
		t.Errorf("the status is %+v", access.Status)
	}
	if access.Status.SecretRef != nil || len(access.Finalizers) > 0 {
		t.Errorf("finalizers %q, secretRef %v, want none", access.Finalizers, access.Status.SecretRef)
	}
	secrets := &corev1.SecretList{}
	suite.Must(t, h.Client.List(t.Context(), secrets, client.InNamespace(access.Namespace)))
	if len(secrets.Items) > 0 {
		t.Errorf("%d Secrets are in namespace %s", len(secrets.Items), access.Namespace)
	}
}
