// SPDX-License-Identifier: Apache-2.0

package eventwriter

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"

	"github.com/placement-hub/placement-hub/pkg/metrics"
)

const (
	// maxPending is the greatest number of events that wait to be written.
	maxPending = 20000
	// maxSeries is the greatest number of recent events that a later event can continue as a series.
	maxSeries = 1000
)

// buffer has the events that wait to be written, and the recent ones, which may become series. It is safe for concurrent use.
type buffer struct {
	// ready has a capacity of 1 and receives a value when an event becomes pending.
	ready chan struct{}

	mu      sync.Mutex
	pending []*pendingEvent
	serial  int64
	// series has the recent events that a later event continues, and order has them by the time at which they were first sent.
	series map[seriesKey]*pendingEvent
	order  []*pendingEvent
}

func newBuffer() *buffer {
	return &buffer{ready: make(chan struct{}, 1), series: map[seriesKey]*pendingEvent{}}
}

// Eventf sends an event about an object with its kind set, or about a reference to an object; related may be nil. It formats its arguments
// before it returns, or drops the event.
func (i *buffer) Eventf(regarding, related runtime.Object, eventtype, reason, action, note string, args ...any) {
	if i.full() {
		metrics.Events.WithLabelValues("dropped").Inc()

		return
	}

	who := seriesKey{kind: eventtype, reason: reason, action: action, note: truncate(fmt.Sprintf(note, args...))}
	if err := who.setReferences(regarding, related); err != nil {
		klog.Background().Error(err, "An event is lost", "reason", reason)
		metrics.Events.WithLabelValues("failed").Inc()

		return
	}

	i.mu.Lock()
	defer i.mu.Unlock()

	now := time.Now()

	if known := i.series[who]; known != nil && now.Sub(known.lastAt) < seriesPeriod {
		known.count++
		known.lastAt = now

		if known.count == 2 {
			i.enqueueCount(known)
		}

		return
	}

	i.serial = max(i.serial+1, now.UnixNano())
	n := &pendingEvent{seriesKey: who, at: now, serial: i.serial, count: 1, lastAt: now}
	i.track(n)
	i.push(n)
}

// full reports whether the buffer drops further events.
func (i *buffer) full() bool {
	i.mu.Lock()
	defer i.mu.Unlock()

	return len(i.pending) >= maxPending
}

func (i *buffer) push(n *pendingEvent) {
	n.queued = true
	i.pending = append(i.pending, n)

	select {
	case i.ready <- struct{}{}:
	default:
	}
}

// track adds a new event to the series, and ends the oldest one if there are too many.
func (i *buffer) track(n *pendingEvent) {
	if len(i.order) >= maxSeries {
		i.endSeries(i.order[0])
		i.order = append(i.order[:0], i.order[1:]...)
	}

	i.series[n.seriesKey] = n
	i.order = append(i.order, n)
}

// endSeries ends a series, and enqueues its final count if it is not written yet.
func (i *buffer) endSeries(n *pendingEvent) {
	i.enqueueCount(n)

	if i.series[n.seriesKey] == n {
		delete(i.series, n.seriesKey)
	}
}

// enqueueCount enqueues the count of a series if it has not been written.
func (i *buffer) enqueueCount(n *pendingEvent) {
	if n.count > 1 && n.written < n.count && !n.queued {
		i.push(n)
	}
}

// flushSeries enqueues the counts of series, and ends those without an event for seriesPeriod.
func (i *buffer) flushSeries(now time.Time) {
	i.mu.Lock()
	defer i.mu.Unlock()

	i.order = slices.DeleteFunc(i.order, func(n *pendingEvent) bool {
		over := now.Sub(n.lastAt) >= seriesPeriod
		if over {
			i.endSeries(n)
		} else {
			i.enqueueCount(n)
		}

		return over
	})
}

// pop returns a copy of the next event to write; false if none is pending.
func (i *buffer) pop() (pendingEvent, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()

	if len(i.pending) == 0 {
		return pendingEvent{}, false
	}

	next := i.pending[0]
	i.pending[0] = nil
	i.pending = i.pending[1:]
	next.queued = false
	taken := *next
	taken.original = next

	return taken, true
}

// markWritten records that an event was written in the state that pop returned.
func (i *buffer) markWritten(taken pendingEvent) {
	i.mu.Lock()
	defer i.mu.Unlock()

	taken.original.created = true
	taken.original.written = taken.count
}

// discard drops all pending events.
func (i *buffer) discard() {
	i.mu.Lock()
	defer i.mu.Unlock()

	metrics.Events.WithLabelValues("dropped").Add(float64(len(i.pending)))
	i.pending = nil
}
