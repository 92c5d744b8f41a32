package selector

import "time"

// MaxCost is the CEL cost limit of one evaluation of a placement over all clusters and expressions, in cost units of CEL; it takes in the
// order of ten seconds of one core (docs/spec/differences.md C2).
const MaxCost = 50_000_000

// EvalContext has the state that one evaluation of a placement shares between clusters. It is not safe for concurrent use.
type EvalContext struct {
	// Now is the time of the evaluation.
	Now time.Time

	cost        uint64
	stableSince time.Time
	requeueAt   time.Time
}

// Exhausted reports whether the evaluation has exceeded MaxCost; its verdicts are meaningless then.
func (p *EvalContext) Exhausted() bool { return p.cost > MaxCost }

// Cost returns the cost so far, in cost units of CEL.
func (p *EvalContext) Cost() uint64 { return p.cost }

// Charge adds the cost of an evaluated or of a cached result, so that both count the same.
func (p *EvalContext) Charge(cost uint64) { p.cost += cost }

// RequeueAt returns the earliest time after Now at which a result of this evaluation can change without an event; zero means never.
func (p *EvalContext) RequeueAt() time.Time { return p.requeueAt }

// StableSince returns the latest time not after Now at which a result of this evaluation changed without an event; zero means never. The
// results are the same for every time from StableSince on and before RequeueAt.
func (p *EvalContext) StableSince() time.Time { return p.stableSince }

// RequeueAfterChange records that a result changes at t, or changed at t if t is not after Now. It ignores a zero time.
func (p *EvalContext) RequeueAfterChange(t time.Time) {
	switch {
	case t.IsZero():
	case !t.After(p.Now):
		if t.After(p.stableSince) {
			p.stableSince = t
		}
	case p.requeueAt.IsZero() || t.Before(p.requeueAt):
		p.requeueAt = t
	}
}

// RequeueAfterExpiry records that a result is valid up to and including t; zero means that it does not expire.
func (p *EvalContext) RequeueAfterExpiry(t time.Time) {
	if !t.IsZero() {
		p.RequeueAfterChange(t.Add(1))
	}
}
