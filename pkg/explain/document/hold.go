// SPDX-License-Identifier: Apache-2.0

package document

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// VerdictHeld is the verdict on a cluster that a stage of the scheduler rejects, and that stays in the decisions, or keeps a delivered object, all
// the same (docs/spec/differences.md E1). It is a verdict of reports alone: the scheduler rejects the cluster.
const VerdictHeld = "Held"

// Hold says why a cluster with VerdictHeld would leave, and what ends its stay.
type Hold struct {
	// Verdict is the verdict without the hold: the stage that rejects the cluster, Terminating also for a ManagedCluster that does not exist any
	// more. It is absent if no stage has decided.
	Verdict string `json:"verdict,omitempty"`
	// Until is the time at which the cluster leaves; absent if none is known.
	Until *metav1.Time `json:"until,omitempty"`
	// Release is what ends the hold, as a part of a sentence.
	Release string `json:"release"`
}

// NewHold returns a Hold with the verdict without it, the time at which it ends by itself, zero if none is known, and what ends it.
func NewHold(verdict string, until time.Time, release string) *Hold {
	hold := &Hold{Verdict: verdict, Release: release}
	if !until.IsZero() {
		hold.Until = &metav1.Time{Time: until}
	}
	return hold
}

// Stage returns the stage that rejects a cluster with a verdict, also if the hold keeps it; the hold is nil for other clusters.
func (h *Hold) Stage(verdict string) scheduling.Stage {
	if h == nil {
		return scheduling.Stage(verdict)
	}
	return scheduling.Stage(h.Verdict)
}

// Explain returns the reason of a verdict for people: with a hold, that it is why the cluster would leave, and what ends the hold.
func (h *Hold) Explain(reason string) string {
	if h == nil {
		return reason
	}
	if reason == "" {
		return h.Release
	}
	return "would leave: " + reason + "; " + h.Release
}

// CompareVerdicts orders verdicts as reports list them: Held, Selected, then the others by the stage that they reached, the last one first.
func CompareVerdicts(a, b string) int {
	switch {
	case a == b:
		return 0
	case a == VerdictHeld:
		return -1
	case b == VerdictHeld:
		return 1
	}
	return scheduling.Stage(b).Compare(scheduling.Stage(a))
}
