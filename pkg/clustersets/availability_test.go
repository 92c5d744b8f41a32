// SPDX-License-Identifier: Apache-2.0

package clustersets

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/decoding/unreadable"
)

const (
	unavailable = clusterv1.ManagedClusterTaintUnavailable
	unreachable = clusterv1.ManagedClusterTaintUnreachable
	noSelect    = clusterv1.TaintEffectNoSelect
)

func available(status metav1.ConditionStatus) metav1.Condition {
	return metav1.Condition{Type: clusterv1.ManagedClusterConditionAvailable, Status: status}
}

// docs/spec/upstream-placement.md 1.4c: the taint of each condition.
func TestAvailabilityTaint(t *testing.T) {
	joined := metav1.Condition{Type: clusterv1.ManagedClusterConditionJoined, Status: metav1.ConditionFalse}
	for _, tc := range []struct {
		reason     string
		conditions []metav1.Condition
		want       string
	}{
		{reason: "available", conditions: []metav1.Condition{joined, available(metav1.ConditionTrue)}, want: ""},
		{reason: "not available", conditions: []metav1.Condition{joined, available(metav1.ConditionFalse)}, want: unavailable},
		{reason: "nobody knows", conditions: []metav1.Condition{available(metav1.ConditionUnknown)}, want: unreachable},
		{reason: "nobody says", conditions: []metav1.Condition{joined}, want: unreachable},
		{reason: "no conditions at all", want: unreachable},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			if got := AvailabilityTaint(tc.conditions); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// docs/spec/differences.md B20: the taint that counts before it is written.
func TestB20AssumedTaint(t *testing.T) {
	deleted := metav1.Now()
	gpu := clusterv1.Taint{Key: "gpu", Effect: noSelect}
	at := func(key string, added metav1.Time) clusterv1.Taint {
		return clusterv1.Taint{Key: key, Effect: noSelect, TimeAdded: added}
	}
	var (
		now     = at(unreachable, clusterinfo.UnknownTime())
		pending = func(key string) clusterv1.Taint { return at(key, clusterinfo.PendingTime()) }
	)
	for _, tc := range []struct {
		reason     string
		metadata   metav1.ObjectMeta
		taints     []clusterv1.Taint
		conditions []metav1.Condition
		unreadable string
		// want are the assumed taints after those of the cluster.
		want []clusterv1.Taint
	}{
		{reason: "nobody has reported or judged it", want: []clusterv1.Taint{now}},
		{reason: "other taints stay", taints: []clusterv1.Taint{gpu}, want: []clusterv1.Taint{now}},
		{reason: "it is available", conditions: []metav1.Condition{available(metav1.ConditionTrue)}},
		{reason: "it was judged: False", conditions: []metav1.Condition{available(metav1.ConditionFalse)},
			want: []clusterv1.Taint{pending(unavailable)}},
		{reason: "it was judged: Unknown", conditions: []metav1.Condition{available(metav1.ConditionUnknown)},
			want: []clusterv1.Taint{pending(unreachable)}},
		{reason: "it is tainted", taints: []clusterv1.Taint{at(unreachable, metav1.Time{})}},
		{reason: "it has the other taint", taints: []clusterv1.Taint{at(unavailable, metav1.Time{})}},
		{reason: "it is available, and its taint is not removed yet", taints: []clusterv1.Taint{at(unavailable, metav1.Time{})},
			conditions: []metav1.Condition{available(metav1.ConditionTrue)}},
		{reason: "its taint has another effect", taints: []clusterv1.Taint{{Key: unreachable, Effect: clusterv1.TaintEffectPreferNoSelect}}},
		{reason: "it is being deleted", metadata: metav1.ObjectMeta{DeletionTimestamp: &deleted}},
		{reason: "its conditions cannot be read", unreadable: "status.conditions[0].lastTransitionTime"},
		{reason: "its taints cannot be read", unreadable: "spec.taints[0].timeAdded"},
		{reason: "another field cannot be read", unreadable: "status.allocatable.cpu", want: []clusterv1.Taint{now}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			cluster := &clusterv1.ManagedCluster{
				ObjectMeta: tc.metadata, Spec: clusterv1.ManagedClusterSpec{Taints: tc.taints},
				Status: clusterv1.ManagedClusterStatus{Conditions: tc.conditions},
			}
			if tc.unreadable != "" {
				if err := unreadable.Mark(cluster, unreadable.Fields{{Path: tc.unreadable}}); err != nil {
					t.Fatal(err)
				}
			}
			expectAssumed(t, cluster, WithAssumedTaint, tc.want)
		})
	}
}

// docs/spec/differences.md B20: a cluster of the controller clusters-inventory before its claims are written.
func TestB20AssumedClaims(t *testing.T) {
	deleted := metav1.Now()
	ofCluster := map[string]string{openmcpv1alpha1.ClusterAnnotation: "team-a/build"}
	incomplete := []clusterv1.Taint{{Key: clusterinfo.IncompleteTaint, Effect: noSelect, TimeAdded: clusterinfo.PendingTime()}}
	claims := func(names ...string) (claims []clusterv1.ManagedClusterClaim) {
		for _, name := range names {
			claims = append(claims, clusterv1.ManagedClusterClaim{Name: name})
		}
		return claims
	}
	for _, tc := range []struct {
		reason   string
		metadata metav1.ObjectMeta
		claims   []clusterv1.ManagedClusterClaim
		want     []clusterv1.Taint
	}{
		{reason: "created, without claims", metadata: metav1.ObjectMeta{Annotations: ofCluster}, want: incomplete},
		{reason: "only its agent has written claims", metadata: metav1.ObjectMeta{Annotations: ofCluster}, claims: claims("version"),
			want: incomplete},
		{reason: "described", metadata: metav1.ObjectMeta{Annotations: ofCluster}, claims: claims("version", openmcpv1alpha1.ProviderClaim)},
		{reason: "of nobody"},
		{reason: "being deleted", metadata: metav1.ObjectMeta{Annotations: ofCluster, DeletionTimestamp: &deleted}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			cluster := &clusterv1.ManagedCluster{ObjectMeta: tc.metadata, Status: clusterv1.ManagedClusterStatus{ClusterClaims: tc.claims}}
			expectAssumed(t, cluster, WithAssumedClaims, tc.want)
		})
	}
}

// expectAssumed demands that an assumption adds taints to a cluster, does not change the object, and returns it if there are none.
func expectAssumed(
	t *testing.T, cluster *clusterv1.ManagedCluster, assume func(*clusterv1.ManagedCluster) *clusterv1.ManagedCluster, want []clusterv1.Taint,
) {
	t.Helper()
	before := cluster.DeepCopy()
	expected := before.DeepCopy()
	expected.Spec.Taints = append(expected.Spec.Taints, want...)

	got := assume(cluster)
	if diff := cmp.Diff(expected, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, cluster); diff != "" {
		t.Errorf("the given object changed:\n%s", diff)
	}
	if (got == cluster) != (len(want) == 0) {
		t.Errorf("the same object: %t", got == cluster)
	}
	if diff := cmp.Diff(got, assume(got)); diff != "" && len(want) > 0 && want[0].Key != clusterinfo.IncompleteTaint {
		t.Errorf("a second time assumes more:\n%s", diff)
	}
}
