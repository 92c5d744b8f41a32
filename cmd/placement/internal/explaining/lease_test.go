// SPDX-License-Identifier: Apache-2.0

package explaining

import (
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func TestExpiredLease(t *testing.T) {
	renewed := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	warning := "no process has renewed the lease hub/placement-lock since 2026-01-02T03:04:05Z, so the hub does not carry out what is explained " +
		"here; look at its Pods: kubectl get pods -n hub"
	for _, tc := range []struct {
		reason string
		spec   coordinationv1.LeaseSpec
		after  time.Duration
		want   string
	}{
		{"a lease that was never held", coordinationv1.LeaseSpec{}, time.Hour, ""},
		{"a leader at work", coordinationv1.LeaseSpec{LeaseDurationSeconds: ptr.To[int32](137)}, 137 * time.Second, ""},
		{"a dead leader, and no standby", coordinationv1.LeaseSpec{LeaseDurationSeconds: ptr.To[int32](137)}, 138 * time.Second, warning},
		{"a lease that was released has a second", coordinationv1.LeaseSpec{LeaseDurationSeconds: ptr.To[int32](1)}, 2 * time.Second, warning},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "hub", Name: "placement-lock"}, Spec: tc.spec}
			if tc.spec.LeaseDurationSeconds != nil {
				lease.Spec.RenewTime = &metav1.MicroTime{Time: renewed}
			}
			if got := Expired(lease, renewed.Add(tc.after)); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
