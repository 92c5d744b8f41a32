// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// balanced is a hub of 151 clusters and four placements that take all of them. What is written comes back as events when a test says so.
type balanced struct {
	*reconciler

	t    *testing.T
	api  client.WithWatch
	feed *eventHandlers
	// refused is the answer to requests that delete a page.
	refused error
	// told are the pages that events have shown.
	told map[string]*clusterv1beta1.PlacementDecision
}

var balancedNames = []string{"p1", "p2", "p3", "p4"}

func newBalanced(t *testing.T) *balanced {
	t.Helper()

	b := &balanced{t: t, told: map[string]*clusterv1beta1.PlacementDecision{}}
	store := newClientBuilder().
		WithStatusSubresource(&clusterv1beta1.Placement{}, &clusterv1beta1.PlacementDecision{}).
		WithInterceptorFuncs(interceptor.Funcs{
			Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
				if b.refused != nil {
					return b.refused
				}
				return c.Delete(ctx, object, options...)
			},
		})

	for _, name := range balancedNames {
		store = store.WithObjects(&clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, Generation: 1}})
	}
	b.reconciler, b.api = newReconciler(t, servedAPIs{apis: []api.Adapter{api.V1beta1}}, store)
	b.feed = &eventHandlers{state: b.state, live: b.api}
	b.state.inventory.SetClusterSet(&clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "set"}})
	b.state.inventory.SetBinding(&clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "set"}})
	for n := range 151 {
		b.join(n)
	}

	for _, name := range balancedNames {
		b.evaluate(name)
	}
	b.tell()
	return b
}

func (b *balanced) join(n int) {
	b.state.inventory.SetCluster(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
		Name: fmt.Sprintf("c%03d", n), Labels: map[string]string{clusterv1beta2.ClusterSetLabel: "set"},
	}})
}

func (b *balanced) evaluate(name string) {
	b.t.Helper()
	if _, err := b.Reconcile(b.t.Context(), placementKey(name)); err != nil {
		b.t.Error(err)
	}
}

// want has every placement want so many clusters.
func (b *balanced) want(clusters int32) {
	b.t.Helper()
	for _, name := range balancedNames {
		placement := &clusterv1beta1.Placement{}
		if err := b.api.Get(b.t.Context(), placementKey(name).NamespacedName, placement); err != nil {
			b.t.Fatal(err)
		}
		placement.Generation++
		placement.Spec.NumberOfClusters = ptr.To(clusters)
		if err := b.api.Update(b.t.Context(), placement); err != nil {
			b.t.Fatal(err)
		}
		b.state.statuses.Forget(placementKey(name)) // The cache has caught up.
	}
}

// tell has the events of all pages handled that have changed or gone.
func (b *balanced) tell() {
	b.t.Helper()
	pages, handler := &clusterv1beta1.PlacementDecisionList{}, b.feed.decisions(api.V1beta1.Codec())
	if err := b.api.List(b.t.Context(), pages); err != nil {
		b.t.Fatal(err)
	}
	gone := maps.Clone(b.told)

	for i := range pages.Items {
		page := &pages.Items[i]
		delete(gone, page.Name)
		if b.told[page.Name] == nil || b.told[page.Name].ResourceVersion != page.ResourceVersion {
			b.told[page.Name] = page
			handler.OnAdd(page, false)
		}
	}

	for name, page := range gone {
		delete(b.told, name)
		handler.OnDelete(page)
	}
}

// decided are the clusters of each placement.
func (b *balanced) decided() map[string][]string {
	b.t.Helper()
	pages, decided := &clusterv1beta1.PlacementDecisionList{}, map[string][]string{}
	if err := b.api.List(b.t.Context(), pages); err != nil {
		b.t.Fatal(err)
	}

	for _, page := range pages.Items {
		name := page.Labels[clusterv1beta1.PlacementLabel]
		for _, decision := range page.Status.Decisions {
			decided[name] = append(decided[name], decision.ClusterName)
		}
		slices.Sort(decided[name])
	}
	return decided
}

// load is in how many decisions each cluster stands.
func load(decided map[string][]string) map[string]int {
	counts := map[string]int{}
	for _, clusters := range decided {
		for _, cluster := range clusters {
			counts[cluster]++
		}
	}
	return counts
}

// decide has a placement decide, and returns what it has to write. Nothing is written.
func (b *balanced) decide(name string) *cycle {
	b.t.Helper()
	key := placementKey(name)

	placement, err := b.placement(b.t.Context(), key)
	if err != nil {
		b.t.Error(err)
		return nil
	}
	b.state.Pause(key)
	decided, err := b.decider.plan(b.t.Context(), placement)
	if err != nil {
		b.t.Error(err)
	}
	return decided
}

