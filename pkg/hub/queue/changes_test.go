// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"

	"github.com/placement-hub/placement-hub/pkg/metrics"
)

func at(seconds int64) Change {
	return Change{Cause: metrics.CauseOf("test"), At: time.Unix(seconds, 0)}
}

// A key is taken for the change that has waited longest since it was taken last, whatever it went into the queue for; what was there before
// the hub is nobody's wait.
func TestAKeyIsTakenForItsEarliestChange(t *testing.T) {
	before := Change{Cause: metrics.CauseOf("before")}
	for _, tc := range []struct {
		reason string
		happen func(*house)
		want   Change
	}{
		{"nothing has happened", func(*house) {}, Change{}},
		{"one change", func(h *house) { h.Enqueue(PriorityFleet, at(1), "a") }, at(1)},
		{"two changes", func(h *house) {
			h.Enqueue(PriorityFleet, at(1), "a")
			h.Enqueue(PriorityUser, at(2), "a")
		}, at(1)},
		{"an older one that is told of later", func(h *house) {
			h.Enqueue(PriorityUser, at(2), "a")
			h.Enqueue(PriorityFleet, at(1), "a")
		}, at(1)},
		{"it was there before", func(h *house) { h.Enqueue(PriorityInitial, before, "a") }, before},
		{"a change of what was there before", func(h *house) {
			h.Enqueue(PriorityInitial, before, "a")
			h.Enqueue(PriorityFleet, at(3), "a")
		}, at(3)},
		{"a recheck, without a change of its own", func(h *house) {
			h.Enqueue(PriorityFleet, at(3), "a")
			h.Enqueue(PriorityRecheck, before, "a")
		}, at(3)},
		{"it was taken since", func(h *house) {
			h.Enqueue(PriorityFleet, at(1), "a")
			h.Get("a")
			h.Enqueue(PriorityFleet, at(2), "a")
		}, at(2)},
		{"a change that is owed", func(h *house) {
			h.Enqueue(PriorityFleet, at(1), "a")
			h.Requeue("a", h.Get("a"))
		}, at(1)},
		{"a change that is owed and a later one", func(h *house) {
			h.Enqueue(PriorityFleet, at(1), "a")
			change := h.Get("a")
			h.Enqueue(PriorityUser, at(2), "a")
			h.Requeue("a", change)
		}, at(1)},
		{"nothing is owed", func(h *house) { h.Requeue("a", Change{}) }, Change{}},
		{"it is gone", func(h *house) {
			h.Enqueue(PriorityFleet, at(1), "a")
			h.Forget("a")
		}, Change{}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			h := newHouse()
			defer h.queue.ShutDown()
			tc.happen(h)
			if got := h.Get("a"); got != tc.want {
				t.Errorf("taken for %v, want %v", got, tc.want)
			}
		})
	}
}

// Every line of a controller says what it is about, also the one of an error that the reconciler returns, which the library writes.
func TestLogLinesNameTheirRequest(t *testing.T) {
	var lines []string
	log := funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{})
	logs := Logs(log, "placement", func(key string) []any { return []any{"placement", key} })
	key := "team-a/payments"
	logs(&key).Error(nil, "Reconciler error")
	logs(nil).Info("Starting workers")
	if len(lines) != 2 || !strings.Contains(lines[0], `"placement"="team-a/payments"`) || strings.Contains(lines[1], "payments") {
		t.Errorf("the log says %q", lines)
	}

	for _, line := range lines {
		if !strings.Contains(line, `"controller"="placement"`) {
			t.Errorf("the line %q does not name the controller", line)
		}
	}
}
