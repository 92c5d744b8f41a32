// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/hub/freshness"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// docs/spec/differences.md B13: a plan ends when the Placement has changed or after the timeout. An old proof ends it before clusters leave alone.
func TestWhenAPlanIsOutdated(t *testing.T) {
	for _, tc := range []struct {
		reason       string
		generation   int64
		after        time.Duration
		gains, loses bool // whether a write goes on
	}{
		{"nothing has changed", 1, 0, true, true},
		{"the proof is old", 1, freshness.Validity + time.Second, true, false},
		{"the writes take long", 1, time.Minute + time.Second, false, false},
		{"the Placement has changed", 2, 0, false, false},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stored := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: "1", Generation: tc.generation}}
				r, _ := newReconciler(t, servedAPIs{apis: []api.Adapter{api.V1beta1}}, newClientBuilder().WithObjects(stored))
				evaluated := stored.DeepCopy()
				evaluated.Generation = 1
				writer := r.applier.budgetedWriter(&cycle{placement: api.V1beta1.Read(evaluated), provedAt: time.Now()})

				<-time.After(tc.after)
				for loses, want := range map[bool]bool{false: tc.gains, true: tc.loses} {
					err := writer.Proceed(t.Context(), loses)
					if (err == nil) != want || err != nil && !queue.Outdated(err) {
						t.Errorf("loses %t: %v", loses, err)
					}
				}
			})
		})
	}
}
