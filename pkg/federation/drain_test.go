// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"slices"
	"testing"
	"time"

	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

// inUSA is an object that asks for no cluster of Europe.
func inUSA() Object {
	return configMap(map[string]string{SelectorAnnotation: `[{"key":"location","operator":"=","values":["usa"]}]`})
}

// drain gives a cluster the taint of a cluster that is about to be deleted.
func (h *hub) drain(name, location string) {
	h.cluster(name, map[string]string{"location": location}, clusterv1.Taint{Key: TerminatingTaint, Effect: clusterv1.TaintEffectNoSelect})
}

// T17, G5: a cluster that drains neither counts for the budget nor is held by it, whether it is in scope or has left it. One more cluster may leave
// with every percentage but 0, and further ones are held.
func TestT17ClustersThatDrainDoNotCount(t *testing.T) {
	recently := map[string]time.Time{"gone": epoch.Add(-time.Minute)}
	for _, c := range []struct {
		reason        string
		budget        Budget
		withdrawn     map[string]time.Time
		unbound       bool
		allowed, kept []string
	}{
		{"the other one may leave", Budget{Percent: 50, Hub: Limits{Percent: 50}}, nil, false, []string{"eu1", "eu2"}, nil},
		{"another one has left before", Budget{Percent: 50, Hub: Limits{Percent: 50}}, recently, false, []string{"eu1"}, []string{"eu2"}},
		{"none may leave", Budget{Hub: Limits{Percent: 50}}, nil, false, []string{"eu1"}, []string{"eu2"}},
		{"out of scope, none may leave", Budget{Percent: 100, Hub: Limits{ScopeHold: time.Hour}}, nil, true, []string{"eu1"}, []string{"eu2"}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			h := newHub()
			h.works = withWorks("eu1", "eu2", "us1")
			h.drain("eu1", "europe")
			past := Past{Target: "location=usa", Selected: "location=usa", Withdrawn: c.withdrawn}
			if c.unbound {
				h.inventory.DeleteBinding("team-a", "members")
				long := epoch.Add(-ScopeGrace)
				past.OutOfScope = map[string]time.Time{"eu1": long, "eu2": long}
			}

			got := h.evaluate(inUSA()).withdrawal(WorkPlan{Lose: []string{"eu1", "eu2"}}, nil, c.budget, past, epoch)
			if !slices.Equal(got.Allowed, c.allowed) || !slices.Equal(got.Kept, c.kept) {
				t.Errorf("got that %v leave and %v stay, want %v and %v: %s", got.Allowed, got.Kept, c.allowed, c.kept, got.Held)
			}
			if got.Counts("eu1") || !got.Counts("eu2") {
				t.Error("the cluster that drains counts later, or the other one does not")
			}
		})
	}
}

// T17: the only cluster of an object leaves, then one that drains, and two more within ten minutes are held until the window is over.
func TestT17TheNextOnesAreHeld(t *testing.T) {
	h, limits := newHub(), Limits{Percent: 50}
	h.cluster("eu3", map[string]string{"location": "europe"})
	past := Past{Target: "location=usa", Selected: "location=usa"}
	remove := func(now time.Time, lose ...string) Outcome {
		outcome := h.evaluate(inUSA()).Outcome(WorkPlan{Lose: lose}, nil, limits, past, now)
		past = outcome.Withdrew(outcome.Allowed, now)
		return outcome
	}

	h.works = withWorks("eu3")
	if got := remove(epoch, "eu3"); len(got.Kept) > 0 {
		t.Errorf("the only cluster: %s", got.Held)
	}
	h.works = withWorks("eu1", "eu2", "us1")
	h.drain("us1", "europe")
	if got := remove(epoch, "us1"); len(got.Kept) > 0 {
		t.Errorf("the cluster that drains: %s", got.Held)
	}

	h.works = withWorks("eu1", "eu2")
	if got := remove(epoch, "eu1", "eu2"); len(got.Allowed) > 0 || !got.RequeueAt.Equal(epoch.Add(removalbudget.Window)) {
		t.Errorf("the next ones: %v leave, and the next look is at %v", got.Allowed, got.RequeueAt)
	}
}
