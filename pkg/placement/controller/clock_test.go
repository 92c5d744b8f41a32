// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	testingclock "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// The timer of a queue counts by a monotonic clock: it knows nothing of a clock that is put right, and stands still while the machine is
// suspended. A placement whose answer changes with time is looked at every ten minutes, which sends nothing while nothing has expired.
func TestAClockThatIsPutRightIsSeenWithinTenMinutes(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	clock, requests := testingclock.NewFakePassiveClock(start), 0
	placement := &clusterv1beta1.Placement{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", Generation: 1},
		Spec: clusterv1beta1.PlacementSpec{Tolerations: []clusterv1beta1.Toleration{
			{Key: "maintenance", Operator: clusterv1beta1.TolerationOpExists, TolerationSeconds: ptr.To[int64](10 * 3600)},
		}},
	}
	store := newClientBuilder().WithObjects(placement).
		WithStatusSubresource(&clusterv1beta1.Placement{}, &clusterv1beta1.PlacementDecision{}).
		WithInterceptorFuncs(interceptor.Funcs{
			Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
				requests++
				return c.Create(ctx, object, options...)
			},
			SubResourcePatch: func(
				ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption,
			) error {
				requests++
				return c.SubResource(sub).Patch(ctx, object, patch, options...)
			},
		})

	r, _ := newReconciler(t, servedAPIs{apis: []api.Adapter{api.V1beta1}}, store)
	r.state.clock, r.applier.reporter.recorder = clock, events.NewFakeRecorder(10)
	r.state.inventory.SetClusterSet(&clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "set"}})
	r.state.inventory.SetBinding(&clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "set"}})
	r.state.inventory.SetCluster(&clusterv1.ManagedCluster{
		ObjectMeta: metav1.ObjectMeta{Name: "c1", Labels: map[string]string{clusterv1beta2.ClusterSetLabel: "set"}},
		Spec: clusterv1.ManagedClusterSpec{Taints: []clusterv1.Taint{
			{Key: "maintenance", Effect: clusterv1.TaintEffectNoSelect, TimeAdded: metav1.NewTime(start)},
		}},
	})

	type look struct {
		Requests int
		Again    time.Duration
		Selected int32
	}

	evaluate := func() look {
		t.Helper()
		requests = 0

		result, err := r.Reconcile(t.Context(), placementKey("p"))
		if err != nil {
			t.Fatal(err)
		}
		decided := &clusterv1beta1.Placement{}
		if err := r.client.Get(t.Context(), client.ObjectKeyFromObject(placement), decided); err != nil {
			t.Fatal(err)
		}
		return look{Requests: requests, Again: result.RequeueAfter, Selected: decided.Status.NumberOfSelectedClusters}
	}

	for _, tc := range []struct {
		reason string
		at     time.Duration
		want   look
	}{
		{reason: "the first evaluation writes a page and the status", want: look{Requests: 3, Again: 10 * time.Minute, Selected: 1}},
		{reason: "ten minutes later nothing has expired", at: 10 * time.Minute, want: look{Again: 10 * time.Minute, Selected: 1}},
		{reason: "shortly before the end the timer is exact", at: 10*time.Hour - 2*time.Minute, want: look{Again: 2 * time.Minute, Selected: 1}},
		{reason: "the clock has jumped", at: 11 * time.Hour, want: look{Requests: 2}},
		{reason: "nothing is left that expires", at: 12 * time.Hour, want: look{}},
	} {
		clock.SetTime(start.Add(tc.at))
		if diff := cmp.Diff(tc.want, evaluate()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
		}
	}
}
