// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"errors"
	"fmt"
	"regexp"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/hub/webhookserver"
)

// CallReplica has the API server call a replica with the reviews of a system.
func (h *Hub) CallReplica(t *testing.T, r *Replica, system string) {
	t.Helper()
	found := webhookAddress.FindStringSubmatch(r.Stderr.String())
	if found == nil {
		t.Fatalf("the replica does not say where it serves the webhooks; %s", r)
	}
	Must(t, manifests.InstallSystem(t.Context(), h.Environment.AdminConfig(), system, "https://"+found[1]))
}

var webhookAddress = regexp.MustCompile(`"Serving the webhooks" address="([^"]+)"`)

// TryOut has the API server ask a replica about clusters, and returns when it does.
func (h *Hub) TryOut(t *testing.T, r *Replica) {
	t.Helper()
	found := webhookAddress.FindStringSubmatch(r.Stderr.String())
	if found == nil {
		t.Fatalf("the replica does not say where it serves the webhook; %s", r)
	}
	Must(t, manifests.InstallWebhook(t.Context(), h.Environment.AdminConfig(), "https://"+found[1]))
	Eventually(t, "waiting for the webhook", func() error { return h.TryDefaults(t) })
}

// LoseCertificates edits and deletes the certificates of the webhook, and has it look at a namespace. Nobody is asked any more in the end.
func (h *Hub) LoseCertificates(t *testing.T, leader *Replica) {
	t.Helper()
	h.TryOut(t, leader)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: manifests.Namespace, Name: webhookserver.Secret}}
	Must(t, h.Client.Patch(t.Context(), secret, MergePatch(`{"data":{"ca-bundle.crt":null}}`)))
	Eventually(t, "waiting for the authorities", func() error {
		err := h.Client.Get(t.Context(), client.ObjectKeyFromObject(secret), secret)
		if err == nil && len(secret.Data["ca-bundle.crt"]) == 0 {
			err = errors.New("there are none")
		}
		return err
	})
	Must(t, h.Client.Delete(t.Context(), secret))
	h.WantMade(t, secret)
	accepted := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "accepted"}}
	accepted.Spec.HubAcceptsClient = true
	Eventually(t, "waiting for a cluster to be accepted", func() error { return h.Client.Create(t.Context(), accepted) })
	Must(t, manifests.RemoveWebhook(t.Context(), h.Environment.AdminConfig()))
}

// TryDefaults returns an error unless a new cluster gets a set. It changes nothing.
func (h *Hub) TryDefaults(t *testing.T) error {
	t.Helper()
	cluster := &clusterv1.ManagedCluster{}
	cluster.Name = "tried"
	if err := client.NewDryRunClient(h.Client).Create(t.Context(), cluster); err != nil {
		return err
	}
	if cluster.Labels[clusterv1beta2.ClusterSetLabel] == "" {
		return fmt.Errorf("a new cluster has the labels %v", cluster.Labels)
	}
	return nil
}
