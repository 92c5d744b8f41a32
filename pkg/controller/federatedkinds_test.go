package controller

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
		wantErr string
	}{
		{reason: "the kinds that are delivered anyway are not repeated", values: []string{"v1/Secret"}},
		{
			reason: "a kind gets its resource", values: []string{"batch/v1/CronJob"},
			want: []schema.GroupVersionResource{batch.WithResource("cronjobs")},
		},
		{reason: "a malformed kind", values: []string{"CronJob"}, wantErr: `"CronJob" must be group/version/Kind`},
		{
			reason: "a kind that nobody has installed", values: []string{"db.example.com/v1/Postgres"},
			wantErr: "the API server does not serve Postgres of db.example.com/v1; install its CustomResourceDefinition, or leave the kind out",
		},
		{
			reason: "another version of a kind", values: []string{"batch/v2/CronJob"},
			wantErr: "the API server does not serve CronJob of batch/v2",
		},
		{
			reason: "a cluster-scoped kind", values: []string{"v1/PersistentVolume"},
			wantErr: "PersistentVolume of v1 is cluster-scoped; only objects in namespaces are delivered",
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			o := Options{FederatedKinds: tc.values}

			got, err := o.FederatedResources(mapper)
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

			kinds, err := o.federatedKinds(mapper)
			if err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(federation.DefaultKinds(), kinds[:len(federation.DefaultKinds())]); diff != "" {
				t.Errorf("the first kinds (-want +got):\n%s", diff)
			}
		})
	}
}
