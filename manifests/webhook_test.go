// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestWebhookLeadsToAServiceOrAURL(t *testing.T) {
	const (
		mutate   = "/mutate-cluster-open-cluster-management-io-v1-managedcluster"
		validate = "/validate-cluster-open-cluster-management-io-v1-managedcluster"
	)
	service := func(path string) map[string]any {
		return map[string]any{"service": map[string]any{
			"name": "placement-webhook", "namespace": Namespace, "path": path, "port": int64(443),
		}}
	}
	for _, tc := range []struct {
		reason, base string
		want         []map[string]any
		wantErr      string
	}{
		{reason: "in the cluster", want: []map[string]any{service(mutate), service(validate)}},
		{reason: "outside of it, and never both", base: "https://127.0.0.1:9443",
			want: []map[string]any{{"url": "https://127.0.0.1:9443" + mutate}, {"url": "https://127.0.0.1:9443" + validate}}},
		{reason: "behind something that has paths of its own", base: "https://hub.example.com/placement/",
			want: []map[string]any{
				{"url": "https://hub.example.com/placement" + mutate}, {"url": "https://hub.example.com/placement" + validate},
			}},
		{reason: "no API server asks without TLS", base: "http://127.0.0.1:9443", wantErr: `"http://127.0.0.1:9443": use https://host:port`},
		{reason: "no host", base: "https:///a", wantErr: "use https://host:port"},
		{reason: "no URL", base: "::", wantErr: "use https://host:port"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			objs, err := Webhook(tc.base)
			if (err != nil) != (tc.wantErr != "") || err != nil && !strings.Contains(err.Error(), tc.wantErr) {
				t.Fatalf("error: %v, want %q", err, tc.wantErr)
			}
			var got []map[string]any
			for _, obj := range objs {
				webhooks, _, err := unstructured.NestedSlice(obj.Object, "webhooks")
				if err != nil {
					t.Fatal(err)
				}
				for _, entry := range webhooks {
					got = append(got, entry.(map[string]any)["clientConfig"].(map[string]any))
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("clientConfigs (-want +got):\n%s", diff)
			}
		})
	}
}
