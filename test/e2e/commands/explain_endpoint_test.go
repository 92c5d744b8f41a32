// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/test/e2e/suite"
	"github.com/placement-hub/placement-hub/test/env/loopback"
)

// The shipped roles.
const (
	shippedEdit      = "open-cluster-management:placement-hub:edit"
	shippedView      = "open-cluster-management:placement-hub:view"
	shippedTenant    = "open-cluster-management:placement-hub:tenant"
	shippedFleetView = "open-cluster-management:placement-hub:fleet-view"
)

// explaining starts a hub that publishes where it explains.
func explaining(t *testing.T) (h *suite.Hub, address string, args []string) {
	t.Helper()
	h = suite.StartHub(t)
	address, err := loopback.FreeAddress(t.Context())
	suite.Must(t, err)
	return h, address, []string{"--webhook-listen=" + address, "--explain-address=https://" + address, suite.Unevaluated}
}

// docs/spec/differences.md E1a: explain works for those who may read the object, and for no one else.
func TestExplainThroughTheHub(t *testing.T) {
	h, address, args := explaining(t)
	suite.Run(t, "run", "--kubeconfig", h.AdminKubeconfig, "--once", "--samples").WantExit(t, 0)
	replica := h.StartReplica(t, args...)
	awaitAddress(t, h, address)

	editor := withRoles(t, h, "hub-editor", shippedEdit)
	t.Run("with edit alone the hub explains", func(t *testing.T) {
		p := suite.Run(t, "explain", "--kubeconfig", editor, "team-a/standby", "--cluster", "eu1")
		p.WantExit(t, 0)
		p.WantStdout(t, "team-a/standby: 1 of 2 wanted selected", "eu1: Predicate", "would be selected if label region were ap-south")
		suite.Run(t, "explain", "--kubeconfig", editor, "-n", "team-a", "placement/ledger", "-o", "name").
			WantStdout(t, "team-a/ledger@"+olderGroup+" ")
		p = suite.Run(t, "explain", "--kubeconfig", editor, "--all", "-n", "team-a")
		p.WantExit(t, 0)
		p.WantStdout(t, "unsatisfied", "team-a/standby  ")
	})

	t.Run("what the hub explains is what fleet-view shows, but for clusters out of scope", func(t *testing.T) {
		viewer := withRoles(t, h, "hub-viewer", shippedView, shippedFleetView)
		own := suite.Run(t, "explain", "--kubeconfig", viewer, "team-a/standby")
		byHub := suite.Run(t, "explain", "--kubeconfig", editor, "team-a/standby")
		own.WantExit(t, 0)
		byHub.WantExit(t, 0)
		if own.Stdout.String() != byHub.Stdout.String() {
			t.Errorf("the hub explains\n%s\nwant\n%s", byHub.Stdout.String(), own.Stdout.String())
		}
		wide := suite.Run(t, "explain", "--kubeconfig", viewer, "team-a/standby", "-o", "wide").Stdout.String()
		limited := suite.Run(t, "explain", "--kubeconfig", editor, "team-a/standby", "-o", "wide").Stdout.String()
		if !strings.Contains(wide, "edge-ams") || strings.Contains(limited, "edge-ams") {
			t.Errorf("clusters out of scope: fleet-view sees\n%s\nedit sees\n%s", wide, limited)
		}
		existing := suite.Run(t, "explain", "--kubeconfig", editor, "team-a/standby", "--cluster", "edge-ams")
		existing.WantExit(t, 1)
		missing := suite.Run(t, "explain", "--kubeconfig", editor, "team-a/standby", "--cluster", "edge-xyz")
		missing.WantExit(t, 1)
		if a, b := existing.Stderr.String(), strings.ReplaceAll(missing.Stderr.String(), "edge-xyz", "edge-ams"); a != b {
			t.Errorf("a cluster out of scope: %s; one that does not exist: %s", a, b)
		}
	})

	t.Run("the hub compares what the user may write", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "placement.yaml")
		write := func(namespace, set string) {
			suite.Must(t, os.WriteFile(file, fmt.Appendf(nil, `{"apiVersion": "cluster.open-cluster-management.io/v1beta1", "kind": "Placement",
				"metadata": {"namespace": %q, "name": "new"}, "spec": {"numberOfClusters": 1, "clusterSets": [%q]}}`, namespace, set), 0o600))
		}
		write("team-a", "prod")
		p := suite.Run(t, "diff", "--kubeconfig", editor, "-f", file)
		p.WantExit(t, 1)
		p.WantStdout(t, "team-a/new", "objects that follow this Placement are not in the report")
		suite.Run(t, "diff", "--kubeconfig", editor, "-f", file, "-o", "name").WantStdout(t, "team-a/new +")
		write("team-a", "global")
		existing := suite.Run(t, "diff", "--kubeconfig", editor, "-f", file).Stdout.String()
		write("team-a", "missing")
		missing := suite.Run(t, "diff", "--kubeconfig", editor, "-f", file).Stdout.String()
		if existing != strings.ReplaceAll(missing, "missing", "global") || !strings.Contains(existing, "is not bound to namespace team-a") {
			t.Errorf("of a set that is not bound:\n%s\nof one that does not exist:\n%s", existing, missing)
		}
		write("team-b", "prod")
		p = suite.Run(t, "diff", "--kubeconfig", editor, "-f", file)
		p.WantExit(t, 2)
		p.WantStderr(t, "the hub does not explain it instead", "may not get placements.cluster.open-cluster-management.io new in namespace team-b")
		write("team-a", "prod")
		p = suite.Run(t, "diff", "--kubeconfig", withRoles(t, h, "hub-reader", shippedView), "-f", file)
		p.WantExit(t, 2)
		p.WantStderr(t, "may not create placements")
	})

	t.Run("the hub compares a binding with the right to bind its set", func(t *testing.T) { checkNewBinding(t, h, editor) })

	t.Run("the hub simulates what the user may write", func(t *testing.T) { checkSimulation(t, h, editor) })

	t.Run("tenant adds sets alone, so the hub explains", func(t *testing.T) {
		suite.Run(t, "explain", "--kubeconfig", withRoles(t, h, "hub-tenant", shippedEdit, shippedTenant), "team-a/standby").WantExit(t, 0)
	})

	t.Run("a user of another namespace gets nothing", func(t *testing.T) {
		p := suite.Run(t, "explain", "--kubeconfig", editor, "team-b/training")
		p.WantExit(t, 1)
		if text := p.Stdout.String(); text != "" {
			t.Errorf("shown: %s", text)
		}
		p.WantStderr(t, "placements.cluster")
	})

	t.Run("attacks", func(t *testing.T) { checkAttacks(t, h, address) })

	t.Run("the hub remembers what moved", func(t *testing.T) { checkHistory(t, h, editor) })

	t.Run("a hub that does not answer: what is written, the role, and no wall", func(t *testing.T) {
		h.Stop(t, replica)
		p := suite.Run(t, "explain", "--kubeconfig", editor, "team-a/standby")
		p.WantExit(t, 1)
		p.WantStdout(t, "team-a/standby: no explanation", "PlacementSatisfied=False (NotAllDecisionsScheduled)")
		p.WantStderr(t, "may not list or get managedclusters.cluster", shippedFleetView, "the hub does not explain it instead", "cannot be reached")
		if lines := strings.Count(p.Stderr.String(), "\n"); lines > 4 {
			t.Errorf("%d lines of refusals:\n%s", lines, p.Stderr.String())
		}
	})
}

