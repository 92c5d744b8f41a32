// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func TestHeartbeatsFollow(t *testing.T) {
	noon := time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)
	subscriber := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "team", Name: "c"}}
	beside := types.NamespacedName{Namespace: "team", Name: "cluster-1"}
	moved := types.NamespacedName{Namespace: "provider", Name: "cluster-1"}
	later := types.NamespacedName{Namespace: "other", Name: "cluster-1"}
	lease := func(key types.NamespacedName, at time.Time) *coordinationv1.Lease {
		return &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
			Spec:       coordinationv1.LeaseSpec{LeaseDurationSeconds: ptr.To[int32](60), RenewTime: ptr.To(metav1.NewMicroTime(at))},
		}
	}
	wantSeen := func(t *testing.T, h *heartbeats, key types.NamespacedName, want time.Time) {
		t.Helper()
		h.follow(key, subscriber)
		if diff := cmp.Diff(want, h.get(key).Seen); diff != "" {
			t.Errorf("time of the last renewal (-want +got):\n%s", diff)
		}
	}

	t.Run("T4: the former Lease counts until the new one is there, and its renewals do not", func(t *testing.T) {
		h := newHeartbeats()
		h.set(lease(beside, noon), false, noon)
		wantSeen(t, h, beside, noon)
		wantSeen(t, h, moved, noon)
		if _, affected := h.set(lease(beside, noon.Add(time.Minute)), false, noon.Add(time.Minute)); affected {
			t.Error("the former Lease still concerns the Cluster")
		}
		wantSeen(t, h, moved, noon)

		if _, affected := h.set(lease(moved, noon.Add(2*time.Minute)), false, noon.Add(2*time.Minute)); !affected {
			t.Error("the new Lease does not concern the Cluster")
		}
		wantSeen(t, h, moved, noon.Add(2*time.Minute))
		wantSeen(t, h, later, noon.Add(2*time.Minute))
	})
	t.Run("T4: a hub that starts after the move gives the provider the time of the Lease beside the Cluster", func(t *testing.T) {
		h := newHeartbeats()
		h.set(lease(beside, noon), true, noon)
		wantSeen(t, h, moved, noon)
	})
	t.Run("T4: a Lease beside the Cluster does not count when that of the provider is there", func(t *testing.T) {
		h := newHeartbeats()
		h.set(lease(moved, noon), true, noon)
		h.set(lease(beside, noon.Add(time.Minute)), true, noon.Add(time.Minute))
		wantSeen(t, h, moved, noon)
		h.remove(moved)
		wantSeen(t, h, moved, time.Time{})
	})
	t.Run("cluster-request 4.6: the Lease of another Cluster of the name never counts", func(t *testing.T) {
		h := newHeartbeats()
		h.set(lease(beside, noon), false, noon)
		wantSeen(t, h, beside, noon)
		wantSeen(t, h, types.NamespacedName{Namespace: "provider", Name: "cluster-2"}, time.Time{})
	})
}

func TestReadingAHeartbeatSubscribesNobody(t *testing.T) {
	h, key := newHeartbeats(), types.NamespacedName{Namespace: "n", Name: "l"}
	subscriber := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "team", Name: "c"}}
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	h.get(key)
	if got, affected := h.set(lease, false, time.Unix(1, 0)); affected {
		t.Errorf("the Lease concerns %s", got)
	}
	h.subscribe(key, subscriber)

	if got, affected := h.remove(key); !affected || got != subscriber {
		t.Errorf("got %s, %t, want %s", got, affected, subscriber)
	}
}
