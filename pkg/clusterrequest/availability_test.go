// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"pgregory.net/rapid"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/test/property"
)

var noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

func withHealth(status metav1.ConditionStatus) *openmcpv1alpha1.Cluster {
	cluster := published()
	if status != "" {
		cluster.Status.Conditions = []metav1.Condition{
			{Type: openmcpv1alpha1.ConditionClusterHealthy, Status: status, Reason: "FromProvider", Message: "m"},
		}
	}
	return cluster
}

func TestAvailable(t *testing.T) {
	fresh := Heartbeat{Seen: noon.Add(-20 * time.Second), Renewed: true, Duration: time.Minute}
	expired := []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionUnknown, Reason: ReasonLeaseExpired}}
	end := fresh.Seen.Add(time.Minute)
	for _, test := range []struct {
		reason  string
		health  metav1.ConditionStatus
		present []metav1.Condition
		beat    Heartbeat
		want    string
		until   time.Time
	}{
		{"cluster-request C65: renewed and healthy", metav1.ConditionTrue, nil, fresh, "True FromProvider", end},
		{"cluster-request 4.6: renewed and not healthy", metav1.ConditionFalse, nil, fresh, "False FromProvider", end},
		{"cluster-request 4.6: nothing is known of the health", "", nil, fresh, "Unknown HealthUnknown", end},
		{"cluster-request 4.6: no Lease", metav1.ConditionTrue, nil, Heartbeat{}, "Unknown LeaseNotFound", time.Time{}},
		{"cluster-request C65: not renewed in time", metav1.ConditionTrue, nil,
			Heartbeat{Seen: noon.Add(-time.Minute), Renewed: true, Duration: time.Minute}, "Unknown LeaseExpired", time.Time{}},
		{"cluster-request C65: renewed again", metav1.ConditionTrue, expired, fresh, "True FromProvider", end},
		{"cluster-request C63: a hub that starts does not know whether an old Lease is renewed", metav1.ConditionTrue, expired,
			Heartbeat{Seen: noon, Duration: time.Minute}, "Unknown LeaseExpired", time.Time{}},
		{"cluster-request 4.6: a hub that starts gives the provider the whole duration", metav1.ConditionTrue, nil,
			Heartbeat{Seen: noon, Duration: time.Minute}, "True FromProvider", noon.Add(time.Minute)},
		{"cluster-request 4.6: a Lease without a duration", metav1.ConditionTrue, nil, Heartbeat{Seen: noon, Renewed: true}, "True FromProvider",
			noon.Add(time.Minute)},
		{"T4: a Lease for 68 years counts for an hour", metav1.ConditionTrue, nil,
			Heartbeat{Seen: noon.Add(-time.Minute), Renewed: true, Duration: 1<<31*time.Second - time.Second},
			"True FromProvider", noon.Add(59 * time.Minute)},
		{"T4: a Lease for 68 years has expired after an hour", metav1.ConditionTrue, nil,
			Heartbeat{Seen: noon.Add(-time.Hour), Renewed: true, Duration: 1<<31*time.Second - time.Second}, "Unknown LeaseExpired", time.Time{}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, until := Available(withHealth(test.health), LeaseKey(withHealth(test.health), ""), test.present, test.beat, noon)
			expectEqual(t, test.want, string(got.Status)+" "+got.Reason, "condition")
			expectEqual(t, test.until, until, "time of the next change")
		})
	}
}

// Time alone changes nothing before the time that Available returns.
func TestAvailableUntil(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		cluster := withHealth(rapid.SampledFrom([]metav1.ConditionStatus{"", "True", "False", "Unknown"}).Draw(t, "health"))
		seconds := rapid.Custom(func(t *rapid.T) time.Duration { return time.Duration(rapid.IntRange(0, 90).Draw(t, "s")) * time.Second })
		beat := Heartbeat{Seen: noon, Renewed: rapid.Bool().Draw(t, "renewed"), Duration: seconds.Draw(t, "duration")}
		now := noon.Add(seconds.Draw(t, "age"))
		condition, until := Available(cluster, LeaseKey(cluster, ""), nil, beat, now)
		last := []metav1.Condition{condition}
		later := now.Add(seconds.Draw(t, "later"))
		again, _ := Available(cluster, LeaseKey(cluster, ""), last, beat, later)
		if unchanged := until.IsZero() || later.Before(until); unchanged != (again == condition) {
			t.Fatalf("cluster-request 4.6: %v at %s until %s, %v at %s", condition, now, until, again, later)
		}
	})
}

func TestAgentReports(t *testing.T) {
	managed := &clusterv1.ManagedCluster{Spec: clusterv1.ManagedClusterSpec{LeaseDurationSeconds: 30}}
	expectEqual(t, noon.Add(150*time.Second), AgentReports(managed, Heartbeat{RenewTime: noon}), "cluster-request 4.6: 5 times the duration")
	expectEqual(t, noon.Add(5*time.Minute), AgentReports(&clusterv1.ManagedCluster{}, Heartbeat{RenewTime: noon}), "the default duration")
	expectEqual(t, time.Time{}, AgentReports(managed, Heartbeat{}), "no agent")
}
