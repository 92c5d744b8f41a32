package selector

import "time"

// PassCost is how much CEL one evaluation of a placement may cost over all clusters and expressions, in CEL's own cost units; it is in
// the order of ten seconds of one core (ours.md C2).
const PassCost = 50_000_000

// Pass is what one evaluation of a placement shares between clusters. It belongs to one goroutine.
type Pass struct {
	// Now is the time of the evaluation.
	Now time.Time

	spent  uint64
	wakeAt time.Time
}

// Exhausted reports whether the pass has used up PassCost: its verdicts cannot be trusted then.
func (p *Pass) Exhausted() bool { return p.spent > PassCost }

// WakeAt is the earliest time after Now at which an answer given in this pass can change by itself; zero means never.
func (p *Pass) WakeAt() time.Time { return p.wakeAt }

// Wake notes that an answer changes at t. Times that are not after Now are past and do not count.
func (p *Pass) Wake(t time.Time) {
	if t.After(p.Now) && (p.wakeAt.IsZero() || t.Before(p.wakeAt)) {
		p.wakeAt = t
	}
}

// WakeAfterExpiry notes that something is valid up to and including t.
func (p *Pass) WakeAfterExpiry(t time.Time) {
	if !t.IsZero() {
		p.Wake(t.Add(1))
	}
}
