// SPDX-License-Identifier: Apache-2.0

package removalbudget

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/utils/ptr"

	"github.com/placement-hub/placement-hub/pkg/scheduling"
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

// scopeHold is which of the leaving clusters have left the scope, and until when the limit of the hub holds them.
type scopeHold struct {
	// outside are the clusters that have left the scope, sorted; held reports whether they stay now.
	outside []string
	held    bool
	// until is when they leave at the latest, and allowedAt when the limit permits it; zero means never.
	until, allowedAt time.Time
}

// holdScope returns the hold of the leaving clusters that have left the scope.
func (b Budget) holdScope(
	result *scheduling.Result, past, incumbents map[string]bool, left RecentRemovals, leaving []string, now time.Time,
) scopeHold {
	h := scopeHold{outside: result.OutOfScope(leaving), until: b.hub.until}
	hub := b.own()
	if len(h.outside) == 0 || hub.Percent >= NoLimit {
		return h
	}
	if h.until.IsZero() {
		h.until = ceil(now.Add(b.hub.hold), time.Second)
	}

	counted, _ := hub.countRemovals(result, past, left.countOthers())
	if now.Before(h.until) && counted.exceeds(hub.Percent) && hub.removesNow(result, incumbents, left, counted) {
		h.held, h.allowedAt = true, hub.allowedAt(result, incumbents, left, counted)
	}
	return h
}

// kept returns those of the leaving clusters that stay; holds reports whether the budget of the Placement holds those in scope.
func (h scopeHold) kept(leaving []string, holds bool) []string {
	return slices.DeleteFunc(slices.Clone(leaving), func(cluster string) bool {
		if slices.Contains(h.outside, cluster) {
			return !h.held
		}
		return !holds
	})
}
