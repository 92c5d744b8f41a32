// SPDX-License-Identifier: Apache-2.0

package privilege

import (
	"fmt"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// federatedNamespace is the namespace of the objects that are delivered.
const federatedNamespace = "shop"

// TestLeastPrivilegeOfFederation runs the controllers of federated objects as the ServiceAccount they have in a cluster. No request may be
// forbidden, and whatever the role federation grants is used.
func TestLeastPrivilegeOfFederation(t *testing.T) {
	h := suite.StartHub(t)
	suite.Must(t, manifests.InstallManifestWorks(t.Context(), h.Environment.AdminConfig()))
	suite.Must(t, manifests.InstallSystem(t.Context(), h.Environment.AdminConfig(), manifests.Federation, ""))
	createFederation(t, h)

	first := startFederation(t, h)
	for _, object := range deliveredObjects() {
		suite.Must(t, h.Client.Create(t.Context(), object))
	}
	for _, object := range deliveredObjects() {
		wantWorks(t, h, object.GetName(), "c1", "c2")
	}
	wantWorks(t, h, "placed", "c1")
	h.Stop(t, first)

	// An API server that cannot stream its lists, as those before Kubernetes 1.34 by default, is asked for them.
	t.Setenv("KUBE_FEATURE_WatchListClient", "false")
	second := startFederation(t, h)
	moveDecision(t, h, "c2")
	wantWorks(t, h, "placed", "c2")
	edit(t, h, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: federatedNamespace, Name: "configmap"}},
		`{"metadata":{"annotations":{"`+federation.SelectorAnnotation+`":"[{\"key\":\"a\",\"operator\":\"exists\"}]"}}}`)
	wantWorks(t, h, "configmap", "c1")
	suite.Must(t, h.Client.Delete(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: federatedNamespace, Name: "secret"}}))
	wantWorks(t, h, "secret")
	// A cluster leaves the scope, which only sets and bindings decide about.
	edit(t, h, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}},
		`{"metadata":{"labels":{"`+clusterv1beta2.ClusterSetLabel+`":null}}}`)
	wantWorks(t, h, "configmap")
	h.Stop(t, second)

	allowed, forbidden := requested(t, h)
	if len(forbidden) > 0 {
		t.Errorf("the ServiceAccount may not:%s", describe(forbidden))
	}
	delivering := holdingOfDelivery()
	held := []string{
		delivering.String(),
		"create manifestworks.work.open-cluster-management.io", // The API server asks for it when server-side apply creates an object.
		"patch events.events.k8s.io",                           // A repeated Event is patched into a series.
	}
	var idle []privilege
	for _, granted := range distinct(granted(t, h)) {
		if granted.role == manifestRole+"federation" && !slices.ContainsFunc(allowed, granted.covers) && !slices.Contains(held, granted.String()) {
			idle = append(idle, granted)
		}
	}
	if len(idle) > 0 {
		t.Errorf("granted, and never used; drop it from manifests/federation:%s", describe(idle))
	}
	t.Run("holding "+delivering.String(), func(t *testing.T) { checkHolding(t, h, delivering) })
}

// holdingOfDelivery is the verb that is in no request: the admission policy of works asks whether the creator may deliver.
func holdingOfDelivery() holding {
	return holding{
		privilege{role: manifestRole + "federation", verb: "deliver", group: workv1.GroupName, resource: "manifestworks"},
		func() client.Object {
			return &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{
				Namespace: "c1", Name: "never", Labels: map[string]string{federation.ManagedLabel: "true"},
			}}
		},
	}
}

// startFederation starts a replica with the controllers of federated objects alone.
func startFederation(t *testing.T, h *suite.Hub) *suite.Replica {
	t.Helper()
	r := h.StartServer(t, append([]string{"controller", "--kubeconfig", h.Kubeconfig, "--controllers=federation/*", "--listen=127.0.0.1:0",
		"--webhook-listen=127.0.0.1:0"}, suite.QuickElection...)...)
	h.WantHolder(t, r)
	return r
}

