// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"maps"
	"slices"
	"time"

	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

// within returns what counts at a time: the removals within removalbudget.Window, and the clusters that joined within it. While the budget is
// exceeded, all clusters that have joined count.
func (p Past) within(now time.Time) Past {
	over := func(_ string, at time.Time) bool { return !now.Before(at.Add(removalbudget.Window)) }
	p.Withdrawn = without(p.Withdrawn, over)
	if !p.Exceeded {
		p.Joined = without(p.Joined, over)
	}
	return p
}

// without returns the times without some of them, and does not modify them.
func without(times map[string]time.Time, drop func(cluster string, at time.Time) bool) map[string]time.Time {
	if len(times) == 0 {
		return nil
	}
	rest := maps.Clone(times)
	maps.DeleteFunc(rest, drop)
	return rest
}

// with returns the times with that of a cluster. It may modify them.
func with(times map[string]time.Time, cluster string, at time.Time) map[string]time.Time {
	if times == nil {
		times = map[string]time.Time{}
	}
	times[cluster] = at
	return times
}

// stillWithdrawn returns those of Past.Withdrawn that have no work now.
func (e *Evaluation) stillWithdrawn(past Past) map[string]time.Time {
	if len(past.Withdrawn) == 0 {
		return nil
	}
	have := e.incumbents()
	return without(past.Withdrawn, func(cluster string, _ time.Time) bool { return have[cluster] })
}

// count returns the count of a number of removals with those within the window. Base and removals are of the same clusters: those that have a work,
// or have lost it within the window, but neither those that drain nor those that have just joined (docs/spec/differences.md G5, B19).
func (e *Evaluation) count(withdrawal *Withdrawal, removals int, past Past) removalbudget.Count {
	count := removalbudget.Count{Past: len(e.stillWithdrawn(past)), Now: removals}
	count.Total = count.Past
	for _, work := range e.Works {
		if _, joined := past.Joined[work.Cluster]; !work.Foreign && !work.Deleting && !joined && !withdrawal.drains(work.Cluster) {
			count.Total++
		}
	}
	return count
}

// Gained returns what to remember after clusters got a work. Those count as joined that got it for a cause outside of the object, that did not lose
// their work within the window, and that are not the first ones of the object.
func (e *Evaluation) Gained(past Past, clusters []string, now time.Time) Past {
	if len(clusters) == 0 || past.Target != e.OwnTarget() || len(e.incumbents()) == 0 {
		return past
	}
	past = past.within(now)
	past.Joined = maps.Clone(past.Joined)
	for _, cluster := range clusters {
		if _, returns := past.Withdrawn[cluster]; !returns {
			past.Joined = with(past.Joined, cluster, now)
		}
	}
	return past
}

// Withdrew returns what to remember after works of clusters were withdrawn. Where the removal of a cluster does not count, one of those that have
// joined replaces it in the base of the budget.
func (o *Outcome) Withdrew(clusters []string, now time.Time) Past {
	past := o.Past
	past.Withdrawn, past.Joined = maps.Clone(past.Withdrawn), maps.Clone(past.Joined)
	replaced := 0
	for _, cluster := range clusters {
		switch _, joined := past.Joined[cluster]; {
		case joined:
			delete(past.Joined, cluster)
		case o.Counts(cluster):
			past.Withdrawn = with(past.Withdrawn, cluster, now)
		default:
			replaced++
		}
	}

	joined := slices.Sorted(maps.Keys(past.Joined))
	for _, cluster := range joined[:min(replaced, len(joined))] {
		delete(past.Joined, cluster)
	}
	return past
}
