// SPDX-License-Identifier: Apache-2.0

package webhookserver

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// testConfiguration is the name of the configurations of the webhook in the tests.
const testConfiguration = "webhooks-of-the-tests"

// leading returns a configuration with webhooks at these URLs; "" is the Service of another namespace.
func leading(urls ...string) *admissionregistrationv1.MutatingWebhookConfiguration {
	c := &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: testConfiguration}}
	for _, url := range urls {
		config := admissionregistrationv1.WebhookClientConfig{URL: ptr.To(url)}
		if url == "" {
			config = admissionregistrationv1.WebhookClientConfig{
				Service: &admissionregistrationv1.ServiceReference{Namespace: "other", Name: "service"},
			}
		}
		c.Webhooks = append(c.Webhooks, admissionregistrationv1.MutatingWebhook{Name: "w" + url, ClientConfig: config})
	}
	return c
}

func TestHostsOf(t *testing.T) {
	service := []string{"placement-webhook.hub", "placement-webhook.hub.svc", "placement-webhook.hub.svc.cluster.local"}
	for _, tc := range []struct {
		reason string
		urls   []string
		want   []string
	}{
		{reason: "the Service of the hub, whether anything is installed or not", want: service},
		{reason: "another Service, where a configuration names one", urls: []string{""},
			want: append(append([]string{}, service...), "service.other", "service.other.svc", "service.other.svc.cluster.local")},
		{reason: "hosts and addresses of URLs, each once",
			urls: []string{"https://Hub.example.com:9443/a", "https://hub.example.com/b", "https://127.0.0.1:1", "https://[::1]:1/"},
			want: append([]string{"127.0.0.1", "::1", "hub.example.com"}, service...)},
		{reason: "a host that no certificate can have is nobody's", urls: []string{"https://über.example.com/", "https://a_b/", "::"}, want: service},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, hostsOf([]configuration{{hooks: mutating(leading(tc.urls...))}}, "hub")); diff != "" {
				t.Errorf("hostsOf() (-want +got):\n%s", diff)
			}
		})
	}
}
