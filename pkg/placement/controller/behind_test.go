// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testingclock "k8s.io/utils/clock/testing"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/placement-hub/placement-hub/pkg/hub/assumecache"
	"github.com/placement-hub/placement-hub/pkg/hub/sharedinventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// lagging reads from a cache that stands still, and writes to the API server.
type lagging struct {
	client.Client

	cache client.Reader
}

func (l lagging) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	return l.cache.Get(ctx, key, object, options...)
}

func (l lagging) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return l.cache.List(ctx, list, options...)
}

// behind is a hub with a placement "p" in which nothing is heard of placements and decisions any more.
type behind struct {
	*reconciler

	t         *testing.T
	api       client.WithWatch
	feed      *eventHandlers
	clock     *testingclock.FakePassiveClock
	conflicts int
}

func newBehind(t *testing.T) *behind {
	t.Helper()

	b := &behind{t: t, clock: testingclock.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))}
	note := func(err error) error {
		if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
			b.conflicts++
		}
		return err
	}
	store := func() *fake.ClientBuilder {
		return newClientBuilder().
			WithObjects(&clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: "1", Generation: 1}}).
			WithStatusSubresource(&clusterv1beta1.Placement{}, &clusterv1beta1.PlacementDecision{})
	}

	served := servedAPIs{apis: []api.Adapter{api.V1beta1}}
	_, cached := newReconciler(t, served, store())
	b.reconciler, b.api = newReconciler(t, served, store().WithInterceptorFuncs(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			return note(c.Create(ctx, object, options...))
		},
		SubResourcePatch: func(
			ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption,
		) error {
			return note(c.SubResource(sub).Patch(ctx, object, patch, options...))
		},
	}))
	b.state = newState(sharedinventory.New(), served, b.clock)
	b.decider.engine = newEngine(b.state.inventory)
	b.client = lagging{Client: b.api, cache: cached}
	b.state.Synced.Store(true)
	b.feed = &eventHandlers{state: b.state, cache: storeCache{store: cached}, live: b.api}

	b.state.inventory.SetClusterSet(&clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "set"}})
	b.state.inventory.SetBinding(&clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "set"}})
	return b
}

// join adds a cluster.
func (b *behind) join(n int) {
	b.state.inventory.SetCluster(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
		Name: fmt.Sprintf("c%03d", n), Labels: map[string]string{clusterv1beta2.ClusterSetLabel: "set"},
	}})
}

// evaluate evaluates until there is nothing to try again, and demands that so many clusters are in the decisions then.
func (b *behind) evaluate(want int) {
	b.t.Helper()
	for range 3 {
		result, err := b.Reconcile(b.t.Context(), placementKey("p"))
		if err != nil {
			b.t.Fatal(err)
		}
		if result.RequeueAfter == 0 {
			break
		}
	}

	pages, decided := &clusterv1beta1.PlacementDecisionList{}, map[string]bool{}
	if err := b.api.List(b.t.Context(), pages); err != nil {
		b.t.Fatal(err)
	}
	for _, page := range pages.Items {
		for _, decision := range page.Status.Decisions {
			decided[decision.ClusterName] = true
		}
	}

	if len(decided) != want {
		b.t.Errorf("%d clusters are decided, want %d", len(decided), want)
	}
}

// page changes page 1 as somebody else would.
func (b *behind) page(change func(*clusterv1beta1.PlacementDecision)) *clusterv1beta1.PlacementDecision {
	b.t.Helper()
	page := &clusterv1beta1.PlacementDecision{}
	if err := b.api.Get(b.t.Context(), client.ObjectKey{Namespace: "ns", Name: "p-decision-1"}, page); err != nil {
		b.t.Fatal(err)
	}
	change(page)
	if err := b.api.Update(b.t.Context(), page); err != nil {
		b.t.Fatal(err)
	}
	return page
}

// Nothing is heard of decisions for minutes. Own writes are remembered as long, so that changes keep being written.
func TestDecisionsAreWrittenWhileNothingIsHeardOfThem(t *testing.T) {
	b := newBehind(t)
	for n := range 5 {
		b.join(n)
		b.evaluate(n + 1)
		b.clock.SetTime(b.clock.Now().Add(assumecache.Expiry))
		b.feed.source().Sweep(t.Context())
	}
	if b.conflicts != 0 {
		t.Errorf("%d requests were refused, want none", b.conflicts)
	}
}

// What somebody else does meanwhile is refused once, and known from then on.
func TestWhatIsRefusedIsReadFromTheAPIServer(t *testing.T) {
	label := func(page *clusterv1beta1.PlacementDecision) { page.Labels["somebody"] = "else" }
	for _, tc := range []struct {
		reason string
		happen func(*behind)
	}{
		{"a page is changed", func(b *behind) { b.page(label) }},
		{"a page is deleted", func(b *behind) {
			if err := b.api.Delete(b.t.Context(), b.page(label)); err != nil {
				b.t.Fatal(err)
			}
		}},
		{"a page is made again", func(b *behind) {
			page := b.page(label)
			if err := b.api.Delete(b.t.Context(), page); err != nil {
				b.t.Fatal(err)
			}
			page.UID, page.ResourceVersion, page.OwnerReferences = "another", "", nil
			if err := b.api.Create(b.t.Context(), page); err != nil {
				b.t.Fatal(err)
			}
		}},
		{"the placement is annotated", func(b *behind) {
			placement := &clusterv1beta1.Placement{}
			if err := b.api.Get(b.t.Context(), client.ObjectKey{Namespace: "ns", Name: "p"}, placement); err != nil {
				b.t.Fatal(err)
			}
			placement.Annotations = map[string]string{"somebody": "else"}
			if err := b.api.Update(b.t.Context(), placement); err != nil {
				b.t.Fatal(err)
			}
		}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			b := newBehind(t)
			b.join(0)
			b.evaluate(1)
			tc.happen(b)
			for n := range 4 {
				b.join(n + 1)
				b.evaluate(n + 2)
			}

			if b.conflicts > 1 {
				t.Errorf("%d requests were refused, want one", b.conflicts)
			}
		})
	}
}

// A sweep forgets what the API server refutes, and keeps what it cannot ask about.
func TestASweepReadsFromTheAPIServer(t *testing.T) {
	b := newBehind(t)
	b.join(0)
	b.evaluate(1)

	pages := b.state.pages[api.V1beta1.Codec()]
	believed := func(want ...string) {
		t.Helper()
		var names []string
		for _, page := range pages.List(placementKey("p"), nil) {
			names = append(names, page.Name)
		}
		if !slices.Equal(names, want) {
			t.Errorf("%v are believed in, want %v", names, want)
		}
	}
	overdue := func() {
		b.clock.SetTime(b.clock.Now().Add(assumecache.Expiry))
		b.feed.source().Sweep(t.Context())
	}

	overdue()
	believed("p-decision-1")

	b.page(func(page *clusterv1beta1.PlacementDecision) { page.Labels["somebody"] = "else" })
	b.clock.SetTime(b.clock.Now().Add(assumecache.Expiry))
	asked := b.feed.live
	b.feed.live = silent{asked}
	b.feed.source().Sweep(t.Context())
	believed("p-decision-1")
	b.feed.live = asked
	overdue()
	believed()
}

// silent answers nothing.
type silent struct{ client.Reader }

func (silent) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return apierrors.NewServiceUnavailable("no answer")
}
