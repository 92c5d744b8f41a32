package selector

import "time"

// MaxCost is how much CEL one evaluation of a placement may cost over all clusters and expressions, in CEL's own cost units; it is in
// the order of ten seconds of one core (docs/spec/differences.md C2).
const MaxCost = 50_000_000

// EvalContext is what one evaluation of a placement shares between clusters. It belongs to one goroutine.
type EvalContext struct {
	// Now is the time of the evaluation.
	Now time.Time

	cost        uint64
	stableSince time.Time
	requeueAt   time.Time
}

// Exhausted reports whether the pass has used up PassCost: its verdicts cannot be trusted then.
func (p *EvalContext) Exhausted() bool { return p.cost > MaxCost }

// Cost is what the pass has used up, in CEL's own cost units.
func (p *EvalContext) Cost() uint64 { return p.cost }

// Charge books a cost: of an evaluation that was made, or of one whose answer was remembered, so that both count the same.
func (p *EvalContext) Charge(cost uint64) { p.cost += cost }

// RequeueAt is the earliest time after Now at which an answer given in this pass can change by itself; zero means never.
func (p *EvalContext) RequeueAt() time.Time { return p.requeueAt }

// StableSince is the latest time not after Now at which an answer given in this pass has changed by itself; zero means never. The answers are
// the same for every time from Since on and before WakeAt.
func (p *EvalContext) StableSince() time.Time { return p.stableSince }

// RequeueAfterChange notes that an answer changes at t, or has changed at t if that is past. Zero is no time.
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

// RequeueAfterExpiry notes that something is valid up to and including t; zero is for ever.
func (p *EvalContext) RequeueAfterExpiry(t time.Time) {
	if !t.IsZero() {
		p.RequeueAfterChange(t.Add(1))
	}
}
