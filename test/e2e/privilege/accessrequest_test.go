// SPDX-License-Identifier: Apache-2.0

package privilege

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// TestLeastPrivilegeOfAccessRequests runs the controller of AccessRequests as the ServiceAccount it has in a cluster. No request may be
// forbidden, and whatever the role clusterrequest-accessrequests grants is used.
func TestLeastPrivilegeOfAccessRequests(t *testing.T) {
	h := suite.StartHub(t)
	installDefinitionsAndRoles(t, h, manifests.ClusterRequest)
	cluster := &openmcpv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "shared"}}
	cluster.Spec.Tenancy = openmcpv1alpha1.TenancyShared
	cluster.Spec.ClusterProviderRef = openmcpv1alpha1.ClusterProviderReference{Name: "cloud", Profile: "small"}
	suite.Must(t, h.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: cluster.Namespace}}))
	suite.Must(t, h.Client.Create(t.Context(), cluster))
	suite.Must(t, h.Client.Create(t.Context(), &openmcpv1alpha1.ClusterProvider{
		ObjectMeta: metav1.ObjectMeta{Name: "cloud"}, Spec: openmcpv1alpha1.ClusterProviderSpec{Access: true},
	}))

	r := h.StartServer(t, append([]string{"controller", "--kubeconfig", h.Kubeconfig, "--controllers=clusterrequest/access",
		"--listen=127.0.0.1:0"}, suite.QuickElection...)...)
	h.WantHolder(t, r)
	access := &openmcpv1alpha1.AccessRequest{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: "admin"}}
	access.Spec.ClusterRef = &openmcpv1alpha1.ObjectReference{Name: cluster.Name}
	access.Spec.Requester = &openmcpv1alpha1.Requester{Username: "admin", Groups: []string{"system:masters"}}
	suite.Must(t, h.Client.Create(t.Context(), access))
	wantAccess(t, h, access, openmcpv1alpha1.ReasonAccessAllowed)

	edit(t, h, access, `{"spec":{"requester":{"username":"nobody","groups":null}}}`) // Access is taken away after live reads.
	wantAccess(t, h, access, openmcpv1alpha1.ReasonAccessNotAllowed)
	request := &openmcpv1alpha1.AccessRequest{ObjectMeta: metav1.ObjectMeta{
		Namespace: cluster.Namespace, Name: "lost", Finalizers: []string{openmcpv1alpha1.AccessFinalizer},
	}}
	request.Spec.RequestRef = &openmcpv1alpha1.ObjectReference{Name: "unknown"}
	suite.Must(t, h.Client.Create(t.Context(), request))
	suite.Must(t, h.Client.Delete(t.Context(), request)) // Its ClusterRequest and Grant are read live.
	wantAccess(t, h, request, openmcpv1alpha1.ReasonInvalidReference)

	edit(t, h, access, `{"spec":{"ttl":"1ms"}}`)
	suite.Eventually(t, "waiting for the AccessRequest to expire", func() error {
		err := h.Client.Get(t.Context(), client.ObjectKeyFromObject(access), access)
		if err == nil {
			return errors.New("it exists")
		}
		return client.IgnoreNotFound(err)
	})
	h.Stop(t, r)

	allowed, forbidden := requested(t, h)
	if len(forbidden) > 0 {
		t.Errorf("the ServiceAccount may not:%s", describe(forbidden))
	}
	held := []string{
		"patch events.events.k8s.io",                   // A repeated Event is patched into a series.
		"resolve accessrequests.cluster.openmcp.cloud", // Admission asks for it, and for the next one.
		"provide clusterproviders.cluster.openmcp.cloud",
	}
	for _, granted := range distinct(granted(t, h)) {
		if granted.role == manifestRole+"clusterrequest-accessrequests" && !slices.ContainsFunc(allowed, granted.covers) &&
			!slices.Contains(held, granted.String()) && granted.verb != "list" { // API servers that cannot stream lists are asked for them.
			t.Errorf("granted, and never used; drop it from manifests/clusterrequest: %s", granted)
		}
	}
}

// installDefinitionsAndRoles installs a system without its admission, which needs its webhook.
func installDefinitionsAndRoles(t *testing.T, h *suite.Hub, system string) {
	t.Helper()
	objects, err := manifests.System(system, "")
	suite.Must(t, err)
	suite.Must(t, manifests.Apply(t.Context(), h.Environment.AdminConfig(), slices.DeleteFunc(objects, func(o *unstructured.Unstructured) bool {
		return !slices.Contains([]string{"CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding"}, o.GetKind())
	})))
}

// wantAccess waits until an AccessRequest has a reason for its present generation.
func wantAccess(t *testing.T, h *suite.Hub, access *openmcpv1alpha1.AccessRequest, reason string) {
	t.Helper()
	suite.Eventually(t, "waiting for AccessRequest "+access.Name, func() error {
		if err := h.Client.Get(t.Context(), client.ObjectKeyFromObject(access), access); err != nil {
			return err
		}
		if access.Status.Reason != reason || access.Status.ObservedGeneration != access.Generation {
			return fmt.Errorf("generation %d has the status %+v", access.Generation, access.Status)
		}
		return nil
	})
}
