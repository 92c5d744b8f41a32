// SPDX-License-Identifier: Apache-2.0

package managedcluster

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/decoding/unreadable"
	"github.com/placement-hub/placement-hub/test/property"
)

const (
	unavailable   = clusterv1.ManagedClusterTaintUnavailable
	unreachable   = clusterv1.ManagedClusterTaintUnreachable
	noSelect      = clusterv1.TaintEffectNoSelect
	noSelectIfNew = clusterv1.TaintEffectNoSelectIfNew
)

var (
	earlier = metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	now     = metav1.NewTime(time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC))
)

func available(status metav1.ConditionStatus) metav1.Condition {
	return metav1.Condition{Type: clusterv1.ManagedClusterConditionAvailable, Status: status}
}

func TestWithAvailability(t *testing.T) {
	gpu := clusterv1.Taint{Key: "gpu", Value: "a100", Effect: noSelect, TimeAdded: earlier}
	busy := clusterv1.Taint{Key: "busy", Effect: noSelectIfNew}
	of := func(key string, added metav1.Time) clusterv1.Taint {
		return clusterv1.Taint{Key: key, Effect: noSelect, TimeAdded: added}
	}
	other := func(key, value string, effect clusterv1.TaintEffect) clusterv1.Taint {
		return clusterv1.Taint{Key: key, Value: value, Effect: effect, TimeAdded: earlier}
	}
	for _, tc := range []struct {
		reason string
		taints []clusterv1.Taint
		key    string
		want   []clusterv1.Taint
	}{
		{reason: "a new one comes last", taints: []clusterv1.Taint{gpu, busy}, key: unreachable,
			want: []clusterv1.Taint{gpu, busy, of(unreachable, now)}},
		{reason: "one that is right stays with its time", taints: []clusterv1.Taint{gpu, of(unavailable, earlier), busy}, key: unavailable,
			want: []clusterv1.Taint{gpu, of(unavailable, earlier), busy}},
		{reason: "one that is right stays without a time too: an admission webhook would refuse it one", key: unavailable,
			taints: []clusterv1.Taint{of(unavailable, metav1.Time{})}, want: []clusterv1.Taint{of(unavailable, metav1.Time{})}},
		{reason: "neither when available", taints: []clusterv1.Taint{of(unreachable, earlier), gpu, of(unavailable, earlier), busy},
			want: []clusterv1.Taint{gpu, busy}},
		{reason: "neither with another effect", taints: []clusterv1.Taint{other(unreachable, "", noSelectIfNew)}, want: nil},
		{reason: "never both", taints: []clusterv1.Taint{of(unreachable, earlier), gpu}, key: unavailable,
			want: []clusterv1.Taint{gpu, of(unavailable, now)}},
		{reason: "another effect is put right where it stands, as of now", key: unreachable,
			taints: []clusterv1.Taint{other(unreachable, "", noSelectIfNew), gpu}, want: []clusterv1.Taint{of(unreachable, now), gpu}},
		{reason: "a value is put right", taints: []clusterv1.Taint{other(unreachable, "x", noSelect)}, key: unreachable,
			want: []clusterv1.Taint{of(unreachable, now)}},
		{reason: "of two the right one stays", key: unreachable,
			taints: []clusterv1.Taint{other(unreachable, "", noSelectIfNew), gpu, of(unreachable, earlier)},
			want:   []clusterv1.Taint{of(unreachable, earlier), gpu}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			before := slices.Clone(tc.taints)
			got := withAvailabilityTaint(tc.taints, tc.key, now)
			if diff := cmp.Diff(append([]clusterv1.Taint{}, tc.want...), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, tc.taints); diff != "" {
				t.Errorf("the taints that were given changed:\n%s", diff)
			}
		})
	}
}

func TestRetainted(t *testing.T) {
	deleted := metav1.Now()
	for _, tc := range []struct {
		reason  string
		cluster clusterv1.ManagedCluster
		want    bool
	}{
		{reason: "what nothing is known of", want: true},
		{reason: "what is being deleted is left alone",
			cluster: clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &deleted}}},
		{reason: "no list and an empty one are the same", cluster: clusterv1.ManagedCluster{
			Spec:   clusterv1.ManagedClusterSpec{Taints: []clusterv1.Taint{}},
			Status: clusterv1.ManagedClusterStatus{Conditions: []metav1.Condition{available(metav1.ConditionTrue)}},
		}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			if got := withDesiredTaints(&tc.cluster, now); (got != nil) != tc.want {
				t.Errorf("got %v, want a change: %t", got, tc.want)
			}
		})
	}
}

func TestTaintProperties(t *testing.T) {
	keys := []string{unavailable, unreachable, "gpu", "busy", "cluster.open-cluster-management.io/other"}
	taint := rapid.Custom(func(t *rapid.T) clusterv1.Taint {
		return clusterv1.Taint{
			Key:       rapid.SampledFrom(keys).Draw(t, "key"),
			Value:     rapid.SampledFrom([]string{"", "", "x"}).Draw(t, "value"),
			Effect:    rapid.SampledFrom([]clusterv1.TaintEffect{noSelect, noSelectIfNew, clusterv1.TaintEffectPreferNoSelect}).Draw(t, "effect"),
			TimeAdded: rapid.SampledFrom([]metav1.Time{{}, earlier}).Draw(t, "timeAdded"),
		}
	})
	ours := func(t clusterv1.Taint) bool { return t.Key == unavailable || t.Key == unreachable }
	property.Check(t, func(t *rapid.T) {
		taints := rapid.SliceOfN(taint, 0, 6).Draw(t, "taints")
		key := rapid.SampledFrom([]string{"", unavailable, unreachable}).Draw(t, "wanted")
		got := withAvailabilityTaint(taints, key, now)

		if diff := cmp.Diff(got, withAvailabilityTaint(got, key, metav1.Time{})); diff != "" {
			t.Fatalf("a second time changes something:\n%s", diff)
		}
		if diff := cmp.Diff(slices.DeleteFunc(slices.Clone(taints), ours), slices.DeleteFunc(slices.Clone(got), ours)); diff != "" {
			t.Fatalf("taints of others, or their order, changed:\n%s", diff)
		}
		var kept []string
		for _, taint := range got {
			if ours(taint) {
				kept = append(kept, taint.Key+taint.Value+string(taint.Effect))
			}
		}
		var want []string
		if key != "" {
			want = []string{key + string(noSelect)}
		}
		if diff := cmp.Diff(want, kept); diff != "" {
			t.Fatalf("of the two taints (-want +got):\n%s", diff)
		}
	})
}

// Writing a list with an undecodable time would remove the time, and with it a toleration. A condition that cannot be decoded looks like none.
func TestTaintsAreLeftAloneForFieldsThatCannotBeRead(t *testing.T) {
	for path, want := range map[string]bool{
		"spec.taints[0].timeAdded": false, "status.conditions[0].lastTransitionTime": false, "status.allocatable.cpu": true,
	} {
		cluster := &clusterv1.ManagedCluster{Spec: clusterv1.ManagedClusterSpec{Taints: []clusterv1.Taint{{Key: "gpu", Effect: noSelect}}}}
		if err := unreadable.Mark(cluster, unreadable.Fields{{Path: path}}); err != nil {
			t.Fatal(err)
		}
		if got := withDesiredTaints(cluster, now); (got != nil) != want {
			t.Errorf("%s: tainted as %v", path, got)
		}
	}
}
