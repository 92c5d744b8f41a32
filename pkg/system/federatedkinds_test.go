// SPDX-License-Identifier: Apache-2.0

package system

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/placement-hub/placement-hub/pkg/federation"
)

func TestFederatedKinds(t *testing.T) {
	batch := schema.GroupVersion{Group: "batch", Version: "v1"}
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{batch})
	mapper.Add(batch.WithKind("CronJob"), meta.RESTScopeNamespace)
	mapper.Add(schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolume"}, meta.RESTScopeRoot)

	for _, tc := range []struct {
		reason  string
		values  []string
		want    []schema.GroupVersionResource
		absent  []schema.GroupVersionKind
		wantErr string
	}{
		{reason: "the kinds that are delivered anyway are not repeated", values: []string{"v1/Secret"}},
		{
			reason: "a kind gets its resource", values: []string{"batch/v1/CronJob"},
			want: []schema.GroupVersionResource{batch.WithResource("cronjobs")},
		},
		{reason: "a malformed kind", values: []string{"CronJob"}, wantErr: `"CronJob" must be group/version/Kind`},
		{
			reason: "kinds that are not served do not keep the hub from starting",
			values: []string{"db.example.com/v1/Postgres", "batch/v1/CronJob", "batch/v2/Job"},
			want:   []schema.GroupVersionResource{batch.WithResource("cronjobs")},
			absent: []schema.GroupVersionKind{
				{Group: "db.example.com", Version: "v1", Kind: "Postgres"}, {Group: "batch", Version: "v2", Kind: "Job"},
			},
		},
		{
			reason: "a cluster-scoped kind", values: []string{"v1/PersistentVolume"},
			wantErr: "PersistentVolume of v1 is cluster-scoped; only objects in namespaces are delivered",
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			o := Options{FederatedKinds: tc.values}

			got, absent, err := o.FederatedResources(mapper)
			if tc.wantErr != "" {
				if err == nil || !strings.HasPrefix(err.Error(), tc.wantErr) {
					t.Fatalf("error %v, want %q", err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("resources (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.absent, absent); diff != "" {
				t.Errorf("kinds that are not served (-want +got):\n%s", diff)
			}

			kinds, err := o.federatedKinds(mapper)
			if len(tc.absent) > 0 {
				want := "Postgres of db.example.com/v1: the API server does not serve it; install its CustomResourceDefinition"
				if err == nil || !strings.HasPrefix(err.Error(), want) {
					t.Fatalf("error of a start of the system %v, want %q", err, want)
				}
				return
			}

			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(federation.DefaultKinds(), kinds[:len(federation.DefaultKinds())]); diff != "" {
				t.Errorf("the first kinds (-want +got):\n%s", diff)
			}
		})
	}
}