// awaitAddress waits until the hub has published its address, as a user without any role reads it, and serves there.
func awaitAddress(t *testing.T, h *suite.Hub, address string) {
	t.Helper()
	suite.Eventually(t, "waiting for the address", func() error {
		published := &corev1.ConfigMap{}
		key := client.ObjectKey{Namespace: "open-cluster-management-hub", Name: endpoint.ConfigMap}
		if err := h.Client.Get(t.Context(), key, published); err != nil {
			return err
		}
		if got := published.Data[endpoint.URLKey]; got != "https://"+address+endpoint.Path {
			return fmt.Errorf("the address is %s", got)
		}
		if status, body, err := askAs(t, h, address, "", "{}"); err != nil || status != http.StatusUnauthorized {
			return fmt.Errorf("%d %s: %w", status, body, errors.Join(err))
		}
		return nil
	})
}

// askAs sends a body to the endpoint, with the certificate authorities of the ConfigMap.
func askAs(t *testing.T, h *suite.Hub, address, token, body string) (int, string, error) {
	t.Helper()
	published := &corev1.ConfigMap{}
	suite.Must(t, h.Client.Get(t.Context(), client.ObjectKey{Namespace: "open-cluster-management-hub", Name: endpoint.ConfigMap}, published))
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(published.Data[endpoint.AuthoritiesKey]))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+address+endpoint.Path, strings.NewReader(body))
	suite.Must(t, err)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return 0, "", err
	}
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), errors.Join(err, response.Body.Close())
}

