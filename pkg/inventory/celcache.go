// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"math"
	"sync"
	"time"

	"github.com/bits-and-blooms/bitset"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// celCache caches the verdicts of a selector with CEL by cluster, so that the selector is evaluated again only after a change of a property
// that it reads, or at a time at which its verdict changes. A cluster is first evaluated when an evaluation of a placement needs it. No
// expression is evaluated under the mutex. All snapshots share the cache; it is safe for concurrent use.
type celCache struct {
	selector *selector.Selector
	// evaluating is called before the selector is evaluated, without the mutex.
	evaluating func()

	mu             sync.Mutex
	verdicts       celVerdicts
	details        map[uint]verdictDetails
	lastEvaluation time.Time // the latest Now of any evaluation
	totalCost      uint64    // of all verdicts
	freeCost       uint64    // up to which no evaluation can exceed a limit of the cost
}

// verdictDetails is the part of a verdict that most verdicts lack: an error, and the time for which the verdict is valid.
type verdictDetails struct {
	err          error
	expression   int
	since, until time.Time // zero means without limit
}

func (d verdictDetails) holdsAt(now time.Time) bool {
	return !now.Before(d.since) && (d.until.IsZero() || now.Before(d.until))
}

func (d verdictDetails) equal(other verdictDetails) bool {
	return errorText(d.err) == errorText(other.err) && d.expression == other.expression && d.since.Equal(other.since) && d.until.Equal(other.until)
}

func newCELCache(s *selector.Selector) *celCache {
	return &celCache{selector: s, evaluating: func() {}, details: map[uint]verdictDetails{}, freeCost: selector.MaxSelectorCost}
}

// match returns the verdict for a cluster as it is at a generation, and charges its cost to the evaluation, whether the verdict was cached
// or not.
func (c *celCache) match(id uint, info *clusterinfo.ClusterInfo, generation uint64, evaluation *selector.EvalContext) selector.Verdict {
	cached, details, valid := c.lookUp(id, generation, evaluation.Now)
	if !valid {
		c.evaluating()
		alone := &selector.EvalContext{Now: evaluation.Now, Done: evaluation.Done}
		cached, details = evaluateVerdict(c.selector, info, alone)
		if !alone.Cancelled() {
			c.add(id, generation, cached, details, evaluation.Now)
		}
	}

	evaluation.Charge(uint64(cached.cost))
	evaluation.RequeueAfterChange(details.until)
	return selector.Verdict{Matched: cached.matched, Err: details.err, Expression: details.expression}
}

// maxSettleCost is the cost, in cost units of CEL, of an evaluation by settle, which takes at most in the order of a tenth of a millisecond.
const maxSettleCost = 1_000

// settle caches the verdict of clusters that all have the same one if the first expression decides, as it does for one of them. The cache must be
// new. The caller may hold a mutex.
func (c *celCache) settle(clusters Members, one *clusterinfo.ClusterInfo) {
	evaluation := &selector.EvalContext{Limit: maxSettleCost}
	verdict := c.selector.Match(one, evaluation)
	if verdict.Err != nil || evaluation.Stopped() || !c.selector.DecidedByFirst(verdict) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.verdicts.settle(clusters, verdict.Matched, uint32(evaluation.Cost()))
	c.totalCost = uint64(clusters.Count()) * evaluation.Cost()
}

// lookUp returns the verdict for a cluster as it is at a generation, and whether it is valid at a time.
func (c *celCache) lookUp(id uint, generation uint64, now time.Time) (cachedVerdict, verdictDetails, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	cached, details := c.verdicts.get(id), c.details[id]
	return cached, details, generation >= cached.from && cached.valid && (!cached.hasDetails || details.holdsAt(now))
}

// add caches a verdict that was computed for a cluster as it is at a generation, unless the cluster has changed since.
func (c *celCache) add(id uint, generation uint64, cached cachedVerdict, details verdictDetails, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.After(c.lastEvaluation) {
		c.lastEvaluation = now
	}
	if from := c.verdicts.get(id).from; generation >= from {
		c.set(id, from, cached, details)
	}
}

// known returns the verdict for a cluster, and the latest time of any evaluation.
func (c *celCache) known(id uint) (cachedVerdict, time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.verdicts.get(id), c.lastEvaluation
}

