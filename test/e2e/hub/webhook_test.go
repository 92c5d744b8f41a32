// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/clustersets/webhook"
	"github.com/placement-hub/placement-hub/test/e2e/suite"
	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/env/loopback"
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
	suite.Must(t, os.WriteFile(file, fmt.Appendf(nil, clusterWithTaint, name), 0o600))
	suite.Kubectl(t, kubeconfig, "create", "-f", file)
	made := suite.KubectlOutput(t, kubeconfig, "get", "managedcluster", name, "-o",
		`jsonpath={.metadata.labels.cluster\.open-cluster-management\.io/clusterset} {.spec.taints[0].timeAdded}`)
	if !regexp.MustCompile(`^default \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$`).MatchString(made) {
		t.Errorf("set and time of the taint of a new cluster are %q", made)
	}
}

// A second run on the same data answers at another address, and neither is in the way of the samples.
func TestRunGivesClustersTheirDefaults(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	for _, name := range []string{"placement-hub-trial", "second"} { // The first is called like the cluster that is tried out.
		p := suite.Start(t, "run", "--data-dir", data, "--samples")
		p.WaitFor(t, &p.Stderr, "putting the webhook of ManagedClusters in force … ")
		p.WaitFor(t, &p.Stdout, "\nteam-a/standby  1/2  NotAllDecisionsScheduled  ap1  (")
		wantDefaults(t, filepath.Join(data, "kubeconfig"), name)
		if printed := p.Stderr.String(); strings.Contains(printed, "TLS handshake error") {
			t.Errorf("the log of the webhook is among the steps:\n%s", printed)
		}
		// Nobody cleans up after this one.
		p.Signal(t, syscall.SIGKILL)
		p.WantExit(t, -1)
	}
}

func TestControllerGivesClustersTheirDefaults(t *testing.T) {
	h := suite.StartHub(t)
	leader := h.StartReplica(t)
	h.WantHolder(t, leader)
	second := h.StartReplica(t)
	for i, r := range []*suite.Replica{leader, second} {
		h.TryOut(t, r)
		wantDefaults(t, h.AdminKubeconfig, fmt.Sprintf("made-%d", i))
	}

	second.Signal(t, syscall.SIGTERM)
	second.WantExit(t, 0)
	cluster := &clusterv1.ManagedCluster{}
	suite.Must(t, h.Client.Get(t.Context(), types.NamespacedName{Name: "made-1"}, cluster))
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"taints":[{"key":"other","effect":"NoSelect"}]}}`))
	refused := h.Client.Patch(t.Context(), cluster, patch)
	if refused == nil || !strings.Contains(refused.Error(), "failed calling webhook") {
		t.Errorf("another taint while nobody says when it was added: %v", refused)
	}
	leader.Signal(t, syscall.SIGTERM)
	leader.WantExit(t, 0)
}

// A replica is not ready while no replica can write the certificate. Once it is ready, API servers trust its certificate.
func TestReadyWhenTheWebhookServes(t *testing.T) {
	h := suite.StartHub(t)
	address, err := loopback.FreeAddress(t.Context())
	suite.Must(t, err)
	suite.Must(t, manifests.InstallWebhook(t.Context(), h.Environment.AdminConfig(), "https://"+address))

	proxy := suite.ThroughProxy(t, h)
	writing := faults.Match{Verbs: []string{"create"}, Resources: []string{"secrets"}}
	mend := proxy.Break(faults.Rule{Match: writing, Fault: faults.Hang})
	defer mend()
	r := h.StartServing(t, "controller", "--kubeconfig", h.Kubeconfig, "--controllers=*", "--listen=127.0.0.1:0", "--webhook-listen="+address)
	suite.AwaitRequests(t, proxy, writing, 1)
	suite.Eventually(t, "waiting for everything but the webhook", func() error {
		if status, body := r.Get(t, "/readyz/evaluation", ""); status != http.StatusOK {
			return errors.New(body)
		}
		return nil
	})
	if status, body := r.Get(t, "/readyz", ""); status == http.StatusOK || !strings.Contains(body, "[-]webhook failed") {
		t.Errorf("without a certificate /readyz answers %d %s", status, body)
	}
	mend()
	r.WantReady(t)
	mutates := &admissionregistrationv1.MutatingWebhookConfiguration{}
	suite.Must(t, h.Client.Get(t.Context(), types.NamespacedName{Name: webhook.Configuration}, mutates))
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(mutates.Webhooks[0].ClientConfig.CABundle)
	connection, err := (&tls.Dialer{Config: &tls.Config{RootCAs: roots}}).DialContext(t.Context(), "tcp", address)
	suite.Must(t, err)
	suite.Must(t, connection.Close())
	r.Signal(t, syscall.SIGTERM)
	r.WantExit(t, 0)
}
