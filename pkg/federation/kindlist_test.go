// SPDX-License-Identifier: Apache-2.0

package federation_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/placement-hub/placement-hub/pkg/federation"
)

// docs/spec/federated-selector.md 3.1.4: --federated-kinds adds namespaced kinds.
func TestParseKinds(t *testing.T) {
	for _, tc := range []struct {
		reason  string
		values  []string
		want    []schema.GroupVersionKind
		wantErr []string
	}{
		{reason: "none"},
		{
			reason: "a group of Kubernetes, the core group and a group of an operator",
			values: []string{"batch/v1/CronJob", "v1/PersistentVolumeClaim", "db.example.com/v1alpha2/Postgres"},
			want: []schema.GroupVersionKind{
				{Group: "batch", Version: "v1", Kind: "CronJob"}, {Version: "v1", Kind: "PersistentVolumeClaim"},
				{Group: "db.example.com", Version: "v1alpha2", Kind: "Postgres"},
			},
		},
		{
			reason: "Placements, which a hub of hubs delivers",
			values: []string{"cluster.open-cluster-management.io/v1beta1/Placement"},
			want:   []schema.GroupVersionKind{{Group: "cluster.open-cluster-management.io", Version: "v1beta1", Kind: "Placement"}},
		},
		{
			reason: "a kind that is named twice, and one that is delivered anyway",
			values: []string{"batch/v1/Job", "batch/v1/Job", "v1/ConfigMap", "apps/v1/Deployment"},
			want:   []schema.GroupVersionKind{{Group: "batch", Version: "v1", Kind: "Job"}},
		},
		{
			reason: "two versions of a kind", values: []string{"batch/v1/Job", "batch/v2/Job", "apps/v1beta1/Deployment"},
			want: []schema.GroupVersionKind{{Group: "batch", Version: "v1", Kind: "Job"}},
			wantErr: []string{
				`"batch/v2/Job" is delivered in version v1; leave one of them out`, `"apps/v1beta1/Deployment" is delivered in version v1`,
			},
		},
		{
			reason: "what is no kind",
			values: []string{"", "Job", "/v1/Pod", "batch/Job", "batch/v1/jobs", "batch/1/Job", "a b/v1/Job", "batch/v1/Job/status", "v1/"},
			wantErr: []string{
				`"" must be group/version/Kind, such as batch/v1/CronJob, or v1/PersistentVolumeClaim for a kind of the core group`,
				`"Job" must be`, `"/v1/Pod" must be`, `"batch/Job" must be`, `"batch/v1/jobs" must be`, `"batch/1/Job" must be`,
				`"a b/v1/Job" must be`, `"batch/v1/Job/status" must be`, `"v1/" must be`,
			},
		},
		{
			reason: "kinds that are never delivered",
			values: []string{
				"v1/Pod", "v1/Event", "events.k8s.io/v1/Event", "coordination.k8s.io/v1/Lease", "discovery.k8s.io/v1/EndpointSlice",
				"v1/Namespace", "v1/ServiceAccount", "work.open-cluster-management.io/v1/ManifestWork",
				"cluster.open-cluster-management.io/v1beta1/PlacementDecision",
				"cluster.open-cluster-management.io/v1alpha1/Placement", "placement.open-cluster-management.io/v1alpha1/Placement",
				"cluster.openmcp.cloud/v1alpha1/ClusterRequest",
				"authorization.k8s.io/v1/LocalSubjectAccessReview",
			},
			wantErr: []string{
				`"v1/Pod" is never delivered: it is bound to a Node of the hub`, `"v1/Event" is never delivered`,
				`"events.k8s.io/v1/Event" is never`, `"coordination.k8s.io/v1/Lease" is never`, `"discovery.k8s.io/v1/EndpointSlice" is never`,
				`"v1/Namespace" is never`, `"v1/ServiceAccount" is never`, `"work.open-cluster-management.io/v1/ManifestWork" is never`,
				`"cluster.open-cluster-management.io/v1beta1/PlacementDecision" is never`,
				`"cluster.open-cluster-management.io/v1alpha1/Placement" is never`,
				`"placement.open-cluster-management.io/v1alpha1/Placement" is never`, `"cluster.openmcp.cloud/v1alpha1/ClusterRequest" is never`,
				`"authorization.k8s.io/v1/LocalSubjectAccessReview" is never delivered: API servers do not store it`,
			},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			got, err := federation.ParseKinds(tc.values)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("kinds (-want +got):\n%s", diff)
			}
			if len(tc.wantErr) == 0 {
				if err != nil {
					t.Error(err)
				}
				return
			}

			if err == nil {
				t.Fatal("no error")
			}
			lines := strings.Split(err.Error(), "\n")
			if len(lines) != len(tc.wantErr) {
				t.Fatalf("%d errors, want %d: %v", len(lines), len(tc.wantErr), err)
			}

			for i, want := range tc.wantErr {
				if !strings.HasPrefix(lines[i], want) {
					t.Errorf("%q, want %q", lines[i], want)
				}
			}
		})
	}
}
