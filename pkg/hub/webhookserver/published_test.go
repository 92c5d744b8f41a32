// SPDX-License-Identifier: Apache-2.0

package webhookserver

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"maps"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func publishing(k *keeper, url string) {
	k.published = &publisher{
		Published: &Published{
			Handler: http.NotFoundHandler(), Path: "/explanations", URL: url, ConfigMap: "address", URLKey: "url", AuthoritiesKey: "ca.crt",
			Data: map[string]string{"controllers": "a,b"},
		},
		client: k.client, reader: k.client, namespace: "hub",
	}
}

func published(t *testing.T, k *keeper) map[string]string {
	t.Helper()
	found := &corev1.ConfigMap{}
	if err := k.client.Get(t.Context(), client.ObjectKey{Namespace: "hub", Name: "address"}, found); err != nil {
		t.Fatal(err)
	}
	return found.Data
}

func TestE1aTheAddressIsPublishedAndRepaired(t *testing.T) {
	k := newKeeper()
	publishing(k, "")
	k.want(t, "the first time", "create "+Secret, "create address")
	k.want(t, "nothing is due")
	want := map[string]string{"url": "https://placement-webhook.hub.svc/explanations", "ca.crt": string(k.stored(t).Bundle), "controllers": "a,b"}
	if got := published(t, k); !maps.Equal(got, want) {
		t.Errorf("published %v, want %v", got, want)
	}

	edited := &corev1.ConfigMap{}
	if err := k.client.Get(t.Context(), client.ObjectKey{Namespace: "hub", Name: "address"}, edited); err != nil {
		t.Fatal(err)
	}
	for key := range want {
		edited.Data[key] = "https://elsewhere.example"
		if err := k.client.Update(t.Context(), edited); err != nil {
			t.Fatal(err)
		}
		k.want(t, "an edited "+key, "update address")

		if got := published(t, k); !maps.Equal(got, want) {
			t.Errorf("published %v after an edit of %s", got, key)
		}
		if err := k.client.Get(t.Context(), client.ObjectKeyFromObject(edited), edited); err != nil {
			t.Fatal(err)
		}
	}
}

func TestE1aTheCertificateHasThePublishedHost(t *testing.T) {
	k := newKeeper()
	publishing(k, "https://explain.example:8443/explanations")
	k.want(t, "the first time", "create "+Secret, "create address")
	block, _ := pem.Decode(k.stored(t).Certificate)

	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"explain.example", "placement-webhook.hub.svc"} {
		if err := certificate.VerifyHostname(host); err != nil {
			t.Error(err)
		}
	}
}

// A missing right to publish does not keep the certificates of the webhooks from being made and renewed.
func TestAnAddressThatCannotBePublishedHoldsNoCertificate(t *testing.T) {
	k := newKeeper()
	publishing(k, "")
	k.refuse["create address"] = errors.New("you may not")
	sent, _, err := k.look(t)
	if err == nil || len(sent) != 2 || sent[0] != "create "+Secret {
		t.Errorf("sent %q: %v", sent, err)
	}
}
