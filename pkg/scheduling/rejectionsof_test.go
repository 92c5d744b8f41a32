// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"reflect"
	"testing"
	"time"

	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/selector"
	"github.com/placement-hub/placement-hub/test/property"
)

// RejectionsOf works for any cluster, in scope or not, and for deleted clusters.
func TestCausesOfClusters(t *testing.T) {
	tainted, leaving := named("tainted", "region", "eu"), terminating(named("leaving", "region", "eu"))
	tainted.Spec.Taints = []clusterv1.Taint{taint("gpu", "", noSelect)}

	spec := placementSpec{NumberOfClusters: ptr.To[int32](1), Predicates: anyOf{byLabel("region", "eu")}}
	clusters := []string{"tainted", "leaving", "us", "gone", "worse"}
	w := newRandomHub(tainted, leaving, named("us", "region", "us"), named("better", "region", "eu"), named("worse", "region", "eu"))
	expect(t, "causes", []Rejection{
		{StageTerminating, "deleted", 2}, {StagePredicate, "predicate 1 label region In [eu]", 1},
		{StageTaint, "taint gpu:NoSelect not tolerated", 1}, {StageRank, "not needed, 1 wanted", 1},
	}, w.schedule(t, spec).RejectionsOf(clusters))
	expect(t, "reason of a cluster that does not exist", DeletedReason, w.schedule(t, spec).ReasonOf("gone"))
	expect(t, "score of a feasible cluster", 100, w.schedule(t, spec).Score("worse"))
	expect(t, "score of a cluster that is not feasible", 0, w.schedule(t, spec).Score("us"))

	w.inventory.DeleteBinding("ns", "all")
	expect(t, "causes out of scope", []Rejection{
		{StageScope, "no cluster set is bound to the namespace", 3}, {StageTerminating, "deleted", 2},
	}, w.schedule(t, spec).RejectionsOf(clusters))
	spec.NumberOfClusters = ptr.To[int32](-1)
	broken := Schedule(ConvertV1beta1(selector.NewCompiler(), placementOf(spec)), w.inventory.Snapshot(), nil, now)
	expect(t, "causes without an answer", []Rejection{}, broken.RejectionsOf(clusters))
	_, found := broken.VerdictOf("us")
	expect(t, "a verdict without an answer", false, found)
}

// IsFeasible follows the verdict, and the rejection of a single cluster equals its rejection among all clusters.
func TestCausesOfAreThoseOfAll(t *testing.T) {
	compiler := selector.NewCompiler()
	property.Check(t, func(t *rapid.T) {
		c := newCourse(compiler)
		c.beginning(t)
		for range rapid.IntRange(0, 10).Draw(t, "events") {
			c.event(t)
		}
		snapshot := c.inventory.SnapshotFor(c.keys()...)
		for key, request := range c.requests {
			checkCausesOf(t, Schedule(request, snapshot, c.incumbents(key), c.now))
		}
	})
}

func checkCausesOf(t *rapid.T, result *Result) {
	if best := result.Best(); result.Outcome() == Decided {
		last, selected, found := result.lastSelected()
		if selected != len(best) || found != (len(best) > 0) || found && !reflect.DeepEqual(last.Cluster, best[len(best)-1].Cluster) {
			t.Fatalf("the last of %d selected clusters is %v, want that of %v", selected, last.Cluster, best)
		}
	}

	texts := result.Texts()
	for _, verdict := range result.Verdicts() {
		name := verdict.Cluster.Name
		reason, cause := texts(verdict)
		if wantReason, wantCause := result.Reason(verdict), result.Causes()(verdict); reason != wantReason || cause != wantCause {
			t.Fatalf("%s: texts %q and %q, want %q and %q", name, reason, cause, wantReason, wantCause)
		}
		if got, want := result.ReasonOf(name), result.Reason(verdict); got != want {
			t.Fatalf("%s alone: %q, want %q", name, got, want)
		}
		if alone, found := result.VerdictOf(name); !found || alone != verdict {
			t.Fatalf("%s alone: %+v, want %+v", name, alone, verdict)
		}
		if fits := verdict.Rank > 0; result.IsFeasible(name) != fits {
			t.Fatalf("%s fits: %v, want %v", name, result.IsFeasible(name), fits)
		}
		if verdict.Stage == StageScope || verdict.Cluster.Terminating || verdict.Stage == StageSelected {
			continue
		}

		want := Rejection{verdict.Stage, result.reasons().of(verdict, clauseOnly), 1}
		if causes := result.RejectionsOf([]string{name}); len(causes) != 1 || causes[0] != want {
			t.Fatalf("%s: got %v, want %v", name, causes, want)
		}
	}
}

// A held result selects nothing if no cluster joins, and is requeued at the earlier of two times. The original result does not change.
func TestRejectionsOfStalledResults(t *testing.T) {
	result := newRandomHub(named("c")).schedule(t, placementSpec{})
	soon, late := now.Add(time.Minute), now.Add(time.Hour)

	held := result.Hold(map[string]bool{"c": true}, nil, late)
	if held.Outcome() != Held || len(held.Selected) != 0 || len(held.Rejections()) != 0 || held.Count(StageSelected) != 0 ||
		!held.RequeueAt.Equal(late) {
		t.Errorf("got %+v", held)
	}
	if result.Outcome() != Decided || len(result.Selected) != 1 || result.Count(StageSelected) != 1 {
		t.Errorf("the answer has become %+v", result)
	}

	for _, tc := range []struct{ known, again, want time.Time }{
		{known: late, again: soon, want: soon}, {known: soon, again: late, want: soon}, {known: soon, want: soon}, {again: soon, want: soon},
	} {
		result.RequeueAt = tc.known
		expect(t, "wakes", tc.want, result.Hold(map[string]bool{"c": true}, nil, tc.again).RequeueAt)
	}

	// Why it is withheld is told, although the answer itself is satisfied.
	expect(t, "the answer tells causes", false, result.Dependencies().WatchRejected)
	expect(t, "withheld it tells causes", true, held.Dependencies().WatchRejected)
	result.taintsChangeAt = soon
	expect(t, "wakes when a cause changes", soon, result.Hold(map[string]bool{"c": true}, nil, late).RequeueAt)
}
