// SPDX-License-Identifier: Apache-2.0

package removalbudget

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// hubLimit is the limit of the hub without the annotations of a Placement. It alone holds clusters that have left the scope: who may write the
// Placement can neither keep a cluster to which the access has ended, nor give up the time in which an administrator can mend a mistake
// (docs/spec/differences.md G5).
type hubLimit struct {
	// percent and countReplaced are those of Limit; unknown reports whether one of them is not known.
	percent       int
	countReplaced bool
	unknown       bool
	hold          time.Duration
	// until is when the held clusters leave, as the condition states it; zero when it states none.
	until time.Time
}

// newHubLimit returns the limit of a hub. What neither the caller nor the status says is unknown if an annotation can be the reason; without one,
// a hub that writes no condition has no limit.
func newHubLimit(limit Limit, stated parsedLimit, annotated bool) hubLimit {
	percent, replaced := cmp.Or(limit.Percent, stated.percent), cmp.Or(limit.CountReplaced, stated.countReplaced)
	return hubLimit{
		percent: ptr.Deref(percent, NoLimit), unknown: annotated && (percent == nil || replaced == nil), countReplaced: ptr.Deref(replaced, false),
		hold: ptr.Deref(limit.LostScopeHold, DefaultLostScopeHold), until: stated.until,
	}
}

// own returns the budget that the Placement would have without its annotations.
func (b Budget) own() Budget {
	b.Percent, b.CountReplaced, b.Released, b.annotations, b.Mistake = b.hub.percent, b.hub.countReplaced, false, nil, ""
	return b
}

// outside returns those of the clusters that have left the scope, and not by a change of the spec.
func (c *check) outside(clusters []string) []string {
	outside := c.result.OutOfScope(clusters)
	if !c.doubtful {
		return outside
	}
	return slices.DeleteFunc(outside, c.result.IsExcludedBySets)
}

// holdScope holds the clusters that have left the scope, each for the hold of the hub, while the limit of the hub does not permit that they leave.
func (c *check) holdScope(r *ruling, outside []string) {
	hub := c.own()
	if len(outside) == 0 || hub.Percent >= NoLimit {
		return
	}
	counted, _ := hub.countRemovals(c)
	if !counted.exceeds(hub.Percent) || !c.removesNow(hub, counted) {
		return
	}
	if c.holdUntil(r, counted.hold(c.generation, r.leaving), outside) {
		r.lookAt(c.allowedAt(hub, counted))
	}
}

// holdUntil adds those of the clusters that have left the scope whose time has not come yet, and reports whether there are any.
func (c *check) holdUntil(r *ruling, h hold, outside []string) bool {
	held := false
	for until, clusters := range c.byScopeEnd(outside) {
		h.Until = &metav1.Time{Time: until}
		r.hold(h, clusters...)
		r.lookAt(until)
		held = true
	}
	return held
}

// byScopeEnd yields the clusters that have left the scope by the time at which they leave, if that has not come yet, the earliest first.
func (c *check) byScopeEnd(outside []string) iter.Seq2[time.Time, []string] {
	byUntil := map[time.Time][]string{}
	for _, cluster := range outside {
		if until := c.scopeUntil(cluster); c.now.Before(until) {
			byUntil[until] = append(byUntil[until], cluster)
		}
	}
	return func(yield func(time.Time, []string) bool) {
		for _, until := range slices.SortedFunc(maps.Keys(byUntil), time.Time.Compare) {
			if !yield(until, byUntil[until]) {
				return
			}
		}
	}
}

// scopeUntil returns when a cluster leaves that has left the scope. A record of that, also by an earlier version of the hub, decides.
func (c *check) scopeUntil(cluster string) time.Time {
	for _, h := range c.memory.Held {
		if h.Until != nil && (h.Unnamed > 0 || contains(h.Clusters, cluster)) {
			return h.until().UTC()
		}
	}
	if c.memoryRecord == nil && !c.hub.until.IsZero() {
		return c.hub.until
	}
	return ceil(c.now.Add(c.hub.hold), time.Second)
}
