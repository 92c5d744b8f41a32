// SPDX-License-Identifier: Apache-2.0

package scheduling

import "maps"

// Incumbents are the clusters that a Placement has or lately had. The value is true for a cluster in the existing decisions, and false for one that
// has left them lately for a cause outside of the Placement. Both count for Steady, and both precede other clusters when a field of them cannot be
// decoded. Only those in the decisions tolerate NoSelectIfNew. A cluster of the second kind never displaces one of the first
// (docs/spec/differences.md B18).
type Incumbents map[string]bool

// prefers reports whether a cluster counts for Steady.
func (i Incumbents) prefers(cluster string) bool {
	_, known := i[cluster]
	return known
}

// Decided returns those in the existing decisions. The result is the receiver if that has no others.
func (i Incumbents) Decided() Incumbents {
	if i.areDecided() {
		return i
	}
	decided := maps.Clone(i)
	maps.DeleteFunc(decided, func(_ string, is bool) bool { return !is })
	return decided
}

// areDecided reports whether all of them are in the existing decisions.
func (i Incumbents) areDecided() bool {
	for _, is := range i {
		if !is {
			return false
		}
	}
	return true
}

// scheduleFor calls schedule with the incumbents. If a cluster that has left displaces one that is in the decisions, it calls schedule again, with
// those in the decisions alone.
func (i Incumbents) scheduleFor(schedule func(Incumbents) *Result) *Result {
	result := schedule(i)
	if i.areDecided() || result.Outcome() != Decided {
		return result
	}
	decided, returning := i.Decided(), 0
	for _, info := range result.Selected {
		if i.prefers(info.Name) && !decided[info.Name] {
			returning++
		}
		delete(decided, info.Name)
	}

	for cluster := range decided {
		if returning > 0 && result.IsFeasible(cluster) {
			return schedule(i.Decided())
		}
	}
	return result
}
