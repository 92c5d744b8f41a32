// SPDX-License-Identifier: Apache-2.0

package webhookserver

import (
	"errors"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// readinessOf returns the readiness of a process that serves with the certificate of a keeper.
func readinessOf(k *keeper) *readiness {
	return &readiness{source: &certificateSource{reader: k.client, key: k.key}, webhooks: k.webhooks, clock: k.clock}
}

func TestReadyWhenTheWebhookCanServe(t *testing.T) {
	k := newKeeper(leading("https://hub.example.com/mutate", ""))
	r := readinessOf(k)
	wantReady := func(reason string, want bool) {
		t.Helper()
		if err := r.check(t.Context()); (err == nil) != want {
			t.Errorf("%s: ready is %t (%v), want %t", reason, err == nil, err, want)
		}
	}
	wantReady("there is no certificate yet", false)

	k.refuse["patch "+testConfiguration] = errors.New("no")
	if _, _, err := k.look(t); err == nil {
		t.Fatal("the bundle was given out")
	}
	wantReady("no API server trusts the certificate yet", false)

	delete(k.refuse, "patch "+testConfiguration)
	k.want(t, "the bundle was not given out", "patch "+testConfiguration)
	wantReady("API servers trust the certificate", true)

	mutates := &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: testConfiguration}}
	if err := k.client.Get(t.Context(), client.ObjectKeyFromObject(mutates), mutates); err != nil {
		t.Fatal(err)
	}
	mutates.Webhooks[0].ClientConfig.CABundle = nil
	if err := k.client.Update(t.Context(), mutates); err != nil {
		t.Fatal(err)
	}
	wantReady("an edited configuration is mended by the leader; to take every replica out of the Service would not help", true)
	if err := readinessOf(k).check(t.Context()); err == nil {
		t.Error("a process that starts then is ready, want it to wait for the bundle")
	}
}

func TestReadyWithoutConfigurations(t *testing.T) {
	k := newKeeper()
	r := readinessOf(k)
	k.want(t, "nothing is there", "create "+Secret)
	if err := r.check(t.Context()); err != nil {
		t.Errorf("no API server asks, and the process is not ready: %v", err)
	}
}

func TestNotReadyWithoutTheHost(t *testing.T) {
	k := newKeeper(leading("https://hub.example.com/mutate"))
	k.want(t, "nothing is there", "create "+Secret, "patch "+testConfiguration)
	mutates := &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: testConfiguration}}
	if err := k.client.Get(t.Context(), client.ObjectKeyFromObject(mutates), mutates); err != nil {
		t.Fatal(err)
	}
	url := "https://elsewhere.example.com/mutate"
	mutates.Webhooks[0].ClientConfig.URL = &url
	if err := k.client.Update(t.Context(), mutates); err != nil {
		t.Fatal(err)
	}
	if err := readinessOf(k).check(t.Context()); err == nil {
		t.Error("ready although the certificate has not the host by which API servers ask")
	}
}

// docs/spec/trust.md R4: a replica that has not read what its webhooks need would answer them with errors.
func TestNotReadyBeforeTheCachesOfTheWebhooks(t *testing.T) {
	k := newKeeper()
	k.want(t, "nothing is there", "create "+Secret)
	k.webhooks = append(k.webhooks, &watched{Webhook: Webhook{Controller: "c", Synced: func() error { return errors.New("no list") }}})
	if err := readinessOf(k).check(t.Context()); err == nil {
		t.Error("ready before the caches have synced")
	}
}
