// SPDX-License-Identifier: Apache-2.0

package scheduling

import "time"

// Outcome is what a Result means for the existing decisions.
type Outcome uint8

// The outcomes. Only Decided replaces the existing decisions; a stalled Result, which has another outcome, keeps them. Clusters can join them if it
// is Held or Postponed (see Result.Applies).
const (
	// Decided means that the decisions become the selected clusters.
	Decided Outcome = iota
	// Invalid means that the Request has validation errors, or a set in scope whose selector is broken.
	Invalid
	// Held means that clusters that are not selected stay in the decisions, because their removal exceeds the removal budget.
	Held
	// Postponed means that they stay until the Result can be proved to be computed on the latest state of the hub.
	Postponed
)

// String returns the name of the outcome.
func (o Outcome) String() string { return [...]string{"Decided", "Invalid", "Held", "Postponed"}[o] }

// Outcome returns what the Result means for the existing decisions.
func (r *Result) Outcome() Outcome {
	switch {
	case len(r.Errors) > 0 || len(r.BrokenSets) > 0:
		return Invalid
	case r.postponement != nil:
		return Postponed
	case r.held:
		return Held
	default:
		return Decided
	}
}

// Satisfied reports whether as many clusters are selected as the Request wants. It is false unless the Outcome is Decided.
func (r *Result) Satisfied() bool {
	return r.Outcome() == Decided && r.Available > 0 && r.Unscheduled == 0 && (len(r.Selected) > 0 || r.Request.NoneIsEnough)
}

// ListsRejections reports whether the status lists rejections: while the Request is not satisfied (docs/spec/differences.md E2), and while
// clusters stay that the Result would remove.
func (r *Result) ListsRejections() bool { return r.Outcome() != Invalid && !r.Satisfied() }

// KeepsLeaving reports whether clusters that are not selected stay in the decisions: the Outcome is Held or Postponed.
func (r *Result) KeepsLeaving() bool { return r.Outcome() == Held || r.Outcome() == Postponed }

// Applies reports whether the decisions become the Selected clusters: always when the Outcome is Decided, and otherwise if clusters that leave stay
// and others join or are replaced meanwhile.
func (r *Result) Applies() bool {
	return r.Outcome() == Decided || r.KeepsLeaving() && r.Selected != nil
}

// Postponement returns why the removals of the Result must wait; nil when they need not.
func (r *Result) Postponement() *Postponement { return r.postponement }

// earliest returns the earlier of two times; zero means never.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
