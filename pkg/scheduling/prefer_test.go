// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// docs/spec/differences.md D1: clusters with fewer untolerated PreferNoSelect taints come first; the score decides among equals.
func TestPreferNoSelect(t *testing.T) {
	taints := func(name string, taints ...clusterv1.Taint) *clusterv1.ManagedCluster {
		cluster := named(name)
		cluster.Spec.Taints = taints
		return cluster
	}
	a := clusterv1.Taint{Key: "a", Effect: prefer, TimeAdded: metav1.NewTime(now.Add(-time.Minute))}
	b := clusterv1.Taint{Key: "b", Effect: prefer, TimeAdded: metav1.NewTime(now.Add(-time.Minute))}
	w := newRandomHub(taints("c1", a, b), taints("c2", a), taints("c3"), taints("c4"))
	w.incumbents = map[string]bool{"c1": true, "c2": true, "c4": true}

	for _, tc := range []struct {
		reason      string
		wanted      *int32
		tolerations tolerating
		want        []string
	}{
		{"fewer taints win over a higher score, the score among equals", nil, nil, []string{"c4", "c3", "c2", "c1"}},
		{"a tainted cluster is taken when there are not enough others", ptr.To[int32](3), nil, []string{"c4", "c3", "c2"}},
		{"nothing is kept out", ptr.To[int32](4), nil, []string{"c4", "c3", "c2", "c1"}},
		{"a tolerated taint does not count", ptr.To[int32](2), tolerating{exist("a", prefer)}, []string{"c2", "c4"}},
		{"a toleration of another effect does not help", ptr.To[int32](2), tolerating{exist("a", noSelect)}, []string{"c4", "c3"}},
		{"all tolerated", ptr.To[int32](2), tolerating{exist("", "")}, []string{"c1", "c2"}},
		{"a toleration that has run out does not help", ptr.To[int32](2), tolerating{
			{Key: "a", Operator: clusterv1beta1.TolerationOpExists, TolerationSeconds: ptr.To[int64](10)},
		}, []string{"c4", "c3"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			result := w.schedule(t, placementSpec{NumberOfClusters: tc.wanted, Tolerations: tc.tolerations})
			got := []string{}
			for _, verdict := range result.Best() {
				got = append(got, verdict.Cluster.Name)
			}
			expect(t, "selected", tc.want, got)
		})
	}

	result := w.schedule(t, placementSpec{NumberOfClusters: ptr.To[int32](3)})
	for cluster, want := range map[string]string{
		"c2": "score 200, rank 3 of 4, PreferNoSelect taints not tolerated: 1",
		"c1": "rank 4 of 4, 3 wanted, PreferNoSelect taints not tolerated: 2, c2 has 1",
	} {
		verdict, _ := result.Verdict(cluster)
		expect(t, cluster, want, result.Reason(verdict))
	}
}
