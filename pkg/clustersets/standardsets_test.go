// SPDX-License-Identifier: Apache-2.0

package clustersets

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
)

// docs/spec/differences.md B20: an edited standard set counts as the controller restores it.
func TestB20StandardSets(t *testing.T) {
	exclusive := clusterv1beta2.ManagedClusterSelector{SelectorType: clusterv1beta2.ExclusiveClusterSetLabel}
	nothing := clusterv1beta2.ManagedClusterSelector{SelectorType: clusterv1beta2.LabelSelector}
	all := clusterv1beta2.ManagedClusterSelector{SelectorType: clusterv1beta2.LabelSelector, LabelSelector: &metav1.LabelSelector{}}
	deleted, optOut := metav1.Now(), map[string]string{"cluster.open-cluster-management.io/autoupdate": "false"}
	for _, tc := range []struct {
		reason    string
		metadata  metav1.ObjectMeta
		has, want clusterv1beta2.ManagedClusterSelector
	}{
		{reason: "default as it should be", metadata: metav1.ObjectMeta{Name: "default"}, has: exclusive, want: exclusive},
		{reason: "default of all clusters", metadata: metav1.ObjectMeta{Name: "default"}, has: all, want: exclusive},
		{reason: "global as it should be", metadata: metav1.ObjectMeta{Name: "global"}, has: all, want: all},
		{reason: "global of no cluster", metadata: metav1.ObjectMeta{Name: "global"}, has: nothing, want: all},
		{reason: "global with the default of the API", metadata: metav1.ObjectMeta{Name: "global"}, has: exclusive, want: all},
		{reason: "a set that opts out", metadata: metav1.ObjectMeta{Name: "global", Annotations: optOut}, has: exclusive, want: exclusive},
		{reason: "a set that is being deleted", metadata: metav1.ObjectMeta{Name: "global", DeletionTimestamp: &deleted}, has: exclusive,
			want: exclusive},
		{reason: "any other set", metadata: metav1.ObjectMeta{Name: "prod"}, has: nothing, want: nothing},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: tc.metadata, Spec: clusterv1beta2.ManagedClusterSetSpec{ClusterSelector: tc.has}}
			before := set.DeepCopy()
			got := WithStandardSelector(set)
			if diff := cmp.Diff(tc.want, got.Spec.ClusterSelector); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, set); diff != "" {
				t.Errorf("the given set changed:\n%s", diff)
			}
			if same := cmp.Equal(tc.has, tc.want); (got == set) != same {
				t.Errorf("the same object: %t, want %t", got == set, same)
			}
		})
	}
}
