// SPDX-License-Identifier: Apache-2.0

package managedcluster

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// vocabularyHub has a reconciler with a fake clock, and counts the writes of the ConfigMap.
type vocabularyHub struct {
	*testing.T
	*vocabularyReconciler

	clock  *clocktesting.FakePassiveClock
	writes int
	// due are the times at which requests come back.
	due map[reconcile.Request]time.Time
}

func newVocabularyHub(t *testing.T) *vocabularyHub {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, clusterv1.Install, clusterv1beta1.Install, clusterv1beta2.Install} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	h := &vocabularyHub{
		T: t, clock: clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)), due: map[reconcile.Request]time.Time{},
	}
	count := func(object client.Object) {
		if _, is := object.(*corev1.ConfigMap); is {
			h.writes++
		}
	}
	hub := interceptor.NewClient(fake.NewClientBuilder().WithScheme(scheme).Build(), interceptor.Funcs{
		Create: func(ctx context.Context, to client.WithWatch, object client.Object, options ...client.CreateOption) error {
			count(object)
			return to.Create(ctx, object, options...)
		},
		Update: func(ctx context.Context, to client.WithWatch, object client.Object, options ...client.UpdateOption) error {
			count(object)
			return to.Update(ctx, object, options...)
		},
	})
	h.vocabularyReconciler = newVocabularyReconciler(hub, h.clock, "hub")
	return h
}

func (h *vocabularyHub) create(object client.Object) {
	h.Helper()
	if err := h.client.Create(h.Context(), object); err != nil {
		h.Fatal(err)
	}
}

// run reconciles a request, and those that are due, as the queue does. An event of the ConfigMap enqueues the fleet if it differs.
func (h *vocabularyHub) run(requests ...reconcile.Request) {
	h.Helper()
	for request, at := range h.due {
		if !at.After(h.clock.Now()) {
			requests = append(requests, request)
			delete(h.due, request)
		}
	}
	for _, request := range requests {
		before := h.writes
		result, err := h.Reconcile(h.Context(), request)
		if err != nil {
			h.Fatal(err)
		}
		if result.RequeueAfter > 0 {
			h.due[request] = h.clock.Now().Add(result.RequeueAfter)
		}
		if configMap := h.data(); h.writes > before && h.differs(configMap) {
			h.due[h.fleet()] = h.clock.Now()
		}
	}
}

func (h *vocabularyHub) fleet() reconcile.Request { return reconcile.Request{NamespacedName: h.key} }

func (h *vocabularyHub) data() *corev1.ConfigMap {
	h.Helper()
	configMap := &corev1.ConfigMap{}
	if err := h.client.Get(h.Context(), h.key, configMap); err != nil {
		h.Fatal(err)
	}
	return configMap
}

// docs/spec/trust.md T25: Placements that come and go all the time have the ConfigMap written twice a minute, and clusters at once.
func TestVocabularyUnderChurn(t *testing.T) {
	const seconds = 600
	h := newVocabularyHub(t)
	h.run(h.fleet())
	for i := range seconds {
		h.clock.SetTime(h.clock.Now().Add(time.Second))
		h.create(&clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: fmt.Sprintf("p-%d", i)}})
		h.run(h.placements)
	}
	if most := 1 + int(seconds*time.Second/placementsPeriod); h.writes < most-1 || h.writes > most {
		t.Errorf("%d writes for %d Placements in as many seconds, want %d", h.writes, seconds, most)
	}

	h.create(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c", Labels: map[string]string{"region": "eu"}}})
	h.clock.SetTime(h.clock.Now().Add(time.Second))
	before := h.writes
	h.run(h.fleet())
	data := h.data().Data
	if h.writes != before+1 || data[labelsKey] != "region" || data[placementsKey] != fmt.Sprintf("= %d", seconds) {
		t.Errorf("%d writes after a cluster has joined, data %v", h.writes-before, data)
	}
}

// The hub replaces what others write into the ConfigMap. Its own write triggers no other one.
func TestOwnWritesOfTheVocabulary(t *testing.T) {
	h := newVocabularyHub(t)
	h.run(h.fleet())
	if own := h.data(); h.differs(own) {
		t.Errorf("an own write is looked at again: %v", own.Data)
	}
	other := h.data()
	other.Data["labels"] = "none"
	if !h.differs(other) {
		t.Error("the write of somebody else is not looked at")
	}
	other.Name = "other"
	if h.differs(other) {
		t.Error("another ConfigMap is looked at")
	}
}
