// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

// While a selected cluster cannot get the object, a healthy one keeps it: for every caller of the pipeline, and not for the controller alone.
func TestNothingIsWithdrawnWhileAClusterCannotGetTheObject(t *testing.T) {
	h := newHub()
	e := h.evaluate(inUSA())
	limits := Limits{Percent: removalbudget.NoLimit}
	for _, tc := range []struct {
		reason   string
		plan     WorkPlan
		unserved []string
	}{
		{reason: "its name is taken", plan: WorkPlan{Lose: []string{"eu1"}, Conflicts: []string{"us1"}}},
		{reason: "a write has failed", plan: WorkPlan{Lose: []string{"eu1"}}, unserved: []string{"us1"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			first := e.Outcome(tc.plan, tc.unserved, limits, Past{}, epoch)
			if len(first.Allowed) > 0 || first.Note() == "" || first.Wait(epoch) != GainWait {
				t.Errorf("allowed %q, %q, looks again after %s", first.Allowed, first.Note(), first.Wait(epoch))
			}
			later := e.Outcome(tc.plan, tc.unserved, limits, first.Past, epoch.Add(GainWait))
			if len(later.Allowed) != 1 {
				t.Errorf("after the wait: allowed %q, %q", later.Allowed, later.Note())
			}
		})
	}
}

// The status of an object says what holds its works, and with it what is wrong with the annotations that say so.
func TestNoteOfAnOutcome(t *testing.T) {
	for _, tc := range []struct{ reason, held, mistake, want string }{
		{"nothing is held", "", "", ""},
		{"the budget holds works", "they stay", "", "they stay"},
		{"an invalid annotation holds nothing", "", "it is no number", ""},
		{"an invalid annotation holds works", "they stay", "it is no number", "they stay; it is no number"},
	} {
		o := Outcome{Withdrawal: Withdrawal{Held: tc.held}, Mistake: tc.mistake}
		if got := o.Note(); got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
		}
	}
	for requeue, want := range map[time.Time]time.Duration{{}: 0, epoch.Add(time.Minute): time.Minute, epoch: 1, epoch.Add(-time.Minute): 1} {
		if got := (&Outcome{Withdrawal: Withdrawal{RequeueAt: requeue}}).Wait(epoch); got != want {
			t.Errorf("a next look at %v is after %s, want %s", requeue, got, want)
		}
	}
}

// A cluster that came back has a new ScopeGrace when it leaves again; nothing is forgotten while it is not known where the clusters are.
func TestStillOutOfScope(t *testing.T) {
	h, past := newHub(), map[string]time.Time{"eu1": epoch, "eu2": epoch, "gone": epoch}
	h.leaveSet("eu2")
	e := h.evaluate(configMap(nil))
	if diff := cmp.Diff(map[string]time.Time{"eu2": epoch, "gone": epoch}, e.StillOutOfScope(past)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	h.namespace = nil
	if diff := cmp.Diff(past, h.evaluate(configMap(nil)).StillOutOfScope(past)); diff != "" {
		t.Errorf("the Namespace is not known (-want +got):\n%s", diff)
	}
}

// What is withdrawn counts for the window, and no longer.
func TestOutcomeRemembersWithdrawals(t *testing.T) {
	h := newHub()
	e := h.evaluate(inUSA())
	plan := WorkPlan{Lose: []string{"eu1"}}

	o := e.Outcome(plan, nil, Limits{Percent: removalbudget.NoLimit}, Past{}, epoch)
	past := o.Withdrew([]string{"eu1"}, epoch)
	if len(past.Withdrawn) != 1 || len(o.Past.Withdrawn) != 0 {
		t.Errorf("remembers %v, before %v", past.Withdrawn, o.Past.Withdrawn)
	}
	for after, want := range map[time.Duration]int{removalbudget.Window - 1: 1, removalbudget.Window: 0} {
		if got := e.Outcome(plan, nil, Limits{}, past, epoch.Add(after)).Past.Withdrawn; len(got) != want {
			t.Errorf("%s later: %v", after, got)
		}
	}
}
