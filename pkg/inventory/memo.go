package inventory

import (
	"math"
	"sync"
	"time"

	"github.com/bits-and-blooms/bitset"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// memo remembers what a selector with CEL said of each cluster, so that it is asked again only when something that it reads has changed or
// a time that it read has come. Clusters that nobody asked about are not evaluated at all. It is shared by all snapshots, and is safe for
// concurrent use.
type memo struct {
	selector *selector.Selector

	mu       sync.Mutex
	answers  []answer
	oddities map[uint]oddity
	latest   time.Time // the latest time of an evaluation
	spent    uint64    // by all answers together
	share    uint64    // of the cost of a pass that this selector may have before costs matter
}

// answer is what was said of a cluster.
type answer struct {
	// from is the generation since which nothing has changed that the selector reads of the cluster.
	from    uint64
	cost    uint32
	known   bool // Somebody has asked since then.
	matched bool
	odd     bool // There is more to say among the oddities.
}

// oddity is an answer that is an error, or that holds for a time only.
type oddity struct {
	err          error
	expression   int
	since, until time.Time // zero: for ever
}

func (o oddity) holdsAt(now time.Time) bool {
	return !now.Before(o.since) && (o.until.IsZero() || now.Before(o.until))
}

func (o oddity) same(other oddity) bool {
	return errorText(o.err) == errorText(other.err) && o.expression == other.expression && o.since.Equal(other.since) && o.until.Equal(other.until)
}

func newMemo(s *selector.Selector) *memo {
	return &memo{selector: s, oddities: map[uint]oddity{}, share: selector.MaxCost}
}

// ask is what the selector says of a cluster as it was at a generation, as if it was asked in the pass.
func (m *memo) ask(slot uint, f *clusterinfo.ClusterInfo, generation uint64, pass *selector.EvalContext) selector.Verdict {
	m.mu.Lock()
	defer m.mu.Unlock()

	said := m.answer(slot)
	current := generation >= said.from
	odd := m.oddities[slot]

	if !current || !said.known || said.odd && !odd.holdsAt(pass.Now) {
		from := said.from

		said, odd = m.evaluate(f, pass.Now)
		if current {
			m.remember(slot, from, said, odd)
		}
	}

	pass.Charge(uint64(said.cost))
	pass.RequeueAfterChange(odd.until)

	return selector.Verdict{Matched: said.matched, Err: odd.err, Expression: odd.expression}
}

// recall finds those of the candidates that are known to match, as if they and those that are known not to were asked in the pass. It
// leaves the candidates that have to be asked one by one.
func (m *memo) recall(candidates Members, generation uint64, pass *selector.EvalContext) (matching, left Members) {
	m.mu.Lock()
	defer m.mu.Unlock()

	matching, left = bitset.New(candidates.Len()), bitset.New(0)
	cost := uint64(0)

	for slot := range candidates.EachSet() {
		said := m.answer(slot)

		if !said.known || said.odd || generation < said.from {
			left.Set(slot)

			continue
		}

		cost += uint64(said.cost)

		if said.matched {
			matching.Set(slot)
		}
	}

	pass.Charge(cost)

	return matching, left
}

func (m *memo) answer(slot uint) answer {
	if slot < uint(len(m.answers)) {
		return m.answers[slot]
	}

	return answer{}
}

func (m *memo) evaluate(f *clusterinfo.ClusterInfo, now time.Time) (answer, oddity) {
	if now.After(m.latest) {
		m.latest = now
	}

	pass := &selector.EvalContext{Now: now}
	verdict := m.selector.Match(f, pass)
	odd := oddity{err: verdict.Err, expression: verdict.Expression, since: pass.StableSince(), until: pass.RequeueAt()}

	return answer{cost: uint32(min(pass.Cost(), math.MaxUint32)), known: true, matched: verdict.Matched, odd: !odd.same(oddity{})}, odd
}

func (m *memo) remember(slot uint, from uint64, said answer, odd oddity) {
	for uint(len(m.answers)) <= slot {
		m.answers = append(m.answers, answer{})
	}

	m.spent += uint64(said.cost) - uint64(m.answers[slot].cost)
	said.from = from
	m.answers[slot] = said

	delete(m.oddities, slot)

	if said.odd {
		m.oddities[slot] = odd
	}
}

// dear is the cost from which on an answer is not asked for again while events wait, in CEL's own units; it is in the order of a
// millisecond.
const dear = 10_000

// change asks again about a cluster that has changed, at a generation, in what the selector reads, and reports whether the answer may
// have changed. Of a cluster that nobody asked about nothing is known, so that it may; and so of one for which asking is dear, which is left
// to those who evaluate. So it is where the last answer held for a time only:
// an evaluation that began before the change may be at a later time, at which other facts are read.
func (m *memo) change(slot uint, after *clusterinfo.ClusterInfo, generation uint64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()

	was, wasOdd := m.answer(slot), m.oddities[slot]
	if !was.known || after == nil || was.cost >= dear {
		m.remember(slot, generation, answer{}, oddity{})

		return true
	}

	before := m.heavy()
	is, isOdd := m.evaluate(after, m.latest)
	m.remember(slot, generation, is, isOdd)

	return was.matched != is.matched || !wasOdd.until.IsZero() || !wasOdd.same(isOdd) || was.cost != is.cost && (before || m.heavy())
}

// matchedOrUnknown reports whether the cluster matches as far as is known. What is said for a time only is not known for every evaluation
// that has begun.
func (m *memo) matchedOrUnknown(slot uint) bool {
	m.mu.Lock()
	defer m.mu.Unlock()

	said := m.answer(slot)

	return !said.known || said.matched || !m.oddities[slot].until.IsZero()
}

// heavy reports whether costs may decide: a pass over some of these clusters, together with as many other selectors as a placement has,
// could come near to what it may cost.
func (m *memo) heavy() bool { return m.spent > m.share }

// together notes that a placement has so many selectors with CEL.
func (m *memo) together(selectors int) {
	m.mu.Lock()
	defer m.mu.Unlock()

	m.share = min(m.share, selector.MaxCost/uint64(max(selectors, 1)))
}

// forget drops all that is remembered.
func (m *memo) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()

	for slot, said := range m.answers {
		m.answers[slot] = answer{from: said.from}
	}

	m.spent = 0
	clear(m.oddities)
}
