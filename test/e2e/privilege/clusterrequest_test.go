// SPDX-License-Identifier: Apache-2.0

package privilege

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// requestNamespace is the namespace of the requests and their Clusters.
const requestNamespace = "team-a"

// TestClusterRequests has requests granted by the binary, which runs as the ServiceAccount it has in a cluster. No request to the API server
// may be forbidden, and whatever the role of the controller grants is used.
func TestClusterRequests(t *testing.T) {
	h := suite.StartHub(t)
	suite.Must(t, manifests.InstallSystem(t.Context(), h.Environment.AdminConfig(), manifests.ClusterRequest, ""))
	createPlatform(t, h)
	first := startRequests(t, h)
	request := createRequest(t, h, "first")
	grant, cluster := wantGranted(t, h, request)
	if got := cluster.Spec; got.ClusterProviderRef.Profile != "small" || got.Kubernetes.Version != "1.33.1" || grant.Spec.Prefix == "" {
		t.Errorf("the Grant is %+v, of the Cluster %+v", grant.Spec, got)
	}

	edit(t, h, cluster, `{"metadata":{"finalizers":["`+cluster.Finalizers[0]+`","`+openmcpv1alpha1.RequestFinalizerPrefix+`lost"]}}`)
	suite.Eventually(t, "waiting for the finalizer of a request that does not exist to go", func() error {
		if err := h.Client.Get(t.Context(), client.ObjectKeyFromObject(cluster), cluster); err != nil {
			return err
		}
		if len(cluster.Finalizers) != 1 {
			return fmt.Errorf("the finalizers are %q", cluster.Finalizers)
		}
		return nil
	})

	h.CallReplica(t, first, manifests.ClusterRequest)
	access := &openmcpv1alpha1.AccessRequest{ObjectMeta: metav1.ObjectMeta{Namespace: requestNamespace, Name: "access"}}
	access.Spec.RequestRef = &openmcpv1alpha1.ObjectReference{Name: request.Name}
	suite.Eventually(t, "waiting for the webhook of AccessRequests", func() error { return h.Client.Create(t.Context(), access) })
	if access.Spec.Requester == nil || access.Spec.Requester.Username == "" {
		t.Errorf("the requester is %+v", access.Spec.Requester)
	}

	suite.Must(t, h.Client.Delete(t.Context(), request))
	for _, object := range []client.Object{request, grant, cluster} {
		h.WantGone(t, object)
	}
	h.Stop(t, first)

	// An API server that cannot stream its lists, as those before Kubernetes 1.34 by default, is asked for them.
	t.Setenv("KUBE_FEATURE_WatchListClient", "false")
	second := startRequests(t, h)
	wantGranted(t, h, createRequest(t, h, "second"))
	h.Stop(t, second)

	wantRightsUsed(t, h, "clusterrequest-requests",
		"update clusterrequestgrants.cluster.openmcp.cloud",                 // A new request of a former one's name adopts its Grant.
		"patch events.events.k8s.io",                                        // A repeated Event is patched into a series.
		"create managedclustersets/join.cluster.open-cluster-management.io", // So does one when a Purpose names a set.
		"release clusterrequests.cluster.openmcp.cloud",                     // An admission policy asks for it when a finalizer goes.
		"manage clusters.cluster.openmcp.cloud",                             // Admission asks for it when the hub writes a Cluster.
	)
}

// wantRightsUsed fails if a request was forbidden, or if a right of a role was never used and is not held for another reason.
func wantRightsUsed(t *testing.T, h *suite.Hub, role string, held ...string) {
	t.Helper()
	allowed, forbidden := requested(t, h)
	if len(forbidden) > 0 {
		t.Errorf("the ServiceAccount may not:%s", describe(forbidden))
	}
	var idle []privilege
	for _, granted := range distinct(granted(t, h)) {
		if granted.role == manifestRole+role && !slices.ContainsFunc(allowed, granted.covers) && !slices.Contains(held, granted.String()) {
			idle = append(idle, granted)
		}
	}
	if len(idle) > 0 {
		t.Errorf("granted by %s, and never used; drop it:%s", role, describe(idle))
	}
}

// startRequests starts a replica with the controller of ClusterRequests and the webhook of AccessRequests.
func startRequests(t *testing.T, h *suite.Hub) *suite.Replica {
	t.Helper()
	r := h.StartServer(t, append([]string{"controller", "--kubeconfig", h.Kubeconfig,
		"--controllers=clusterrequest/requests,clusterrequest/webhook", "--listen=127.0.0.1:0", "--webhook-listen=127.0.0.1:0"},
		suite.QuickElection...)...)
	h.WantHolder(t, r)
	return r
}

// createPlatform creates a provider with a profile, as its process would write it, and a Purpose.
func createPlatform(t *testing.T, h *suite.Hub) {
	t.Helper()
	provider := &openmcpv1alpha1.ClusterProvider{ObjectMeta: metav1.ObjectMeta{Name: "cloud"}}
	for _, object := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: requestNamespace}}, provider,
		&openmcpv1alpha1.Purpose{ObjectMeta: metav1.ObjectMeta{Name: "dev"}},
	} {
		suite.Must(t, h.Client.Create(t.Context(), object))
	}
	provider.Status = openmcpv1alpha1.ClusterProviderStatus{Ready: true, Profiles: []openmcpv1alpha1.Profile{{
		Name: "small", SupportedVersions: []openmcpv1alpha1.SupportedVersion{{Version: "1.33.1"}},
	}}}
	suite.Must(t, h.Client.Status().Update(t.Context(), provider))
}

func createRequest(t *testing.T, h *suite.Hub, name string) *openmcpv1alpha1.ClusterRequest {
	t.Helper()
	request := &openmcpv1alpha1.ClusterRequest{ObjectMeta: metav1.ObjectMeta{Namespace: requestNamespace, Name: name}}
	request.Spec.Purposes = []openmcpv1alpha1.PurposeName{"dev"}
	suite.Must(t, h.Client.Create(t.Context(), request))
	return request
}

// wantGranted waits until a request is granted, and returns its Grant and its Cluster.
func wantGranted(
	t *testing.T, h *suite.Hub, request *openmcpv1alpha1.ClusterRequest,
) (*openmcpv1alpha1.ClusterRequestGrant, *openmcpv1alpha1.Cluster) {
	t.Helper()
	grant, cluster := &openmcpv1alpha1.ClusterRequestGrant{}, &openmcpv1alpha1.Cluster{}
	key := client.ObjectKeyFromObject(request)
	suite.Eventually(t, "waiting for the Grant of "+request.Name, func() error {
		if err := h.Client.Get(t.Context(), key, request); err != nil {
			return err
		}
		if request.Status.Status != openmcpv1alpha1.RequestGranted {
			return fmt.Errorf("the status is %+v", request.Status)
		}
		if err := h.Client.Get(t.Context(), key, grant); err != nil {
			return err
		}
		ref := grant.Spec.ClusterRef
		return h.Client.Get(t.Context(), types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}, cluster)
	})
	return grant, cluster
}
