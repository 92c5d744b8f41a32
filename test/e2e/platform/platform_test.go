// SPDX-License-Identifier: Apache-2.0

package platform

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// shop is the namespace of the request, the Placement and the delivered object of TestPlatform.
const shop = "shop"

// TestPlatform follows one cluster with the binary in both of its roles: a request is granted and its API server starts (X1: a Placement
// selects it by its purpose), an object of the hub arrives there (X2), and everything goes with the request (X3).
func TestPlatform(t *testing.T) {
	h := suite.StartHub(t)
	admin := h.Environment.AdminConfig()
	suite.Must(t, manifests.InstallManifestWorks(t.Context(), admin))
	suite.Must(t, manifests.InstallSystem(t.Context(), admin, manifests.Federation, ""))
	suite.Must(t, manifests.InstallSystem(t.Context(), admin, manifests.ClusterRequest, ""))
	applyFiles(t, h.Environment, "../../../manifests/clusterprovider/*.yaml")
	applyFiles(t, h.Environment, "../../../docs/examples/loopback-provider.yaml")
	hub := h.StartReplica(t, append([]string{"--controllers=clusterrequest/*,federation/objects"}, suite.QuickElection...)...)
	h.WantHolder(t, hub)
	h.CallReplica(t, hub, manifests.ClusterRequest)

	dataDir := t.TempDir()
	provider := suite.Start(t, "provider", "loopback", "--kubeconfig", providerKubeconfig(t, h.Environment, "loopback"), "--data-dir", dataDir,
		"--kube-apiserver-binary", filepath.Join(suite.Assets, binaries.APIServer), "--etcd-endpoints", h.Environment.EtcdURL(),
		"--work-agent-binary", suite.WorkAgent(t))

	request := createShop(t, h)
	cluster := wantPlaced(t, h, request, provider)
	wantDelivered(t, h, cluster)

	suite.Must(t, h.Client.Delete(t.Context(), request))
	for _, object := range []client.Object{
		request, cluster, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: cluster.Status.ManagedCluster}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: cluster.Status.ManagedCluster}},
		&openmcpv1alpha1.AccessRequest{ObjectMeta: metav1.ObjectMeta{
			Namespace: "clusterprovider-loopback", Name: cluster.Status.ManagedCluster,
		}},
	} {
		h.WantGone(t, object)
	}
	if names := placed(t, h); len(names) > 0 {
		t.Errorf("the Placement still selects %q", names)
	}
	works := &workv1.ManifestWorkList{}
	suite.Must(t, h.Client.List(t.Context(), works))
	if len(works.Items) > 0 {
		t.Errorf("%d ManifestWorks are left", len(works.Items))
	}
	if running := suite.Processes(t, filepath.Join(dataDir, "clusters")); len(running) > 0 {
		t.Errorf("still running: %q", running)
	}
}

// createShop creates what a platform admin and a tenant would, and returns the request of the tenant.
func createShop(t *testing.T, h *suite.Hub) *openmcpv1alpha1.ClusterRequest {
	t.Helper()
	label := openmcpv1alpha1.PurposeKeyPrefix + "dev"
	request := &openmcpv1alpha1.ClusterRequest{ObjectMeta: metav1.ObjectMeta{Namespace: shop, Name: "r"}}
	request.Spec.Purposes = []openmcpv1alpha1.PurposeName{"dev"}
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: shop, Name: "p"}}
	placement.Spec.Predicates = []clusterv1beta1.ClusterPredicate{{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
		ClaimSelector: clusterv1beta1.ClusterClaimSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
			Key: label, Operator: metav1.LabelSelectorOpIn, Values: []string{"true"},
		}}},
	}}}
	for _, object := range []client.Object{
		&clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "default"}, Spec: clusterv1beta2.ManagedClusterSetSpec{
			ClusterSelector: clusterv1beta2.ManagedClusterSelector{SelectorType: clusterv1beta2.ExclusiveClusterSetLabel},
		}},
		&openmcpv1alpha1.Purpose{ObjectMeta: metav1.ObjectMeta{Name: "dev"}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: shop, Labels: map[string]string{federation.FederatedLabel: "true"}}},
		&clusterv1beta2.ManagedClusterSetBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: shop, Name: "default"},
			Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: "default"},
		},
		placement,
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: shop, Name: "settings", Annotations: map[string]string{
			federation.SelectorAnnotation: `[{"key":"` + label + `","operator":"in","values":["true"]}]`,
		}}},
		request,
	} {
		suite.Must(t, client.IgnoreAlreadyExists(h.Client.Create(t.Context(), object)))
	}
	return request
}

// wantPlaced waits until the Placement selects the cluster of the request, and returns its Cluster.
func wantPlaced(t *testing.T, h *suite.Hub, request *openmcpv1alpha1.ClusterRequest, provider *suite.Program) *openmcpv1alpha1.Cluster {
	t.Helper()
	grant, cluster := &openmcpv1alpha1.ClusterRequestGrant{}, &openmcpv1alpha1.Cluster{}
	suite.Eventually(t, "waiting for the Placement to select the cluster", func() error {
		if err := h.Client.Get(t.Context(), client.ObjectKeyFromObject(request), grant); err != nil {
			return err
		}
		key := types.NamespacedName{Namespace: grant.Spec.ClusterRef.Namespace, Name: grant.Spec.ClusterRef.Name}
		if err := h.Client.Get(t.Context(), key, cluster); err != nil {
			return err
		}
		if names := placed(t, h); len(names) != 1 || names[0] != cluster.Status.ManagedCluster {
			return fmt.Errorf("it selects %q, the status of the Cluster is %+v; %s", names, cluster.Status, provider)
		}
		return nil
	})
	return cluster
}

// placed returns the clusters that the Placement selects.
func placed(t *testing.T, h *suite.Hub) []string {
	t.Helper()
	decisions := &clusterv1beta1.PlacementDecisionList{}
	suite.Must(t, h.Client.List(t.Context(), decisions, client.InNamespace(shop), client.MatchingLabels{clusterv1beta1.PlacementLabel: "p"}))
	var names []string
	for _, page := range decisions.Items {
		for _, decision := range page.Status.Decisions {
			names = append(names, decision.ClusterName)
		}
	}
	return names
}

// wantDelivered waits until the ConfigMap is in the cluster, which is read with the access of its work agent.
func wantDelivered(t *testing.T, h *suite.Hub, cluster *openmcpv1alpha1.Cluster) {
	t.Helper()
	suite.Eventually(t, "waiting for the object in the cluster", func() error {
		access := &openmcpv1alpha1.AccessRequest{}
		key := types.NamespacedName{Namespace: "clusterprovider-loopback", Name: cluster.Status.ManagedCluster}
		if err := h.Client.Get(t.Context(), key, access); err != nil {
			return err
		}
		if access.Status.SecretRef == nil {
			return errors.New("the AccessRequest is not granted: " + access.Status.Reason + " " + access.Status.Message)
		}
		secret := &corev1.Secret{}
		if err := h.Client.Get(t.Context(), types.NamespacedName{Namespace: key.Namespace, Name: access.Status.SecretRef.Name}, secret); err != nil {
			return err
		}
		config, err := clientcmd.RESTConfigFromKubeConfig(secret.Data["kubeconfig"])
		if err != nil {
			return err
		}
		member, err := client.New(config, client.Options{Scheme: system.Scheme()})
		if err != nil {
			return err
		}
		return member.Get(t.Context(), types.NamespacedName{Namespace: shop, Name: "settings"}, &corev1.ConfigMap{})
	})
}
