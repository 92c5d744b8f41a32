// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/placement-hub/placement-hub/pkg/hub/sharedinventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

// budgeted is a hub with one placement of 250 clusters, on three pages, of which no more than 30 % may leave.
type budgeted struct {
	*reconciler

	t      *testing.T
	api    client.WithWatch
	clock  *clocktesting.FakePassiveClock
	events *events.FakeRecorder
	// refused says which writes fail; nil is none.
	refused func(verb string, object client.Object) bool
}

func newBudgeted(t *testing.T) *budgeted {
	t.Helper()

	g := &budgeted{t: t, clock: clocktesting.NewFakePassiveClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))}
	fails := func(verb string, object client.Object) error {
		if g.refused != nil && g.refused(verb, object) {
			return errors.New("refused")
		}
		return nil
	}
	store := newClientBuilder().
		WithStatusSubresource(&clusterv1beta1.Placement{}, &clusterv1beta1.PlacementDecision{}).
		WithObjects(&clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: "1", Generation: 1}}).
		WithInterceptorFuncs(interceptor.Funcs{
			SubResourcePatch: func(
				ctx context.Context, c client.Client, within string, object client.Object, patch client.Patch, o ...client.SubResourcePatchOption,
			) error {
				if err := fails("patch", object); err != nil {
					return err
				}
				return c.SubResource(within).Patch(ctx, object, patch, o...)
			},
			Patch: func(
				ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption,
			) error {
				if err := fails("mend", object); err != nil {
					return err
				}
				return c.Patch(ctx, object, patch, options...)
			},
			Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
				if err := fails("delete", object); err != nil {
					return err
				}
				return c.Delete(ctx, object, options...)
			},
		})

	g.reconciler, g.api = newReconciler(t, servedAPIs{apis: []api.Adapter{api.V1beta1}}, store)
	g.restart()
	g.reconcile()
	return g
}

// restart forgets what a process remembers.
func (b *budgeted) restart() {
	share := 30
	served := servedAPIs{apis: []api.Adapter{api.V1beta1}, limit: removalbudget.Limit{Percent: &share}}
	shared := newState(sharedinventory.New(), served, b.clock)
	shared.Synced.Store(true)
	b.events = events.NewFakeRecorder(100)
	b.state, b.decider.engine = shared, newEngine(shared.inventory)
	b.applier.reporter.recorder = b.events
	b.state.inventory.SetClusterSet(&clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "set"}})
	b.state.inventory.SetBinding(&clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "set"}})

	for n := range 250 {
		b.state.inventory.SetCluster(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("c%03d", n), Labels: map[string]string{clusterv1beta2.ClusterSetLabel: "set"},
		}})
	}
}

// remove deletes clusters, from the first number to the one before last.
func (b *budgeted) remove(first, last int) {
	for n := first; n < last; n++ {
		b.state.inventory.DeleteCluster(fmt.Sprintf("c%03d", n))
	}
}

// reconcile evaluates until there is nothing left to do at once, and returns when to look again.
func (b *budgeted) reconcile() time.Duration {
	b.t.Helper()
	for range 5 {
		result, err := b.Reconcile(b.t.Context(), placementKey("p"))
		if err != nil {
			b.t.Fatal(err)
		}
		if result.RequeueAfter != time.Nanosecond {
			return result.RequeueAfter
		}
	}

	b.t.Fatal("there is always something left to do")
	return 0
}

// fail evaluates once, and something goes wrong.
func (b *budgeted) fail() {
	b.t.Helper()
	if _, err := b.Reconcile(b.t.Context(), placementKey("p")); err == nil {
		b.t.Fatal("nothing went wrong")
	}
}

// edit changes the placement; a changed spec has another generation.
func (b *budgeted) edit(change func(*clusterv1beta1.Placement)) {
	b.t.Helper()
	placement := b.placement()
	spec := placement.Spec.DeepCopy()
	change(placement)
	if !cmp.Equal(*spec, placement.Spec) {
		placement.Generation++
	}
	if err := b.api.Update(b.t.Context(), placement); err != nil {
		b.t.Fatal(err)
	}
}

func (b *budgeted) placement() *clusterv1beta1.Placement {
	b.t.Helper()
	placement := &clusterv1beta1.Placement{}
	if err := b.api.Get(b.t.Context(), placementKey("p").NamespacedName, placement); err != nil {
		b.t.Fatal(err)
	}
	return placement
}

// expect demands how many clusters are decided, and what the condition says.
func (b *budgeted) expect(clusters int, status metav1.ConditionStatus, reason string) {
	b.t.Helper()
	pages := &clusterv1beta1.PlacementDecisionList{}
	if err := b.api.List(b.t.Context(), pages); err != nil {
		b.t.Fatal(err)
	}
	decided := 0
	for _, page := range pages.Items {
		decided += len(page.Status.Decisions)
	}

	if decided != clusters {
		b.t.Errorf("%d clusters are decided, want %d", decided, clusters)
	}
	placement := b.placement()

	condition := meta.FindStatusCondition(placement.Status.Conditions, removalbudget.Condition)
	if condition == nil || condition.Status != status || condition.Reason != reason || condition.ObservedGeneration != placement.Generation {
		b.t.Errorf("the condition is %+v, want %s and %s", condition, status, reason)
	}
}

