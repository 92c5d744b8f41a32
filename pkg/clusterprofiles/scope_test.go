// SPDX-License-Identifier: Apache-2.0

package clusterprofiles_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/clusterprofiles"
)

// docs/spec/cluster-profiles.md CP1 and CP2.
func TestScope(t *testing.T) {
	const has, lacks, unknown = clusterprofiles.Member, clusterprofiles.NotMember, clusterprofiles.Unknown
	sets := map[string]clusterprofiles.Membership{"has": has, "lacks": lacks, "broken": unknown}
	binding := func(namespace, set string, labels map[string]string) *clusterv1beta2.ManagedClusterSetBinding {
		return &clusterv1beta2.ManagedClusterSetBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: set, Labels: labels},
			Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: set},
		}
	}
	off, on := map[string]string{clusterprofiles.OptOutLabel: "false"}, map[string]string{clusterprofiles.OptOutLabel: "true"}

	for name, test := range map[string]struct {
		reason   string
		bindings []*clusterv1beta2.ManagedClusterSetBinding
		want     map[string]clusterprofiles.Membership
	}{
		"each namespace of its own": {
			reason: "a namespace without the cluster has no profile",
			bindings: []*clusterv1beta2.ManagedClusterSetBinding{
				binding("a", "has", nil), binding("b", "lacks", nil), binding("c", "broken", nil), binding("d", "gone", nil),
			},
			want: map[string]clusterprofiles.Membership{"a": has, "c": unknown},
		},
		"several sets": {
			reason: "one set that has the cluster is enough, in any order",
			bindings: []*clusterv1beta2.ManagedClusterSetBinding{
				binding("a", "broken", nil), binding("a", "has", nil), binding("b", "has", nil), binding("b", "broken", nil),
				binding("b", "lacks", nil),
			},
			want: map[string]clusterprofiles.Membership{"a": has, "b": has},
		},
		"a binding without profiles": {
			reason: "the label takes its own binding out alone, and only with the value false",
			bindings: []*clusterv1beta2.ManagedClusterSetBinding{
				binding("a", "has", off), binding("b", "has", off), binding("b", "broken", nil), binding("c", "has", on),
			},
			want: map[string]clusterprofiles.Membership{"b": unknown, "c": has},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := clusterprofiles.Scope(test.bindings, func(set string) clusterprofiles.Membership { return sets[set] })
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("namespaces (-want +got): %s\n%s", test.reason, diff)
			}
		})
	}
}
