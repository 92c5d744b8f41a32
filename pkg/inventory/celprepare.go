// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"time"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// maxInlineCost is the cost, in cost units of CEL, of all evaluations of selectors for one event. It takes in the order of a millisecond.
// The verdicts of the other selectors are invalidated, and evaluated by the Placements that need them.
const maxInlineCost = 10_000

// prepare returns the new state of a cluster, which next computes from the current one, with the verdicts of the selectors with CEL that
// read what has changed. The caller holds the mutex, which prepare releases while it evaluates them, so that no other event waits for an
// expression.
func (i *Inventory) prepare(name string, next func() *clusterinfo.ClusterInfo) (*clusterinfo.ClusterInfo, preparedVerdicts) {
	before, after := i.clusterInfo(name), next()
	if before == nil || i.views.dynamic == 0 {
		return after, nil
	}
	concerned := i.views.cheap(i.clusters.live[name], before, after)
	if len(concerned) == 0 {
		return after, nil
	}
	i.mu.Unlock()

	verdicts := preparedVerdicts{}
	for cache, now := range concerned {
		verdicts.evaluate(cache, after, now)
	}
	i.mu.Lock()
	if i.clusterInfo(name) != before {
		return next(), nil
	}
	return after, verdicts
}

func (v preparedVerdicts) evaluate(cache *celCache, after *clusterinfo.ClusterInfo, now time.Time) {
	evaluation := &selector.EvalContext{Now: now, Limit: maxInlineCost}
	verdict, details := evaluateVerdict(cache.selector, after, evaluation)
	if !evaluation.Stopped() {
		v[cache] = preparedVerdict{verdict: verdict, details: details, at: now}
	}
}

// cheap returns the caches with a valid verdict for a cluster that a change concerns, as many as cost no more than maxInlineCost together,
// with the time at which they were evaluated last.
func (v *views) cheap(id uint, before, after *clusterinfo.ClusterInfo) map[*celCache]time.Time {
	var (
		found map[*celCache]time.Time
		cost  uint64
	)
	changes := clusterinfo.ChangedProperties(before, after)

	v.eachAffected(before, after, changes, func(affected *view) {
		cache := affected.celCache
		if cache == nil || !affected.static.Matches(after, &selector.EvalContext{}) {
			return
		}
		if _, again := found[cache]; again {
			return
		}

		known, now := cache.known(id)
		if cost += uint64(known.cost); !known.valid || cost > maxInlineCost {
			return
		}
		if found == nil {
			found = map[*celCache]time.Time{}
		}
		found[cache] = now
	})

	return found
}