// warnings are the texts of the Warning events since they were last asked for.
func (b *budgeted) warnings() []string {
	warnings := []string{}
	for len(b.events.Events) > 0 {
		if text, is := strings.CutPrefix(<-b.events.Events, "Warning "); is {
			warnings = append(warnings, text)
		}
	}
	return warnings
}

func (b *budgeted) expectWarnings(want ...string) {
	b.t.Helper()
	if diff := cmp.Diff(append([]string{}, want...), b.warnings()); diff != "" {
		b.t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestRemovalIsBlockedAndReleased(t *testing.T) {
	for reason, release := range map[string]func(*budgeted){
		"by annotation": func(g *budgeted) {
			g.edit(func(p *clusterv1beta1.Placement) {
				p.Annotations = map[string]string{removalbudget.ReleaseAnnotation: strconv.FormatInt(p.Generation, 10)}
			})
			g.reconcile()
			g.expect(49, metav1.ConditionFalse, removalbudget.ReasonReleased)
			g.edit(func(p *clusterv1beta1.Placement) { p.Annotations = nil })
		},
		"by a greater share of its own": func(g *budgeted) {
			g.edit(func(p *clusterv1beta1.Placement) {
				p.Annotations = map[string]string{removalbudget.PercentAnnotation: "90"}
			})
		},
	} {
		t.Run(reason, func(t *testing.T) {
			g := newBudgeted(t)
			g.expect(250, metav1.ConditionFalse, removalbudget.ReasonNothingHeld)

			g.remove(0, 200)
			if again := g.reconcile(); again != 0 {
				t.Errorf("what is held is looked at again after %v, want not before something happens", again)
			}
			g.expect(250, metav1.ConditionTrue, removalbudget.ReasonTooManyRemoved)
			g.expectWarnings("RemovalHeld The decisions would lose 200 of 250 clusters: c000, c001, c002 and 197 more; they are kept: " +
				"see the condition RemovalHeld")
			if groups := g.placement().Status; groups.NumberOfSelectedClusters != 250 || groups.DecisionGroups[0].ClustersCount != 250 {
				t.Errorf("the status tells of %d clusters, in groups %v", groups.NumberOfSelectedClusters, groups.DecisionGroups)
			}

			g.restart()
			g.remove(0, 201)
			g.reconcile()
			g.expect(250, metav1.ConditionTrue, removalbudget.ReasonTooManyRemoved)
			g.expectWarnings() // It has been held since before.

			release(g)
			g.reconcile()
			g.expect(49, metav1.ConditionFalse, removalbudget.ReasonNothingHeld)
			if many := "ManyClustersRemoved The decisions lost 201 of 250 clusters: c000, c001, c002 and 198 more"; reason != "by annotation" {
				g.expectWarnings(many)
			}
			g.remove(201, 230)
			g.reconcile()
			g.expect(49, metav1.ConditionTrue, removalbudget.ReasonTooManyRemoved)
		})
	}
}

// docs/spec/differences.md B16: a change of the spec releases nothing that is held, also over a restart; the annotation does afterwards.
func TestB16AChangedSpecReleasesNothing(t *testing.T) {
	for _, restarted := range []bool{false, true} {
		g := newBudgeted(t)
		g.remove(0, 200)
		g.reconcile()
		g.edit(func(p *clusterv1beta1.Placement) { p.Spec.ClusterSets = []string{"set"} })
		if restarted {
			g.restart()
			g.remove(0, 200)
		}
		g.reconcile()
		g.expect(250, metav1.ConditionTrue, removalbudget.ReasonTooManyRemoved)
		g.edit(func(p *clusterv1beta1.Placement) { p.Spec.NumberOfClusters = new(int32(20)) })
		g.reconcile()
		g.expect(220, metav1.ConditionTrue, removalbudget.ReasonTooManyRemoved)
		g.edit(func(p *clusterv1beta1.Placement) {
			p.Annotations = map[string]string{removalbudget.ReleaseAnnotation: strconv.FormatInt(p.Generation, 10)}
		})
		g.reconcile()
		g.expect(20, metav1.ConditionFalse, removalbudget.ReasonReleased)
	}
}

// The event that tells of a removal which begins to be held is not lost with a page that cannot be mended at the time.
func TestABlockedRemovalIsReportedAlsoWhenAWriteFails(t *testing.T) {
	g := newBudgeted(t)
	page := &clusterv1beta1.PlacementDecision{}
	if err := g.api.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "p-decision-1"}, page); err != nil {
		t.Fatal(err)
	}
	delete(page.Labels, clusterv1beta1.DecisionGroupIndexLabel)
	if err := g.api.Update(t.Context(), page); err != nil {
		t.Fatal(err)
	}

	g.remove(0, 200)
	g.refused = func(verb string, _ client.Object) bool { return verb == "mend" }
	g.fail()
	g.expect(250, metav1.ConditionTrue, removalbudget.ReasonTooManyRemoved)
	g.expectWarnings("RemovalHeld The decisions would lose 200 of 250 clusters: c000, c001, c002 and 197 more; they are kept: " +
		"see the condition RemovalHeld")
	g.refused = nil
	g.reconcile()
	g.expect(250, metav1.ConditionTrue, removalbudget.ReasonTooManyRemoved)
	g.expectWarnings()
}

