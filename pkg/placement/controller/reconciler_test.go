// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/hub/freshness"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/hub/queue/seats"
	"github.com/placement-hub/placement-hub/pkg/hub/sharedinventory"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/test/fakeapi"
)

// nameOf is the value of the field metadata.name, which every API server can select by.
func nameOf(object client.Object) []string { return []string{object.GetName()} }

// newClientBuilder returns a builder of a fake client that knows the types of a hub with placements.
func newClientBuilder() *fake.ClientBuilder {
	return fakeapi.NewClientBuilder(corev1.AddToScheme, clusterv1.Install, clusterv1alpha1.Install, clusterv1beta1.Install, clusterv1beta2.Install,
		placementv1alpha1.Install, clusterinventory.AddToScheme)
}

// newReconciler works on a store, and has the initial lists; nothing tells it what changes there.
func newReconciler(tb testing.TB, o servedAPIs, store *fake.ClientBuilder) (*reconciler, client.WithWatch) {
	tb.Helper()
	for _, codec := range o.forms() {
		store = store.WithIndex(codec.Empty(), placementField, func(object client.Object) []string {
			return placement.PlacementsOf(codec, codec.Read(object))
		}).WithIndex(codec.Empty(), metav1.ObjectNameField, nameOf)
	}
	for _, adapter := range o.apis {
		store = store.WithIndex(adapter.Empty(), metav1.ObjectNameField, nameOf)
	}

	hub, shared := store.Build(), newState(sharedinventory.New(), o, clock.RealClock{})
	known, tracer := &reader{state: shared, client: hub}, newTracer(nil)
	proofs := newRemovals(freshness.New(placementsOnly{store: hub}, shared.Shared.Observed, nil))
	r := &reconciler{
		reader:  known,
		decider: &decider{reader: known, engine: newEngine(shared.inventory), removals: proofs, seats: seats.New(2), tracer: tracer},
		applier: &applier{
			reader: known, live: hub, writer: placement.Writer{Client: hub, Timeout: time.Minute},
			reporter: recorders{recorder: &events.FakeRecorder{}}, tracer: tracer,
		},
		tracer:    tracer,
		conflicts: queue.NewConflictBackoff[inventory.Key](),
		timeout:   time.Minute,
	}
	r.state.Synced.Store(true)
	return r, hub
}

// docs/spec/differences.md A5: where the decisions are written a second time and nobody answers, those that count are there, and the
// placement says so.
func TestOtherFormsHoldUpNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: "1", Generation: 1}}
		both := servedAPIs{apis: []api.Adapter{api.V1beta1}, profiles: true}
		builder := newClientBuilder().WithObjects(placement).
			WithStatusSubresource(&clusterv1beta1.Placement{}, &clusterv1beta1.PlacementDecision{}).
			WithInterceptorFuncs(interceptor.Funcs{
				Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
					if _, other := object.(*clusterinventory.PlacementDecision); other {
						<-ctx.Done()
						return fmt.Errorf("no answer: %w", ctx.Err())
					}
					return c.Create(ctx, object, options...)
				},
			})

		r, hub := newReconciler(t, both, builder)
		r.applier.reporter.recorder = events.NewFakeRecorder(10)

		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if _, err := r.Reconcile(ctx, api.V1beta1.Read(placement).Key()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want that the time is over", err)
		}
		if err := hub.Get(t.Context(), client.ObjectKeyFromObject(placement), placement); err != nil {
			t.Fatal(err)
		}

		if len(placement.Status.Conditions) < 2 || len(placement.Status.DecisionGroups) != 1 {
			t.Errorf("the status is %+v, want conditions and a group", placement.Status)
		}
	})
}

// A placement that goes while it is written for leaves no retries behind: one that is made again under its name does not wait for them.
func TestAPlacementThatIsGoneHasNoRetries(t *testing.T) {
	r, key := settled(t), placementKey("gone")
	outdated := apierrors.NewNotFound(schema.GroupResource{Resource: "placements"}, key.Name)
	var waits []time.Duration
	for range 2 {
		result, err := r.conflicts.Result(t.Context(), key, outdated)
		if err != nil {
			t.Fatal(err)
		}
		waits = append(waits, result.RequeueAfter)
		if _, err := r.Reconcile(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}

	if waits[0] != waits[1] {
		t.Errorf("the retry after %v is followed by one after %v", waits[0], waits[1])
	}
}