// together has all placements decide at once.
func (b *balanced) together() []*cycle {
	b.t.Helper()
	var deciding sync.WaitGroup
	passes := make([]*cycle, len(balancedNames))
	for i, name := range balancedNames {
		deciding.Go(func() { passes[i] = b.decide(name) })
	}
	deciding.Wait()
	return passes
}

// inTurn has one placement decide after the other.
func (b *balanced) inTurn() []*cycle {
	b.t.Helper()
	passes := make([]*cycle, 0, len(balancedNames))
	for _, name := range balancedNames {
		passes = append(passes, b.decide(name))
	}
	return passes
}

// write writes what was decided.
func (b *balanced) write(passes []*cycle) {
	b.t.Helper()
	for _, decided := range passes {
		if err := b.applier.applyTraced(b.t.Context(), decided); err != nil {
			b.t.Error(err)
		}
		b.state.Resume(decided.placement.Key())
	}
}

func spreadOver(decided map[string][]string) (least, most int) {
	counts := slices.Collect(maps.Values(load(decided)))
	if len(counts) < 151 {
		return 0, slices.Max(counts)
	}
	return slices.Min(counts), slices.Max(counts)
}

// docs/spec/differences.md B9: placements that decide at once do not decide on the same counts, and so nothing has to move later.
func TestPlacementsThatDecideTogetherSpreadOut(t *testing.T) {
	b := newBalanced(t)
	b.want(100)
	b.write(b.together())
	b.tell()
	decided := b.decided()
	if least, most := spreadOver(decided); least < 2 || most > 3 {
		t.Errorf("clusters stand in %d to %d decisions, want 2 to 3: 400 on 151 clusters", least, most)
	}

	for n := range 5 {
		b.join(151 + n) // It changes nothing but that all are evaluated.
		b.state.inventory.DeleteCluster(fmt.Sprintf("c%03d", 151+n))
		b.write(b.together())
		b.tell()
	}
	if diff := cmp.Diff(decided, b.decided()); diff != "" {
		t.Errorf("decisions moved (-before +after):\n%s", diff)
	}
}

// What is assumed of a placement counts until the events of its pages are handled, and what could not be written does not count any more.
func TestAnAssumedResultEndsWithItsEventsOrItsFailure(t *testing.T) {
	other := inventory.NewPlacementKey(inventory.V1beta1, "ns", "other")
	total := func(b *balanced) (sum int) {
		for _, count := range b.state.inventory.Snapshot().DecisionCounts(other) {
			sum += count
		}
		return sum
	}
	expect := func(b *balanced, reason string, counted int, assumed bool) {
		b.t.Helper()
		if got := total(b); got != counted {
			b.t.Errorf("%s: %d decisions are counted, want %d", reason, got, counted)
		}
		if got := b.state.inventory.Assumed(placementKey("p1")); got != assumed {
			b.t.Errorf("%s: the result of p1 is assumed: %v, want %v", reason, got, assumed)
		}
	}

	b := newBalanced(t)
	expect(b, "before", 4*151, false)
	b.want(100)
	passes := b.inTurn()
	expect(b, "decided", 4*100, true)
	b.write(passes)
	expect(b, "written", 4*100, true)
	b.tell()
	expect(b, "told", 4*100, false)

	b.want(151)
	b.write(b.inTurn())
	b.tell()
	expect(b, "all again", 4*151, false)

	b.want(100)
	for _, name := range []string{"p2", "p3", "p4"} { // The last one takes others than those of its first page.
		b.evaluate(name)
	}
	b.tell()
	b.refused = errors.New("refused")
	if _, err := b.Reconcile(t.Context(), placementKey("p1")); !errors.Is(err, b.refused) {
		t.Errorf("got %v, want that it is refused", err)
	}

	standing := 0
	for _, clusters := range b.decided() {
		standing += len(clusters)
	}
	if own := b.decided()["p1"]; len(own) == 100 || slices.Equal(own, slices.Compact(slices.Clone(own))) {
		t.Errorf("%d decisions of p1 stand, want that a part was written", len(own))
	}
	expect(b, "failed half way", standing, true)
	b.tell()
	expect(b, "told of the half", standing, false)

	b.refused = nil
	b.evaluate("p1")
	expect(b, "tried again", 4*100, true)
	b.feed.state.forget(placementKey("p1"))
	expect(b, "p1 is forgotten", standing, false)
}
