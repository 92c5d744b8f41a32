// SPDX-License-Identifier: Apache-2.0

package removalbudget

import (
	"fmt"
	"time"
)

// Hold says what ends the stay of a cluster that would be removed if it were not held.
type Hold struct {
	// Until is the time at which the cluster is removed; zero if none is known.
	Until time.Time
	// Release is what ends the hold, as a part of a sentence: "stays until the removal budget permits its removal, or generation 7 is released".
	Release string
}

// NewScopeHold returns the Hold of a cluster that has left the scope, and that is removed at a time.
func NewScopeHold(until time.Time) Hold {
	until = until.UTC()
	return Hold{Until: until, Release: "leaves at " + until.Format(time.RFC3339) + " unless a bound set has it again"}
}

// Hold returns why a cluster stays in the decisions that the scheduling.Result would remove, if clusters are held. A cluster that is not held itself
// stays only because of those that are, as hard constraints count them all.
func (r Result) Hold(cluster string) Hold {
	for _, h := range r.holds {
		switch {
		case !contains(h.Clusters, cluster):
		case h.Until != nil:
			return NewScopeHold(h.until())
		case h.Last:
			return Hold{Release: "stays until it is available again, another cluster can replace it, or " + r.budget.releasedText()}
		default:
			return Hold{Release: "stays until the removal budget permits its removal, or " + r.budget.releasedText()}
		}
	}
	return Hold{Release: "stays while the removal budget holds other clusters"}
}

func (b Budget) releasedText() string {
	return fmt.Sprintf("generation %d is released", b.subject.Generation)
}