// What leaves one by one is caught within ten minutes, and goes on when they are over.
func TestBlockedRemovalContinuesByItself(t *testing.T) {
	g := newBudgeted(t)
	g.remove(0, 70)
	g.reconcile()
	g.expect(180, metav1.ConditionFalse, removalbudget.ReasonNothingHeld)

	g.clock.SetTime(g.clock.Now().Add(4 * time.Minute))
	g.remove(70, 80)
	again := g.reconcile()
	g.expect(180, metav1.ConditionTrue, removalbudget.ReasonTooManyRemoved)
	if again != 6*time.Minute {
		t.Errorf("to be looked at again after %v, want 6 minutes", again)
	}
	g.clock.SetTime(g.clock.Now().Add(again))
	g.reconcile()
	g.expect(170, metav1.ConditionFalse, removalbudget.ReasonNothingHeld)
}

// A changed spec is carried out to its end, also when a write fails on the way: whatever was written already, the rest is not held.
func TestChangedSpecThatFailsHalfwayIsNotBlocked(t *testing.T) {
	for reason, refused := range map[string]func(string, client.Object) bool{
		"a page":        func(verb string, page client.Object) bool { return verb == "patch" && page.GetName() == "p-decision-1" },
		"a status":      func(_ string, placement client.Object) bool { return placement.GetName() == "p" },
		"a surplus one": func(verb string, _ client.Object) bool { return verb == "delete" },
	} {
		for _, restarted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, restarted %v", reason, restarted), func(t *testing.T) {
				g := newBudgeted(t)
				g.edit(func(p *clusterv1beta1.Placement) { p.Spec.NumberOfClusters = new(int32(20)) })
				g.refused = refused
				g.fail()
				if restarted {
					g.restart()
				}
				g.fail()

				g.refused = nil
				g.reconcile()
				g.expect(20, metav1.ConditionFalse, removalbudget.ReasonNothingHeld)

				g.remove(0, 240)
				g.reconcile()
				g.expect(20, metav1.ConditionTrue, removalbudget.ReasonTooManyRemoved)
			})
		}
	}
}

// A removal below the share that fails half-way is no way around the budget.
func TestARemovalThatFailsHalfWayCountsOnce(t *testing.T) {
	g := newBudgeted(t)
	g.remove(60, 130)
	g.refused = func(_ string, page client.Object) bool { return page.GetName() == "p-decision-2" }
	g.fail()
	g.refused = nil
	g.remove(0, 10)
	g.reconcile()

	condition := meta.FindStatusCondition(g.placement().Status.Conditions, removalbudget.Condition)
	if !strings.Contains(condition.Message, "would lose 80 of 250 clusters") {
		t.Errorf("got %q", condition.Message)
	}
}

// A Warning tells of a step that takes more than half of the clusters, whatever the cause, and by which pages that comes about.
func TestAWarningOfLosses(t *testing.T) {
	for _, tc := range []struct {
		reason string
		spec   func(*clusterv1beta1.PlacementSpec)
		want   []string
	}{
		{reason: "half of them", spec: func(s *clusterv1beta1.PlacementSpec) { s.NumberOfClusters = new(int32(125)) }},
		{
			reason: "more than half, on pages that are deleted",
			spec:   func(s *clusterv1beta1.PlacementSpec) { s.NumberOfClusters = new(int32(100)) },
			want:   []string{"ManyClustersRemoved The decisions lost 150 of 250 clusters: c100, c101, c102 and 147 more"},
		},
		{
			reason: "clusters that change their group are not lost",
			spec: func(s *clusterv1beta1.PlacementSpec) {
				s.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup.IntVal = 40
			},
		},
		{
			reason: "all",
			spec:   func(s *clusterv1beta1.PlacementSpec) { s.ClusterSets = []string{"other"} },
			want:   []string{"ManyClustersRemoved The decisions lost 250 of 250 clusters: c000, c001, c002 and 247 more"},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			g := newBudgeted(t)
			g.edit(func(p *clusterv1beta1.Placement) { tc.spec(&p.Spec) })
			g.reconcile()
			g.expectWarnings(tc.want...)
		})
	}
}
