// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"strings"
	"testing"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

// mark is in every key and value that the tenant of TestTenantsWriteNoLabelAndNoClaim writes.
const mark = "tenant"

// written adds what a tenant may write to a request beside its purposes.
func written(r *openmcpv1alpha1.ClusterRequest) {
	r.Labels = map[string]string{
		openmcpv1alpha1.PlacementLabelPrefix + mark: mark, openmcpv1alpha1.PurposeKeyPrefix + mark: mark,
		openmcpv1alpha1.DeleteWithoutRequestsLabel: mark, openmcpv1alpha1.ClusterLabel: mark,
	}
	r.Annotations = map[string]string{
		openmcpv1alpha1.ClusterSetAnnotation: mark, openmcpv1alpha1.LabelsAnnotation: mark, openmcpv1alpha1.ClaimsAnnotation: mark,
		openmcpv1alpha1.PrefixesAnnotation: mark,
	}
	r.Spec.Prefix = mark + "-"
	r.Spec.Traits = []openmcpv1alpha1.TraitRequirement{
		{Trait: mark, Optional: true}, {Trait: mark + "/negated", Negated: true},
		{AnyOf: []openmcpv1alpha1.TraitAlternative{{Trait: mark + "/alternative"}, {Trait: aws}}},
	}
	r.Spec.Kubernetes = &openmcpv1alpha1.Kubernetes{Version: "1.20"}
}

// Labels and claims of a ManagedCluster choose where the workload of others goes, so that no key and no value of them is a tenant's
// (docs/spec/trust.md T3).
func TestTenantsWriteNoLabelAndNoClaim(t *testing.T) {
	for _, test := range []struct {
		reason   string
		purposes string
		existing bool
	}{
		{"a new Cluster of the request", "mcp", false},
		{"a new shared Cluster", "platform onboarding", false},
		{"a shared Cluster that exists", "workload", true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			published := func(change func(*openmcpv1alpha1.ClusterRequest)) (labels, claims map[string]string) {
				w := newWorld(t, Options{})
				if test.existing {
					w.cluster("c", test.purposes, nil)
				}
				decision := w.Decide(w.request(test.purposes, change), now)
				if decision.Cluster == nil {
					t.Fatalf("no Cluster: %+v", decision.Result)
				}
				supported := gardener().Status.Profiles
				for i := range supported {
					if supported[i].Name == decision.Cluster.Spec.ClusterProviderRef.Profile {
						return ManagedCluster(decision.Cluster, DefaultClusterSet).Labels, Claims(decision.Cluster, &supported[i])
					}
				}
				t.Fatalf("no profile %s", decision.Cluster.Spec.ClusterProviderRef.Profile)

				return nil, nil
			}
			labels, claims := published(written)
			wantLabels, wantClaims := published(nil)
			expectEqual(t, wantLabels, labels, "labels")
			expectEqual(t, wantClaims, claims, "claims")
			for key, value := range labels {
				if strings.Contains(key+"="+value, mark) {
					t.Errorf("label %s=%s is the tenant's", key, value)
				}
			}
			for key, value := range claims {
				if strings.Contains(key+"="+value, mark) {
					t.Errorf("claim %s=%s is the tenant's", key, value)
				}
			}
		})
	}
}
