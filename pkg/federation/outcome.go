// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"maps"
	"time"

	"k8s.io/utils/ptr"

	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

// Limits are the removal limits of the hub, which annotations of an object can tighten or loosen.
type Limits struct {
	// Percent is the share of the works of an object that may be withdrawn within removalbudget.Window for causes outside of the object, from 0
	// to removalbudget.NoLimit.
	Percent int
	// ScopeHold is how long works of clusters that have left the scope are held at most.
	ScopeHold time.Duration
	// KeepLast reports whether the last cluster of an object that has left the scope keeps its work for ScopeHold, while Percent is a limit and no
	// other cluster replaces it (docs/spec/differences.md B17).
	KeepLast bool
}

// LimitsOf returns the limits of a hub. One without a percentage has no limit.
func LimitsOf(hub removalbudget.Limit) Limits {
	return Limits{
		Percent:   ptr.Deref(hub.Percent, removalbudget.NoLimit),
		ScopeHold: ptr.Deref(hub.LostScopeHold, removalbudget.DefaultLostScopeHold),
		KeepLast:  ptr.Deref(hub.LastCluster, removalbudget.KeepLastCluster) == removalbudget.KeepLastCluster,
	}
}

// Outcome is what a plan may withdraw now, and what to remember for the next evaluation.
type Outcome struct {
	Withdrawal

	// Past replaces what was remembered before.
	Past Past
	// Mistake describes an invalid annotation of the budget; empty if there is none.
	Mistake string
}

// Outcome decides which withdrawals of a plan may happen now. unserved are the selected clusters for which a write has failed, which only the
// controller knows.
func (e *Evaluation) Outcome(plan WorkPlan, unserved []string, limits Limits, past Past, now time.Time) Outcome {
	budget, mistake := BudgetOf(e.Object.Meta.Annotations, limits)
	past = past.within(now)
	o := Outcome{Withdrawal: e.withdrawal(plan, unserved, budget, past, now), Mistake: mistake}
	past.Unserved = o.Unserved
	past.OutOfScope = e.StillOutOfScope(earliest(past.OutOfScope, o.OutOfScope))
	undecided := e.State != Delivering || e.pendingUser != "" || e.matchesNone
	past.Exceeded = o.Exceeded || past.Exceeded && undecided
	o.Past = past
	return o
}

// earliest returns the times of both, and those of before where both have one.
func earliest(before, after map[string]time.Time) map[string]time.Time {
	all := maps.Clone(after)
	maps.Copy(all, before)
	return all
}

// Note returns why works are not withdrawn, and what is wrong with the annotations that say so; empty if all may be.
func (o *Outcome) Note() string {
	if o.Mistake != "" && o.Held != "" {
		return o.Held + "; " + o.Mistake
	}
	return o.Held
}

// Wait returns after which time to look again; zero for never.
func (o *Outcome) Wait(now time.Time) time.Duration {
	if o.RequeueAt.IsZero() {
		return 0
	}
	return max(o.RequeueAt.Sub(now), time.Nanosecond)
}
