// SPDX-License-Identifier: Apache-2.0

package selector

import "time"

// MaxSelectorCost is the CEL cost limit of one selector in one evaluation of a placement over all clusters, in units: one second of one
// core (docs/spec/differences.md C2). A unit takes at most 115 ns by BenchmarkCELUnits on a busy core (a URL, a name that is validated, a
// regular expression), and 20 to 60 ns for most expressions; at 10,000 clusters a selector may cost 800 units on each, of which a label takes
// 7 and a search through three claims 139. An evaluation ends after at most one expression more, which costs 1,000,000 units, allocates
// 20 MiB and takes 100 ms at most.
//
// MaxCost is the limit of all selectors of a placement together.
const (
	MaxSelectorCost = 8_000_000
	MaxCost         = 5 * MaxSelectorCost
)

// EvalContext has the state that one evaluation of a placement shares between clusters. It is not safe for concurrent use.
type EvalContext struct {
	// Now is the time of the evaluation.
	Now time.Time
	// Done cancels the evaluation when it is closed; nil for an evaluation that is not cancelled. The verdicts are meaningless then.
	Done <-chan struct{}
	// Yield is called between two clusters; nil for an evaluation that need not let others go first.
	Yield func()
	// Limit is the cost limit of each evaluation of an expression on a cluster; zero means the limit of all evaluations.
	Limit uint64

	cost        uint64
	stopped     bool
	exhausted   bool
	stableSince time.Time
	requeueAt   time.Time
}

// Exhausted reports whether the evaluation has exceeded MaxCost, or one of its selectors MaxSelectorCost; its verdicts are meaningless then.
func (e *EvalContext) Exhausted() bool { return e.exhausted || e.cost > MaxCost }

// LimitSelector ends the evaluation if a selector has cost more than MaxSelectorCost.
func (e *EvalContext) LimitSelector(cost uint64) { e.exhausted = e.exhausted || cost > MaxSelectorCost }

// Cost returns the cost so far, in cost units of CEL.
func (e *EvalContext) Cost() uint64 { return e.cost }

// Stopped reports whether an expression exceeded its limits on a cluster.
func (e *EvalContext) Stopped() bool { return e.stopped }

// Pause lets other evaluations go first.
func (e *EvalContext) Pause() {
	if e.Yield != nil {
		e.Yield()
	}
}

// Cancelled reports whether the evaluation is cancelled.
func (e *EvalContext) Cancelled() bool {
	select {
	case <-e.Done:
		return true
	default:
		return false
	}
}

// limit returns the cost limit of each evaluation of an expression on a cluster.
func (e *EvalContext) limit() uint64 {
	if e.Limit == 0 {
		return expressionCost
	}
	return e.Limit
}

// Charge adds the cost of an evaluated or of a cached result, so that both count the same.
func (e *EvalContext) Charge(cost uint64) { e.cost += cost }

// RequeueAt returns the earliest time after Now at which a result of this evaluation can change without an event; zero means never.
func (e *EvalContext) RequeueAt() time.Time { return e.requeueAt }

// StableSince returns the latest time not after Now at which a result of this evaluation changed without an event; zero means never. The
// results are the same for every time from StableSince on and before RequeueAt.
func (e *EvalContext) StableSince() time.Time { return e.stableSince }

// RequeueAfterChange records that a result changes at t, or changed at t if t is not after Now. It ignores a zero time.
func (e *EvalContext) RequeueAfterChange(t time.Time) {
	switch {
	case t.IsZero():
	case !t.After(e.Now):
		if t.After(e.stableSince) {
			e.stableSince = t
		}
	case e.requeueAt.IsZero() || t.Before(e.requeueAt):
		e.requeueAt = t
	}
}

// RequeueAfterExpiry records that a result is valid up to and including t; zero means that it does not expire.
func (e *EvalContext) RequeueAfterExpiry(t time.Time) {
	if !t.IsZero() {
		e.RequeueAfterChange(t.Add(1))
	}
}