// createFederation creates two clusters in a set, a namespace that takes part with a binding, and a Placement with a decision.
func createFederation(t *testing.T, h *suite.Hub) {
	t.Helper()
	objects := []client.Object{
		&clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "members"}, Spec: clusterv1beta2.ManagedClusterSetSpec{
			ClusterSelector: clusterv1beta2.ManagedClusterSelector{SelectorType: clusterv1beta2.ExclusiveClusterSetLabel},
		}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: federatedNamespace, Labels: map[string]string{federation.FederatedLabel: "true"}}},
		&clusterv1beta2.ManagedClusterSetBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: federatedNamespace, Name: "members"},
			Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: "members"},
		},
		&clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: federatedNamespace, Name: "p"}},
		&clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
			Namespace: federatedNamespace, Name: "p-decision-1", Labels: map[string]string{clusterv1beta1.PlacementLabel: "p"},
		}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Namespace: federatedNamespace, Name: "placed", Annotations: map[string]string{federation.PlacementAnnotation: "p"},
		}},
	}
	for _, name := range []string{"c1", "c2"} {
		labels := map[string]string{clusterv1beta2.ClusterSetLabel: "members"}
		if name == "c1" {
			labels["a"] = "b"
		}
		objects = append(objects, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}},
			&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}})
	}
	for _, object := range objects {
		suite.Must(t, h.Client.Create(t.Context(), object))
	}
	moveDecision(t, h, "c1")
}

// deliveredObjects has an object of each kind, named by it.
func deliveredObjects() []client.Object {
	labels := map[string]string{"app": "a"}
	selector := &metav1.LabelSelector{MatchLabels: labels}
	template := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
	objects := map[string]client.Object{
		"configmap":  &corev1.ConfigMap{},
		"secret":     &corev1.Secret{},
		"service":    &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}},
		"daemonset":  &appsv1.DaemonSet{Spec: appsv1.DaemonSetSpec{Selector: selector, Template: template}},
		"deployment": &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Selector: selector, Template: template}},
		"replicaset": &appsv1.ReplicaSet{Spec: appsv1.ReplicaSetSpec{Selector: selector, Template: template}},
		"ingress": &networkingv1.Ingress{Spec: networkingv1.IngressSpec{DefaultBackend: &networkingv1.IngressBackend{
			Service: &networkingv1.IngressServiceBackend{Name: "service", Port: networkingv1.ServiceBackendPort{Number: 80}},
		}}},
	}
	all := make([]client.Object, 0, len(objects))
	for name, object := range objects {
		object.SetNamespace(federatedNamespace)
		object.SetName(name)
		all = append(all, object)
	}
	return all
}

// moveDecision writes the decision of the Placement, whose controller does not run.
func moveDecision(t *testing.T, h *suite.Hub, cluster string) {
	t.Helper()
	decision := &clusterv1beta1.PlacementDecision{}
	suite.Must(t, h.Client.Get(t.Context(), types.NamespacedName{Namespace: federatedNamespace, Name: "p-decision-1"}, decision))
	decision.Status.Decisions = []clusterv1beta1.ClusterDecision{{ClusterName: cluster}}
	suite.Must(t, h.Client.Status().Update(t.Context(), decision))
}

// edit sends a merge patch.
func edit(t *testing.T, h *suite.Hub, object client.Object, patch string) {
	t.Helper()
	suite.Must(t, h.Client.Patch(t.Context(), object, client.RawPatch(types.MergePatchType, []byte(patch))))
}

// wantWorks waits until the object of a name has ManifestWorks for exactly these clusters. No agent keeps one that is deleted.
func wantWorks(t *testing.T, h *suite.Hub, name string, clusters ...string) {
	t.Helper()
	suite.Eventually(t, "waiting for the works of "+name, func() error {
		works := &workv1.ManifestWorkList{}
		if err := h.Client.List(t.Context(), works, client.MatchingLabels{federation.NameLabel: name}); err != nil {
			return err
		}
		var found []string
		for _, work := range works.Items {
			found = append(found, work.Namespace)
		}
		slices.Sort(found)
		if !slices.Equal(found, clusters) {
			return fmt.Errorf("%s has works for %q, want %q", name, found, clusters)
		}
		return nil
	})
}
