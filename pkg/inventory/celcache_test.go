// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// TestUpdateInvalidatesExpensiveVerdicts checks that an event re-evaluates a selector only if its verdict is cheap. An expensive verdict is
// invalidated, and the placement evaluates it.
func TestUpdateInvalidatesExpensiveVerdicts(t *testing.T) {
	withCEL, errs := selector.NewCompiler().Compile(selector.Paths{CEL: field.NewPath("cel")}, selector.Spec{
		CEL: []string{`managedCluster.metadata.labels["zone"] != "c"`},
	})
	if len(errs) > 0 {
		t.Fatal(errs)
	}

	for _, tc := range []struct {
		reason         string
		cost           uint32
		flipped, known bool
	}{
		{"cheap: evaluated, and the verdict is the same", maxInlineCost, false, true},
		{"expensive: invalidated, so the verdict may differ", maxInlineCost + 1, true, false},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			i := New(selector.NewCompiler())
			i.SetCluster(managed("c1", "a", "region", "eu", "zone", "a"))
			key := Key{}
			i.Subscribe(key, Dependencies{Predicates: []*selector.Selector{withCEL}})
			i.SnapshotFor(key)
			m := i.views.byIdentity[withCEL.Identity()].celCache
			id := i.clusters.live["c1"]
			m.set(id, 1, cachedVerdict{cost: tc.cost, valid: true, matched: true}, verdictDetails{})

			i.mu.Lock()
			before := i.clusterInfo("c1")
			after, verdicts := i.prepare("c1", func() *clusterinfo.ClusterInfo {
				return before.Update(managed("c1", "a", "region", "eu", "zone", "b"))
			})
			changes := []clusterinfo.Property{{Kind: clusterinfo.Label, Name: "zone"}}
			if _, is := i.views.update(id, before, after, changes, 2, verdicts)[i.views.byIdentity[withCEL.Identity()]]; is != tc.flipped {
				t.Errorf("flipped = %v, want %v", is, tc.flipped)
			}
			i.mu.Unlock()

			if is := m.verdicts.get(id); is.valid != tc.known || is.from != 2 {
				t.Errorf("known: %v from %d on, want %v from 2 on", is.valid, is.from, tc.known)
			}
		})
	}
}

// TestEventsDoNotWaitForExpressions checks that events and snapshots go on while an expression is evaluated (docs/spec/differences.md C2).
func TestEventsDoNotWaitForExpressions(t *testing.T) {
	endless, errs := selector.NewCompiler().Compile(selector.Paths{CEL: field.NewPath("cel")}, selector.Spec{
		CEL: []string{`managedCluster.metadata.annotations.all(a, managedCluster.metadata.labels["region"] == "eu")`},
	})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	i := New(selector.NewCompiler())
	i.SetCluster(managed("c1", "a", "region", "eu"))

	key := Key{}
	i.Subscribe(key, Dependencies{Predicates: []*selector.Selector{endless}})
	snapshot := i.SnapshotFor(key)

	m := i.views.byIdentity[endless.Identity()].celCache
	started, release := make(chan struct{}), make(chan struct{})

	// The Done channel of an evaluation is read while the expression is evaluated, so the evaluation is under way here.
	m.evaluating = func() {
		close(started)
		<-release
	}

	finished := make(chan struct{})
	go func() {
		defer close(finished)
		snapshot.MatchCEL(endless, snapshot.alive.Clone(), &selector.EvalContext{}, func(*clusterinfo.ClusterInfo, selector.Verdict) {})
	}()

	<-started
	i.SetCluster(managed("c2", "a", "region", "us"))
	i.SetCluster(managed("c1", "a", "region", "us"))
	i.Snapshot()
	close(release)
	<-finished
	if known := m.verdicts.get(i.clusters.live["c1"]); known.valid {
		t.Error("the verdict of an evaluation that a change overtook is cached")
	}
}

// TestACancelledEvaluationReusesItsVerdicts checks that an evaluation whose time is over leaves the verdicts of the clusters that it has finished,
// and none of the cluster at which it ended: the next evaluation evaluates that cluster and those after it alone (docs/spec/trust.md R5).
func TestACancelledEvaluationReusesItsVerdicts(t *testing.T) {
	withCEL, errs := selector.NewCompiler().Compile(selector.Paths{CEL: field.NewPath("cel")}, selector.Spec{
		CEL: []string{`managedCluster.metadata.labels["zone"] != "c"`},
	})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	i := New(selector.NewCompiler())
	for _, name := range []string{"c1", "c2", "c3"} {
		i.SetCluster(managed(name, "a", "zone", name))
	}
	i.Subscribe(Key{}, Dependencies{Predicates: []*selector.Selector{withCEL}})
	snapshot := i.SnapshotFor(Key{})
	m := i.views.byIdentity[withCEL.Identity()].celCache
	m.verdicts, m.details = celVerdicts{}, map[uint]verdictDetails{} // None is known.
	evaluated := 0
	evaluate := func(evaluation *selector.EvalContext) (matched uint) {
		evaluated = 0
		return snapshot.MatchCEL(withCEL, snapshot.alive.Clone(), evaluation, func(*clusterinfo.ClusterInfo, selector.Verdict) {}).Count()
	}

	over := make(chan struct{})
	m.evaluating = func() {
		evaluated++
		if evaluated == 2 {
			close(over)
		}
	}
	cancelled := &selector.EvalContext{Done: over}
	evaluate(cancelled)
	if !cancelled.Cancelled() {
		t.Fatal("the evaluation has not ended")
	}
	m.evaluating = func() { evaluated++ }
	if matched := evaluate(&selector.EvalContext{}); evaluated != 2 || matched != 3 {
		t.Errorf("the next evaluation evaluates %d clusters and matches %d, want 2 and 3", evaluated, matched)
	}
	evaluate(&selector.EvalContext{})
	if evaluated != 0 {
		t.Errorf("one more evaluation evaluates %d clusters, want none", evaluated)
	}
}