// cachedMatches returns the candidates whose cached verdict is a match, and those without a verdict that is valid at the generation and at
// any time, for which the caller calls match. It charges the cost of all verdicts that it used.
func (c *celCache) cachedMatches(candidates Members, generation uint64, evaluation *selector.EvalContext) (matching, left Members) {
	left, matching = candidates.Clone(), bitset.New(candidates.Len())
	words, matches := left.Words(), matching.Words()
	cost := uint64(0)

	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range min(len(words), len(c.verdicts.blocks)) {
		block := &c.verdicts.blocks[i]
		settled := block.settled(words[i], generation)
		words[i] &^= settled
		matches[i] = settled & block.matched
		cost += block.costOf(settled)
	}

	evaluation.Charge(cost)
	return matching, left
}

// evaluateVerdict evaluates a selector for a cluster.
func evaluateVerdict(
	s *selector.Selector, info *clusterinfo.ClusterInfo, evaluation *selector.EvalContext,
) (cachedVerdict, verdictDetails) {
	verdict := s.Match(info, evaluation)
	details := verdictDetails{err: verdict.Err, expression: verdict.Expression, since: evaluation.StableSince(), until: evaluation.RequeueAt()}
	return cachedVerdict{
		cost: uint32(min(evaluation.Cost(), math.MaxUint32)), valid: true, matched: verdict.Matched, hasDetails: !details.equal(verdictDetails{}),
	}, details
}

func (c *celCache) set(id uint, from uint64, cached cachedVerdict, details verdictDetails) {
	c.totalCost += uint64(cached.cost) - uint64(c.verdicts.get(id).cost)
	cached.from = from
	c.verdicts.set(id, cached)
	delete(c.details, id)
	if cached.hasDetails {
		c.details[id] = details
	}
}

// update stores the prepared verdict for a cluster that has changed, at a generation, in a property that the selector reads, and reports
// whether the verdict may have changed. Without a prepared verdict it invalidates the verdict, which is then unknown and may have changed. A
// verdict that was valid for a limited time may have changed as well: an evaluation that began before the change may run at a later time,
// at which other properties are read.
func (c *celCache) update(id uint, generation uint64, verdicts preparedVerdicts) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	was, wasDetails := c.verdicts.get(id), c.details[id]

	prepared, ok := verdicts[c]
	if !ok || !was.valid || !prepared.at.Equal(c.lastEvaluation) {
		c.set(id, generation, cachedVerdict{}, verdictDetails{})
		return true
	}
	before := c.costMatters()
	is, isDetails := prepared.verdict, prepared.details
	c.set(id, generation, is, isDetails)
	costs := was.cost != is.cost && (before || c.costMatters())
	return was.matched != is.matched || !wasDetails.until.IsZero() || !wasDetails.equal(isDetails) || costs
}

// matchedOrUnknown reports whether the cluster matches or its verdict is unknown. A verdict that is valid for a limited time counts as
// unknown, because an evaluation that has begun may run at another time.
func (c *celCache) matchedOrUnknown(id uint) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	cached := c.verdicts.get(id)
	return !cached.valid || cached.matched || !c.details[id].until.IsZero()
}

// costMatters reports whether the total cost is so high that an evaluation over some of these clusters, together with the other selectors
// of a placement, could exceed MaxCost. Then a different cost may change a result.
func (c *celCache) costMatters() bool { return c.totalCost > c.freeCost }

// limitFreeCost limits freeCost to the share of MaxCost of one selector, for a placement with so many selectors with CEL.
func (c *celCache) limitFreeCost(selectors int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.freeCost = min(c.freeCost, selector.MaxCost/uint64(max(selectors, 1)))
}

// clear invalidates all verdicts.
func (c *celCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.verdicts.invalidate()
	c.totalCost = 0
	clear(c.details)
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// preparedVerdict is the verdict of a selector with CEL for the new state of a cluster.
type preparedVerdict struct {
	verdict cachedVerdict
	details verdictDetails
	// at is the time of the evaluation.
	at time.Time
}

// preparedVerdicts has the verdicts for a change of a cluster by the cache of the selector.
type preparedVerdicts map[*celCache]preparedVerdict
