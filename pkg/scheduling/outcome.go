package scheduling

import "time"

// Outcome is what a Result means for the existing decisions.
type Outcome uint8

// The outcomes. Only Decided replaces the existing decisions; a stalled Result, which is Invalid or Blocked, keeps them. A Blocked Result can add
// clusters to them (see Result.Applies).
const (
	// Decided means that the decisions become the selected clusters.
	Decided Outcome = iota
	// Invalid means that the Request has validation errors, or a set in scope whose selector is broken.
	Invalid
	// Blocked means that clusters that are not selected stay in the decisions: their removal exceeds the removal budget, or is postponed.
	Blocked
)

// String returns the name of the outcome.
func (o Outcome) String() string { return [...]string{"Decided", "Invalid", "Blocked"}[o] }

// Outcome returns whether the Result was decided, is invalid or is blocked.
func (r *Result) Outcome() Outcome {
	switch {
	case len(r.Errors) > 0 || len(r.BrokenSets) > 0:
		return Invalid
	case r.blocked:
		return Blocked
	default:
		return Decided
	}
}

// Satisfied reports whether as many clusters are selected as the Request wants. It is false unless the Outcome is Decided.
func (r *Result) Satisfied() bool {
	return r.Outcome() == Decided && r.Available > 0 && r.Unscheduled == 0 && (len(r.Selected) > 0 || r.Request.NoneIsEnough)
}

// ListsRejections reports whether the status lists rejections: while the Request is not satisfied (docs/spec/differences.md E2), and while
// a Blocked Result keeps clusters that it would remove.
func (r *Result) ListsRejections() bool { return r.Outcome() != Invalid && !r.Satisfied() }

// Applies reports whether the decisions become the Selected clusters: always when the Outcome is Decided, and when it is Blocked if clusters
// join or are replaced meanwhile.
func (r *Result) Applies() bool {
	return r.Outcome() == Decided || r.Outcome() == Blocked && r.Selected != nil
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