// checkAttacks sends what no user of the command would.
func checkAttacks(t *testing.T, h *suite.Hub, address string) {
	t.Helper()
	asking := func(namespace, name string) string {
		return fmt.Sprintf(`{"namespace":%q,"objects":[{"group":%q,"kind":"Placement","name":%q}],"output":"table"}`,
			namespace, clusterv1beta1.GroupName, name)
	}
	withRoles(t, h, "hub-attacker", shippedEdit)
	attacker := h.Token(t, "hub-attacker")
	token := func(spec authenticationv1.TokenRequestSpec) string {
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "hub-attacker"}}
		request := &authenticationv1.TokenRequest{Spec: spec}
		suite.Must(t, h.Client.SubResource("token").Create(t.Context(), account, request))
		return request.Status.Token
	}
	_, nothing, err := askAs(t, h, address, h.Stranger(t), asking("team-a", "missing"))
	suite.Must(t, err)
	for _, tc := range []struct {
		reason, token, body string
		want                int
		says                string
	}{
		{"the right", attacker, asking("team-a", "standby"), http.StatusOK, "1 of 2 wanted selected"},
		{"no token", "", asking("team-a", "standby"), http.StatusUnauthorized, "bearer token"},
		{"a made-up token", "x.y.z", asking("team-a", "standby"), http.StatusUnauthorized, "bearer token"},
		{
			"a token of another audience",
			token(authenticationv1.TokenRequestSpec{Audiences: []string{"vault"}, ExpirationSeconds: ptr.To[int64](600)}),
			asking("team-a", "standby"), http.StatusUnauthorized, "bearer token",
		},
		{"no role", h.Stranger(t), asking("team-a", "standby"), http.StatusForbidden, "may not get placements"},
		{"another namespace", attacker, asking("team-b", "training"), http.StatusForbidden, "may not get placements"},
		{"one that does not exist there", attacker, asking("team-b", "missing"), http.StatusForbidden, "may not get placements"},
		{"a list of another namespace", attacker, `{"namespace":"team-b","output":"table"}`, http.StatusForbidden, "may not list placements"},
		{"every namespace", attacker, `{"output":"table"}`, http.StatusBadRequest, "namespace: it is required"},
		{
			"a Secret", attacker, `{"namespace":"team-a","objects":[{"kind":"Secret","name":"x"}],"output":"table"}`, http.StatusForbidden,
			"may not get secrets",
		},
		{
			"a Node", attacker, `{"namespace":"team-a","objects":[{"kind":"Node","name":"x"}],"output":"table"}`, http.StatusBadRequest,
			"does not explain",
		},
		{"a huge body", attacker, `{"namespace":"` + strings.Repeat("a", 2<<20) + `"}`, http.StatusRequestEntityTooLarge, "more than"},
	} {
		status, body, err := askAs(t, h, address, tc.token, tc.body)
		suite.Must(t, err)
		if status != tc.want || !strings.Contains(body, tc.says) {
			t.Errorf("%s: %d %s; want %d, %q", tc.reason, status, body, tc.want, tc.says)
		}
	}
	_, something, err := askAs(t, h, address, h.Stranger(t), asking("team-a", "standby"))
	suite.Must(t, err)
	if strings.ReplaceAll(nothing, "missing", "standby") != something {
		t.Errorf("a stranger learns what exists: %s and %s", nothing, something)
	}
}