// TestVerdictsAreThoseOfTheSnapshot checks which clusters a snapshot matches after an event, and for how many of them an expression is
// evaluated. It is evaluated for none a second time, and a snapshot of the time before the event matches the cluster as it was.
func TestVerdictsAreThoseOfTheSnapshot(t *testing.T) {
	withCEL := comparing(t, `managedCluster.metadata.labels["zone"] != "c"`)
	for _, tc := range []struct {
		reason    string
		changed   *clusterv1.ManagedCluster
		matched   uint
		evaluated int
	}{
		{"an event evaluates a changed cluster", managed("c1", "a", "zone", "c"), 0, 0},
		{"an event evaluates a changed cluster, with an error", managed("c1", "a"), 0, 0},
		{"a new cluster is evaluated for the snapshot", managed("c2", "a", "zone", "b"), 2, 1},
		{"a new cluster is evaluated for the snapshot, with an error", managed("c2", "a"), 1, 1},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			i := New(selector.NewCompiler())
			i.SetCluster(managed("c1", "a", "zone", "a"))
			i.Subscribe(Key{}, Dependencies{Predicates: []*selector.Selector{withCEL}})
			before := i.SnapshotFor(Key{})
			evaluated := 0
			i.views.byIdentity[withCEL.Identity()].celCache.evaluating = func() { evaluated++ }
			matched := func(s *Snapshot) uint {
				return s.MatchCEL(withCEL, s.alive.Clone(), &selector.EvalContext{}, func(*clusterinfo.ClusterInfo, selector.Verdict) {}).Count()
			}

			i.SetCluster(tc.changed)
			after := i.Snapshot()
			for range 2 {
				if got := matched(after); got != tc.matched || evaluated != tc.evaluated {
					t.Errorf("%d clusters match and %d are evaluated, want %d and %d", got, evaluated, tc.matched, tc.evaluated)
				}
			}
			if got := matched(before); got != 1 {
				t.Errorf("before the event %d clusters match, want one", got)
			}
		})
	}
}

// TestCostsThatMatter checks that a changed cost counts as a changed verdict if the total before or after it could exceed the share of the
// limit that a placement with so many selectors has for each.
func TestCostsThatMatter(t *testing.T) {
	for _, tc := range []struct {
		reason          string
		selectors       int
		others, was, is uint32
		flipped         bool
	}{
		{"far below the limit", 1, 1, 1, 2, false},
		{"up to the limit", 1, selector.MaxSelectorCost - 2, 1, 2, false},
		{"over the limit", 1, selector.MaxSelectorCost - 1, 1, 2, true},
		{"back to the limit", 1, selector.MaxSelectorCost - 1, 2, 1, true},
		{"the same cost over the limit", 1, selector.MaxSelectorCost, 1, 1, false},
		{"up to the share of ten selectors", 10, selector.MaxCost/10 - 2, 1, 2, false},
		{"over the share of ten selectors", 10, selector.MaxCost/10 - 1, 1, 2, true},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			cache := newCELCache(comparing(t, `managedCluster.metadata.labels["zone"] != "c"`))
			cache.limitFreeCost(tc.selectors)
			cache.set(0, 0, cachedVerdict{cost: tc.others, valid: true}, verdictDetails{})
			cache.set(1, 0, cachedVerdict{cost: tc.was, valid: true}, verdictDetails{})
			prepared := preparedVerdict{verdict: cachedVerdict{cost: tc.is, valid: true}}
			if got := cache.update(1, 1, preparedVerdicts{cache: prepared}); got != tc.flipped {
				t.Errorf("flipped: %t, want %t", got, tc.flipped)
			}
		})
	}
}

// TestSelectorsShareTheLimit checks that the predicates with CEL of a placement share the limit of the cost, that those without CEL have no
// share, and that the number of views with CEL is known.
func TestSelectorsShareTheLimit(t *testing.T) {
	const withCEL = 10
	i := New(selector.NewCompiler())
	key, dependencies := regional(t, "p", "eu")
	for n := range withCEL {
		dependencies.Predicates = append(dependencies.Predicates, comparing(t, fmt.Sprintf(`managedCluster.metadata.name != "c%d"`, n)))
	}
	i.Subscribe(key, dependencies)
	i.SnapshotFor(key)
	for _, v := range i.views.byIdentity {
		if v.celCache != nil && v.celCache.freeCost != selector.MaxCost/withCEL {
			t.Errorf("%v may cost %d, want %d", v.selector, v.celCache.freeCost, selector.MaxCost/withCEL)
		}
	}
	if i.views.dynamic != withCEL {
		t.Errorf("%d views have CEL, want %d", i.views.dynamic, withCEL)
	}
	i.Unsubscribe(key)
	if i.views.dynamic != 0 {
		t.Errorf("%d views have CEL after the placement has gone, want none", i.views.dynamic)
	}
}
