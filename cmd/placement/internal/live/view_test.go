// SPDX-License-Identifier: Apache-2.0

package live

import (
	"testing"
	"time"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/test/expect"
)

func TestSettling(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	settled := &document.Board{Versions: "7"}
	changed := &document.Board{Versions: "8"}
	open := &document.Board{Versions: "9", Waiting: []string{"Placement team/p: its PlacementDecisions hold 0 clusters, its status says 1"}}
	var state settling
	for i, step := range []struct {
		reason  string
		at      time.Duration
		board   *document.Board
		working int
		left    time.Duration
		pending int
	}{
		{"the first board may be about to change", 0, settled, 0, quietPeriod, 0},
		{"quiet for a while", 600 * time.Millisecond, settled, 0, 400 * time.Millisecond, 0},
		{"any change begins anew", 900 * time.Millisecond, changed, 0, quietPeriod, 0},
		{"what is pending does not settle", 5 * time.Second, open, 0, quietPeriod, 1},
		{"nor when nothing changes", 9 * time.Second, open, 0, quietPeriod, 1},
		{"it is decided", 10 * time.Second, changed, 0, quietPeriod, 0},
		{"the API server is slow to take something that no board shows", 11 * time.Second, changed, 2, quietPeriod, 1},
		{"nobody is at work any more", 12 * time.Second, changed, 0, 0, 0},
	} {
		left, pending := state.observe(step.board, step.working, start.Add(step.at))
		if left != step.left || len(pending) != step.pending {
			t.Errorf("step %d, %s: %v left, pending %q; want %v and %d", i, step.reason, left, pending, step.left, step.pending)
		}
	}
	expect.Error(t, notSettled(time.Minute, open.Pending()), []string{"within 1m0s", "Placement team/p: its PlacementDecisions hold 0", "--timeout"})
	expect.Error(t, notSettled(time.Minute, nil), []string{"keep changing"})
}
