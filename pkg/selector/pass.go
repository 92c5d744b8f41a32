package selector

import "time"

// PassCost is how much CEL one evaluation of a placement may cost over all clusters and expressions, in CEL's own cost units; it is in
// the order of ten seconds of one core (docs/spec/differences.md C2).
const PassCost = 50_000_000

// Pass is what one evaluation of a placement shares between clusters. It belongs to one goroutine.
type Pass struct {
	// Now is the time of the evaluation.
	Now time.Time

	spent  uint64
	since  time.Time
	wakeAt time.Time
}

// Exhausted reports whether the pass has used up PassCost: its verdicts cannot be trusted then.
func (p *Pass) Exhausted() bool { return p.spent > PassCost }

// Spent is what the pass has used up, in CEL's own cost units.
func (p *Pass) Spent() uint64 { return p.spent }

// Charge books a cost: of an evaluation that was made, or of one whose answer was remembered, so that both count the same.
func (p *Pass) Charge(cost uint64) { p.spent += cost }

// WakeAt is the earliest time after Now at which an answer given in this pass can change by itself; zero means never.
func (p *Pass) WakeAt() time.Time { return p.wakeAt }

// Since is the latest time not after Now at which an answer given in this pass has changed by itself; zero means never. The answers are
// the same for every time from Since on and before WakeAt.
func (p *Pass) Since() time.Time { return p.since }

// Wake notes that an answer changes at t, or has changed at t if that is past. Zero is no time.
func (p *Pass) Wake(t time.Time) {
	switch {
	case t.IsZero():
	case !t.After(p.Now):
		if t.After(p.since) {
			p.since = t
		}
	case p.wakeAt.IsZero() || t.Before(p.wakeAt):
		p.wakeAt = t
	}
}

// WakeAfterExpiry notes that something is valid up to and including t; zero is for ever.
func (p *Pass) WakeAfterExpiry(t time.Time) {
	if !t.IsZero() {
		p.Wake(t.Add(1))
	}
}
