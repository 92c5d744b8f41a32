package e2e

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
	"github.com/placement-hub/placement-hub/pkg/controller"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
)

// shop is the namespace of the request, the Placement and the delivered object of TestPlatform.
const shop = "shop"

// TestPlatform follows one cluster with the binary in both of its roles: a request is granted and its API server starts (X1: a Placement
// selects it by its purpose), an object of the hub arrives there (X2), and everything goes with the request (X3).
func TestPlatform(t *testing.T) {
	h := startHub(t)
	admin := h.environment.AdminConfig()
	must(t, manifests.InstallManifestWorks(t.Context(), admin))
	must(t, manifests.InstallSystem(t.Context(), admin, manifests.Federation, ""))
	must(t, manifests.InstallSystem(t.Context(), admin, manifests.ClusterRequest, ""))
	applyFiles(t, h.environment, "../../manifests/clusterprovider/*.yaml")
	applyFiles(t, h.environment, "../../docs/examples/loopback-provider.yaml")

	hub := h.startReplica(t, append([]string{"--controllers=clusterrequest/*,federation/objects"}, quickElection...)...)
	h.wantHolder(t, hub)
	h.callReplica(t, hub, manifests.ClusterRequest)

	dataDir := t.TempDir()
	provider := start(t, "provider", "loopback", "--kubeconfig", providerKubeconfig(t, h.environment, "loopback"), "--data-dir", dataDir,
		"--kube-apiserver-binary", filepath.Join(assets, binaries.APIServer), "--etcd-endpoints", h.environment.EtcdURL(),
		"--work-agent-binary", filepath.Join(ocm, binaries.WorkAgent))

	request := h.createShop(t)
	cluster := h.wantPlaced(t, request, provider)
	h.wantDelivered(t, cluster)

	must(t, h.client.Delete(t.Context(), request))
	for _, object := range []client.Object{
		request, cluster, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: cluster.Status.ManagedCluster}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: cluster.Status.ManagedCluster}},
		&openmcpv1alpha1.AccessRequest{ObjectMeta: metav1.ObjectMeta{
			Namespace: "clusterprovider-loopback", Name: cluster.Status.ManagedCluster,
		}},
	} {
		h.wantGone(t, object)
	}
	if names := h.placed(t); len(names) > 0 {
		t.Errorf("the Placement still selects %q", names)
	}
	works := &workv1.ManifestWorkList{}
	must(t, h.client.List(t.Context(), works))
	if len(works.Items) > 0 {
		t.Errorf("%d ManifestWorks are left", len(works.Items))
	}
	if running := processes(t, filepath.Join(dataDir, "clusters")); len(running) > 0 {
		t.Errorf("still running: %q", running)
	}
}

// createShop creates what a platform admin and a tenant would, and returns the request of the tenant.
func (h *hub) createShop(t *testing.T) *openmcpv1alpha1.ClusterRequest {
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
		must(t, client.IgnoreAlreadyExists(h.client.Create(t.Context(), object)))
	}
	return request
}

// wantPlaced waits until the Placement selects the cluster of the request, and returns its Cluster.
func (h *hub) wantPlaced(t *testing.T, request *openmcpv1alpha1.ClusterRequest, provider *program) *openmcpv1alpha1.Cluster {
	t.Helper()
	grant, cluster := &openmcpv1alpha1.ClusterRequestGrant{}, &openmcpv1alpha1.Cluster{}
	eventually(t, "waiting for the Placement to select the cluster", func() error {
		if err := h.client.Get(t.Context(), client.ObjectKeyFromObject(request), grant); err != nil {
			return err
		}
		key := types.NamespacedName{Namespace: grant.Spec.ClusterRef.Namespace, Name: grant.Spec.ClusterRef.Name}
		if err := h.client.Get(t.Context(), key, cluster); err != nil {
			return err
		}
		if names := h.placed(t); len(names) != 1 || names[0] != cluster.Status.ManagedCluster {
			return fmt.Errorf("it selects %q, the status of the Cluster is %+v; %s", names, cluster.Status, provider)
		}
		return nil
	})
	return cluster
}

// placed returns the clusters that the Placement selects.
func (h *hub) placed(t *testing.T) []string {
	t.Helper()
	decisions := &clusterv1beta1.PlacementDecisionList{}
	must(t, h.client.List(t.Context(), decisions, client.InNamespace(shop), client.MatchingLabels{clusterv1beta1.PlacementLabel: "p"}))
	var names []string
	for _, page := range decisions.Items {
		for _, decision := range page.Status.Decisions {
			names = append(names, decision.ClusterName)
		}
	}
	return names
}

// wantDelivered waits until the ConfigMap is in the cluster, which is read with the access of its work agent.
func (h *hub) wantDelivered(t *testing.T, cluster *openmcpv1alpha1.Cluster) {
	t.Helper()
	eventually(t, "waiting for the object in the cluster", func() error {
		access := &openmcpv1alpha1.AccessRequest{}
		key := types.NamespacedName{Namespace: "clusterprovider-loopback", Name: cluster.Status.ManagedCluster}
		if err := h.client.Get(t.Context(), key, access); err != nil {
			return err
		}
		if access.Status.SecretRef == nil {
			return errors.New("the AccessRequest is not granted: " + access.Status.Reason + " " + access.Status.Message)
		}
		secret := &corev1.Secret{}
		if err := h.client.Get(t.Context(), types.NamespacedName{Namespace: key.Namespace, Name: access.Status.SecretRef.Name}, secret); err != nil {
			return err
		}
		config, err := clientcmd.RESTConfigFromKubeConfig(secret.Data["kubeconfig"])
		if err != nil {
			return err
		}
		member, err := client.New(config, client.Options{Scheme: controller.Scheme()})
		if err != nil {
			return err
		}
		return member.Get(t.Context(), types.NamespacedName{Namespace: shop, Name: "settings"}, &corev1.ConfigMap{})
	})
}
