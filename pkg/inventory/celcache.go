package inventory

import (
	"math"
	"sync"
	"time"

	"github.com/bits-and-blooms/bitset"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// celCache remembers what a selector with CEL said of each cluster, so that it is asked again only when something that it reads has changed or
// a time that it read has come. Clusters that nobody asked about are not evaluated at all. It is shared by all snapshots, and is safe for
// concurrent use.
type celCache struct {
	selector *selector.Selector

	mu             sync.Mutex
	verdicts       []cachedVerdict
	details        map[uint]verdictDetails
	lastEvaluation time.Time // the latest time of an evaluation
	totalCost      uint64    // by all answers together
	freeCost       uint64    // of the cost of a pass that this selector may have before costs matter
}

// cachedVerdict is what was said of a cluster.
type cachedVerdict struct {
	// from is the generation since which nothing has changed that the selector reads of the cluster.
	from       uint64
	cost       uint32
	valid      bool // Somebody has asked since then.
	matched    bool
	hasDetails bool // There is more to say among the oddities.
}

// verdictDetails is an answer that is an error, or that holds for a time only.
type verdictDetails struct {
	err          error
	expression   int
	since, until time.Time // zero: for ever
}

func (d verdictDetails) holdsAt(now time.Time) bool {
	return !now.Before(d.since) && (d.until.IsZero() || now.Before(d.until))
}

func (d verdictDetails) equal(other verdictDetails) bool {
	return errorText(d.err) == errorText(other.err) && d.expression == other.expression && d.since.Equal(other.since) && d.until.Equal(other.until)
}

func newCELCache(s *selector.Selector) *celCache {
	return &celCache{selector: s, details: map[uint]verdictDetails{}, freeCost: selector.MaxCost}
}

// match is what the selector says of a cluster as it was at a generation, as if it was asked in the pass.
func (m *celCache) match(id uint, f *clusterinfo.ClusterInfo, generation uint64, evaluation *selector.EvalContext) selector.Verdict {
	m.mu.Lock()
	defer m.mu.Unlock()

	cached := m.get(id)
	current := generation >= cached.from
	details := m.details[id]

	if !current || !cached.valid || cached.hasDetails && !details.holdsAt(evaluation.Now) {
		from := cached.from

		cached, details = m.evaluate(f, evaluation.Now)
		if current {
			m.set(id, from, cached, details)
		}
	}

	evaluation.Charge(uint64(cached.cost))
	evaluation.RequeueAfterChange(details.until)

	return selector.Verdict{Matched: cached.matched, Err: details.err, Expression: details.expression}
}

// cachedMatches finds those of the candidates that are known to match, as if they and those that are known not to were asked in the pass. It
// leaves the candidates that have to be asked one by one.
func (m *celCache) cachedMatches(candidates Members, generation uint64, evaluation *selector.EvalContext) (matching, left Members) {
	m.mu.Lock()
	defer m.mu.Unlock()

	matching, left = bitset.New(candidates.Len()), bitset.New(0)
	cost := uint64(0)

	for id := range candidates.EachSet() {
		cached := m.get(id)

		if !cached.valid || cached.hasDetails || generation < cached.from {
			left.Set(id)

			continue
		}

		cost += uint64(cached.cost)

		if cached.matched {
			matching.Set(id)
		}
	}

	evaluation.Charge(cost)

	return matching, left
}

func (m *celCache) get(id uint) cachedVerdict {
	if id < uint(len(m.verdicts)) {
		return m.verdicts[id]
	}

	return cachedVerdict{}
}

func (m *celCache) evaluate(f *clusterinfo.ClusterInfo, now time.Time) (cachedVerdict, verdictDetails) {
	if now.After(m.lastEvaluation) {
		m.lastEvaluation = now
	}

	evaluation := &selector.EvalContext{Now: now}
	verdict := m.selector.Match(f, evaluation)
	details := verdictDetails{err: verdict.Err, expression: verdict.Expression, since: evaluation.StableSince(), until: evaluation.RequeueAt()}

	return cachedVerdict{
		cost: uint32(min(evaluation.Cost(), math.MaxUint32)), valid: true, matched: verdict.Matched, hasDetails: !details.equal(verdictDetails{}),
	}, details
}

func (m *celCache) set(id uint, from uint64, cached cachedVerdict, details verdictDetails) {
	for uint(len(m.verdicts)) <= id {
		m.verdicts = append(m.verdicts, cachedVerdict{})
	}

	m.totalCost += uint64(cached.cost) - uint64(m.verdicts[id].cost)
	cached.from = from
	m.verdicts[id] = cached

	delete(m.details, id)

	if cached.hasDetails {
		m.details[id] = details
	}
}

// maxInlineCost is the cost from which on an answer is not asked for again while events wait, in CEL's own units; it is in the order of a
// millisecond.
const maxInlineCost = 10_000

// update asks again about a cluster that has changed, at a generation, in what the selector reads, and reports whether the answer may
// have changed. Of a cluster that nobody asked about nothing is known, so that it may; and so of one for which asking is dear, which is left
// to those who evaluate. So it is where the last answer held for a time only:
// an evaluation that began before the change may be at a later time, at which other facts are read.
func (m *celCache) update(id uint, after *clusterinfo.ClusterInfo, generation uint64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()

	was, wasDetails := m.get(id), m.details[id]
	if !was.valid || after == nil || was.cost >= maxInlineCost {
		m.set(id, generation, cachedVerdict{}, verdictDetails{})

		return true
	}

	before := m.costMatters()
	is, isDetails := m.evaluate(after, m.lastEvaluation)
	m.set(id, generation, is, isDetails)

	return was.matched != is.matched || !wasDetails.until.IsZero() || !wasDetails.equal(isDetails) || was.cost != is.cost && (before || m.costMatters())
}

// matchedOrUnknown reports whether the cluster matches as far as is known. What is said for a time only is not known for every evaluation
// that has begun.
func (m *celCache) matchedOrUnknown(id uint) bool {
	m.mu.Lock()
	defer m.mu.Unlock()

	cached := m.get(id)

	return !cached.valid || cached.matched || !m.details[id].until.IsZero()
}

// costMatters reports whether costs may decide: a pass over some of these clusters, together with as many other selectors as a placement has,
// could come near to what it may cost.
func (m *celCache) costMatters() bool { return m.totalCost > m.freeCost }

// limitFreeCost notes that a placement has so many selectors with CEL.
func (m *celCache) limitFreeCost(selectors int) {
	m.mu.Lock()
	defer m.mu.Unlock()

	m.freeCost = min(m.freeCost, selector.MaxCost/uint64(max(selectors, 1)))
}

// clear drops all that is remembered.
func (m *celCache) clear() {
	m.mu.Lock()
	defer m.mu.Unlock()

	for id, cached := range m.verdicts {
		m.verdicts[id] = cachedVerdict{from: cached.from}
	}

	m.totalCost = 0
	clear(m.details)
}
