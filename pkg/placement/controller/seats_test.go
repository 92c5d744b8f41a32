// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/hub/queue/seats"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// A Placement whose evaluation does not end does not keep one of another namespace from its decisions, and has itself no time limit counted as an
// error while it waits (docs/spec/trust.md R5).
func TestEvaluationsOfOneNamespaceGiveWayToOthers(t *testing.T) {
	placement := func(namespace, name string) *clusterv1beta1.Placement {
		return &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: "1", Generation: 1}}
	}
	r, _ := newReconciler(t, servedAPIs{apis: []api.Adapter{api.V1beta1}}, newClientBuilder().
		WithObjects(placement("attacker", "p1"), placement("attacker", "p2"), placement("tenant", "p")).
		WithStatusSubresource(&clusterv1beta1.Placement{}, &clusterv1beta1.PlacementDecision{}))
	r.decider.seats = seats.New(1)

	schedule := r.decider.engine.schedule
	var (
		begun    sync.Once
		released atomic.Bool
	)
	begins := make(chan struct{})
	r.decider.engine.schedule = func(
		request *scheduling.Request, s *inventory.Snapshot, incumbents scheduling.Incumbents, now time.Time, watch scheduling.Recorder,
	) *scheduling.Result {
		for request.Key.Namespace == "attacker" && !released.Load() {
			begun.Do(func() { close(begins) })
			runtime.Gosched()
			s.Yield()()
		}
		return schedule(request, s, incumbents, now, watch)
	}

	ended := make(chan error, 1)
	go func() {
		_, err := r.Reconcile(t.Context(), api.V1beta1.Read(placement("attacker", "p1")).Key())
		ended <- err
	}()
	<-begins
	if _, err := r.Reconcile(t.Context(), api.V1beta1.Read(placement("tenant", "p")).Key()); err != nil {
		t.Fatal(err)
	}

	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	result, err := r.Reconcile(short, api.V1beta1.Read(placement("attacker", "p2")).Key())
	if err != nil || result.RequeueAfter == 0 {
		t.Errorf("a Placement that got no seat in time: %+v, error %v; want another try without an error", result, err)
	}

	released.Store(true)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
