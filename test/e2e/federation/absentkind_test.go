// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

const widgets = "widgets.example.com"

// docs/spec/trust.md R3: a hub starts without a kind of --federated-kinds. The federation is off and says so, placement goes on, and the kind is
// delivered once its definition is there. While the definition is not served, the works stay.
func TestDeliveredKindIsAbsent(t *testing.T) {
	h := suite.StartHub(t)
	suite.Must(t, manifests.InstallManifestWorks(t.Context(), h.Environment.AdminConfig()))
	suite.Must(t, manifests.InstallSystem(t.Context(), h.Environment.AdminConfig(), manifests.Federation, ""))
	for _, object := range []client.Object{
		&rbacv1.ClusterRole{
			ObjectMeta: metav1.ObjectMeta{Name: "federated-kinds-widgets", Labels: map[string]string{
				"federation.kubernetes.io/aggregate-to-federated-kinds": "true",
			}},
			Rules: []rbacv1.PolicyRule{{
				APIGroups: []string{"example.com"}, Resources: []string{"widgets"}, Verbs: []string{"get", "list", "watch", "patch"},
			}},
		},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team", Labels: map[string]string{federation.FederatedLabel: "true"}}},
		&clusterv1beta2.ManagedClusterSetBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "global"},
			Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: "global"},
		},
		&clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "all"}},
	} {
		suite.Must(t, h.Client.Create(t.Context(), object))
	}
	r := h.StartReplica(t, "--controllers=*,-managedcluster-taints,federation/*", "--federated-kinds=example.com/v1/Widget")
	metrics := h.MetricsReader(t)
	wantFederation(t, r, metrics, "off: the definition of example.com/v1, Kind=Widget is not served in version v1", 0)
	r.WantStderr(t, "does not serve a kind of --federated-kinds", "example.com/v1/Widget", `"The system is off"`)
	h.CreateMember(t, "c1")
	h.WantDecisions(t, types.NamespacedName{Namespace: "team", Name: "all"}, "c1")

	suite.Must(t, h.Client.Create(t.Context(), widgetDefinition()))
	wantFederation(t, r, metrics, "on", 1)
	widget := &unstructured.Unstructured{}
	widget.SetAPIVersion("example.com/v1")
	widget.SetKind("Widget")
	widget.SetNamespace("team")
	widget.SetName("w")
	widget.SetAnnotations(map[string]string{federation.SelectorAnnotation: `[]`})
	suite.Eventually(t, "creating a widget", func() error {
		return client.IgnoreAlreadyExists(h.Client.Create(t.Context(), widget.DeepCopy()))
	})
	h.WantWorks(t, "c1")

	before := workOf(t, h, "c1")
	h.Serve(t, widgets, false)
	wantFederation(t, r, metrics, "off: the definition of example.com/v1, Kind=Widget is not served in version v1", 0)
	h.Serve(t, widgets, true)
	wantFederation(t, r, metrics, "on", 1)
	h.CreateMember(t, "c2")
	h.WantWorks(t, "c1", "c2")
	if after := workOf(t, h, "c1"); after.UID != before.UID || after.ResourceVersion != before.ResourceVersion {
		t.Errorf("the work was %s in version %s and is %s in version %s", before.UID, before.ResourceVersion, after.UID, after.ResourceVersion)
	}
	r.Signal(t, syscall.SIGTERM)
	r.WantExit(t, 0)
}

// workOf returns the only ManifestWork of a cluster.
func workOf(t *testing.T, h *suite.Hub, cluster string) *workv1.ManifestWork {
	t.Helper()
	works := &workv1.ManifestWorkList{}
	suite.Must(t, h.Client.List(t.Context(), works, client.InNamespace(cluster)))
	if len(works.Items) != 1 {
		t.Fatalf("there are %d works for %s, want one", len(works.Items), cluster)
	}
	return &works.Items[0]
}

// wantFederation waits until a replica reports the state of the federation in /readyz and in the metrics.
func wantFederation(t *testing.T, r *suite.Replica, token, state string, on int) {
	t.Helper()
	suite.Eventually(t, "waiting for the federation", func() error {
		if r.Ended() {
			t.Fatalf("the replica ended; %s", r)
		}
		status, body := r.Get(t, "/readyz?verbose", "")
		if line := "system federation: " + state; status != http.StatusOK || !strings.Contains(body, line+"\n") {
			return fmt.Errorf("/readyz answers %d: %s; want %q", status, body, line)
		}
		series := fmt.Sprintf("placement_hub_system_on{system=\"federation\"} %d\n", on)
		if status, body := r.Get(t, "/metrics", token); status != http.StatusOK || !strings.Contains(body, series) {
			return fmt.Errorf("the metrics lack %q", series)
		}
		return nil
	})
}

// widgetDefinition returns the definition of a namespaced kind without a schema.
func widgetDefinition() *apiextensionsv1.CustomResourceDefinition {
	schema := &apiextensionsv1.JSONSchemaProps{Type: "object"}
	schema.XPreserveUnknownFields = ptr.To(true)
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: widgets},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Singular: "widget", Kind: "Widget", ListKind: "WidgetList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: schema},
			}},
		},
	}
}