// docs/spec/differences.md E1a: delivered objects and ClusterRequests are explained by the hub to those who may read them.
func TestExplainOtherSystemsThroughTheHub(t *testing.T) {
	h, address, args := explaining(t)
	admin := h.Environment.AdminConfig()
	suite.Must(t, manifests.InstallManifestWorks(t.Context(), admin))
	suite.Must(t, manifests.InstallSystem(t.Context(), admin, manifests.Federation, ""))
	suite.Must(t, manifests.InstallSystem(t.Context(), admin, manifests.ClusterRequest, ""))
	suite.Must(t, manifests.InstallSystem(t.Context(), admin, manifests.PodScheduling, ""))
	for _, object := range explainedObjects() {
		suite.Must(t, h.Client.Create(t.Context(), object))
	}
	workload := filepath.Join(t.TempDir(), "workload.yaml")
	suite.Must(t, os.WriteFile(workload, []byte(olderWorkload+"---\n"+newerPolicy), 0o600))
	suite.Kubectl(t, h.AdminKubeconfig, "apply", "--server-side", "--force-conflicts", "-f", workload)
	h.StartReplica(t, append(args, "--controllers=federation/objects")...)
	awaitAddress(t, h, address)

	const edit, requester = "edit", "open-cluster-management:placement-hub:clusterrequest-edit"
	editor := withRoles(t, h, "object-editor", edit)
	suite.Eventually(t, "waiting for the delivery", func() error {
		p := suite.Run(t, "explain", "--kubeconfig", editor, "-n", "team-a", "configmap/settings", "-o", "name")
		if out := p.Stdout.String(); !strings.Contains(out, " eu1\n") {
			return fmt.Errorf("it is delivered to %s: %s", out, p.Stderr.String())
		}
		return nil
	})
	p := suite.Run(t, "explain", "--kubeconfig", editor, "-n", "team-a", "configmap/settings", "--cluster", "us1")
	p.WantExit(t, 0)
	p.WantStdout(t, "us1: Predicate", "would be selected if label location were europe")
	p = suite.Run(t, "explain", "--kubeconfig", editor, "-n", "team-a", "configmap/settings", "--cluster", "hidden")
	p.WantExit(t, 1)
	p.WantStderr(t, "there is no ManagedCluster hidden in the sets that the namespace may use")
	viewer := withRoles(t, h, "object-viewer", shippedView)
	suite.Run(t, "explain", "--kubeconfig", viewer, "-n", "team-a", "configmap/settings").WantExit(t, 1)

	checkDelivered(t, h, editor, viewer)
	checkRequests(t, h, requester)
	checkAdded(t, h, editor)

	p = suite.Run(t, "explain", "--kubeconfig", editor, "-n", "team-a", "deployment/web")
	p.WantExit(t, 0)
	p.WantStdout(t, "Deployment team-a/web: drifted", "lacks nodeSelector[pool], tolerations", "1 of 2 nodes fit, which are not named",
		"Deployment.apps/team-a/web")
	if text := p.Stdout.String(); strings.Contains(text, "n1") || strings.Contains(text, "n2") {
		t.Errorf("nodes are named: %s", text)
	}
	p = suite.Run(t, "explain", "--kubeconfig", viewer, "-n", "team-a", "deployment/web")
	p.WantExit(t, 1)

	p = suite.Run(t, "explain", "--kubeconfig", withRoles(t, h, "requester", requester), "-n", "team-a", "clusterrequest/ci")
	p.WantExit(t, 0)
	p.WantStdout(t, "ClusterRequest/team-a/ci: Denied, PurposeNotFound")
	p = suite.Run(t, "explain", "--kubeconfig", viewer, "-n", "team-a", "clusterrequest/ci")
	p.WantExit(t, 1)
	if text := p.Stdout.String(); text != "" {
		t.Errorf("a user without the right is shown %s", text)
	}
}

// explainedObjects are a ConfigMap for clusters in Europe, clusters in and out of scope, and a ClusterRequest.
func explainedObjects() []client.Object {
	objects := []client.Object{
		&clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "members"}},
		&clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "others"}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team-a", Labels: map[string]string{federation.FederatedLabel: "true"}}},
		&clusterv1beta2.ManagedClusterSetBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "members"},
			Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: "members"},
		},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Namespace: "team-a", Name: "settings", Annotations: map[string]string{federation.SelectorAnnotation: inEurope},
		}},
		&openmcpv1alpha1.ClusterRequest{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "ci"},
			Spec:       openmcpv1alpha1.ClusterRequestSpec{Purposes: []openmcpv1alpha1.PurposeName{"workload"}},
		},
	}
	for name, labels := range map[string][2]string{"eu1": {"members", "europe"}, "us1": {"members", "usa"}, "hidden": {"others", "europe"}} {
		objects = append(objects, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, &clusterv1.ManagedCluster{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{clusterv1beta2.ClusterSetLabel: labels[0], "location": labels[1]}},
		})
	}
	return objects
}
