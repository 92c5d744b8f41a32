package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/controller/webhookconfig"
	"github.com/placement-hub/placement-hub/pkg/webhook/clusterdefaults"
	"github.com/placement-hub/placement-hub/test/env/faults"
)

const clusterWithTaint = `apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: %s}
spec: {hubAcceptsClient: true, taints: [{key: maintenance, effect: NoSelect}]}
`

// wantDefaults makes a cluster as a user does, and looks what became of it.
func wantDefaults(t *testing.T, kubeconfig, name string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "cluster.yaml")
	must(t, os.WriteFile(file, fmt.Appendf(nil, clusterWithTaint, name), 0o600))
	kubectl(t, kubeconfig, "create", "-f", file)
	made := kubectlOutput(t, kubeconfig, "get", "managedcluster", name, "-o",
		`jsonpath={.metadata.labels.cluster\.open-cluster-management\.io/clusterset} {.spec.taints[0].timeAdded}`)
	if !regexp.MustCompile(`^default \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$`).MatchString(made) {
		t.Errorf("set and time of the taint of a new cluster are %q", made)
	}
}

// A second run on the same data answers at another address, and neither is in the way of the samples.
func TestRunGivesClustersTheirDefaults(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	for _, name := range []string{"placement-hub-trial", "second"} { // The first is called like the cluster that is tried out.
		p := start(t, "run", "--data-dir", data, "--samples")
		p.waitFor(t, &p.stderr, "putting the webhook of ManagedClusters in force … ")
		p.waitFor(t, &p.stdout, "\nteam-a/standby  1/2  NotAllDecisionsScheduled  ap1  (")
		wantDefaults(t, filepath.Join(data, "kubeconfig"), name)
		if printed := p.stderr.String(); strings.Contains(printed, "TLS handshake error") {
			t.Errorf("the log of the webhook is among the steps:\n%s", printed)
		}
		// Nobody cleans up after this one.
		p.signal(t, syscall.SIGKILL)
		p.wantExit(t, -1)
	}
}

var webhookAddress = regexp.MustCompile(`"Serving the webhooks" address="([^"]+)"`)

func TestControllerGivesClustersTheirDefaults(t *testing.T) {
	h := startHub(t)
	leader := h.startReplica(t)
	h.wantHolder(t, leader)
	second := h.startReplica(t)
	for i, r := range []*replica{leader, second} {
		h.tryOut(t, r)
		wantDefaults(t, h.adminKubeconfig, fmt.Sprintf("made-%d", i))
	}

	second.signal(t, syscall.SIGTERM)
	second.wantExit(t, 0)
	cluster := &clusterv1.ManagedCluster{}
	must(t, h.client.Get(t.Context(), types.NamespacedName{Name: "made-1"}, cluster))
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"taints":[{"key":"other","effect":"NoSelect"}]}}`))
	refused := h.client.Patch(t.Context(), cluster, patch)
	if refused == nil || !strings.Contains(refused.Error(), "failed calling webhook") {
		t.Errorf("another taint while nobody says when it was added: %v", refused)
	}
	leader.signal(t, syscall.SIGTERM)
	leader.wantExit(t, 0)
}

// A replica that is ready answers API servers: it is not while nobody could write the certificate down, and then they trust it.
func TestReadyWhenTheWebhookServes(t *testing.T) {
	h := startHub(t)
	var listen net.ListenConfig
	reserved, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	address := reserved.Addr().String()
	must(t, reserved.Close())
	must(t, manifests.InstallWebhook(t.Context(), h.environment.AdminConfig(), "https://"+address))

	proxy := throughProxy(t, h)
	writing := faults.Match{Verbs: []string{"create"}, Resources: []string{"secrets"}}
	mend := proxy.Break(faults.Rule{Match: writing, Fault: faults.Hang})
	defer mend()
	r := h.startServing(t, "controller", "--kubeconfig", h.kubeconfig, "--controllers=*", "--listen=127.0.0.1:0", "--webhook-listen="+address)
	awaitRequests(t, proxy, writing, 1)
	eventually(t, "waiting for everything but the webhook", func() error {
		if _, body := r.get(t, "/readyz", ""); !strings.Contains(body, "[+]caches ok") || !strings.Contains(body, "[+]started ok") {
			return errors.New(body)
		}
		return nil
	})
	if status, body := r.get(t, "/readyz", ""); status == http.StatusOK || !strings.Contains(body, "[-]webhook failed") {
		t.Errorf("without a certificate /readyz answers %d %s", status, body)
	}
	mend()
	r.wantReady(t)
	mutates := &admissionregistrationv1.MutatingWebhookConfiguration{}
	must(t, h.client.Get(t.Context(), types.NamespacedName{Name: clusterdefaults.Configuration}, mutates))
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(mutates.Webhooks[0].ClientConfig.CABundle)
	connection, err := (&tls.Dialer{Config: &tls.Config{RootCAs: roots}}).DialContext(t.Context(), "tcp", address)
	must(t, err)
	must(t, connection.Close())
	r.signal(t, syscall.SIGTERM)
	r.wantExit(t, 0)
}

// tryOut has the API server ask a replica about clusters, and returns when it does.
func (h *hub) tryOut(t *testing.T, r *replica) {
	t.Helper()
	found := webhookAddress.FindStringSubmatch(r.stderr.String())
	if found == nil {
		t.Fatalf("the replica does not say where it serves the webhook; %s", r)
	}
	must(t, manifests.InstallWebhook(t.Context(), h.environment.AdminConfig(), "https://"+found[1]))
	eventually(t, "waiting for the webhook", func() error { return h.tryDefaults(t) })
}

// loseCertificates edits and deletes the certificates of the webhook, and has it look at a namespace. Nobody is asked any more in the end.
func (h *hub) loseCertificates(t *testing.T, leader *replica) {
	t.Helper()
	h.tryOut(t, leader)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: manifests.Namespace, Name: webhookconfig.Secret}}
	must(t, h.client.Patch(t.Context(), secret, mergePatch(`{"data":{"ca-bundle.crt":null}}`)))
	eventually(t, "waiting for the authorities", func() error {
		err := h.client.Get(t.Context(), client.ObjectKeyFromObject(secret), secret)
		if err == nil && len(secret.Data["ca-bundle.crt"]) == 0 {
			err = errors.New("there are none")
		}
		return err
	})
	must(t, h.client.Delete(t.Context(), secret))
	h.wantMade(t, secret)
	accepted := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "accepted"}}
	accepted.Spec.HubAcceptsClient = true
	eventually(t, "waiting for a cluster to be accepted", func() error { return h.client.Create(t.Context(), accepted) })
	must(t, manifests.RemoveWebhook(t.Context(), h.environment.AdminConfig()))
}

// tryDefaults is nil when a new cluster would get a set.
func (h *hub) tryDefaults(t *testing.T) error {
	t.Helper()
	cluster := &clusterv1.ManagedCluster{}
	cluster.Name = "tried"
	if err := client.NewDryRunClient(h.client).Create(t.Context(), cluster); err != nil {
		return err
	}
	if cluster.Labels[clusterv1beta2.ClusterSetLabel] == "" {
		return fmt.Errorf("a new cluster has the labels %v", cluster.Labels)
	}
	return nil
}
