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
func (b *buffer) Eventf(regarding, related runtime.Object, eventtype, reason, action, note string, args ...any) {
	if b.full() {
		metrics.Events.WithLabelValues("dropped").Inc()
		return
	}
	who := seriesKey{kind: eventtype, reason: reason, action: action, note: truncate(fmt.Sprintf(note, args...))}
	if err := who.setReferences(regarding, related); err != nil {
		klog.Background().Error(err, "An event is lost", "reason", reason)
		metrics.Events.WithLabelValues("failed").Inc()
		return
	}

	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if known := b.series[who]; known != nil && now.Sub(known.lastAt) < seriesPeriod {
		known.count++
		known.lastAt = now
		if known.count == 2 {
			b.enqueueCount(known)
		}
		return
	}

	b.serial = max(b.serial+1, now.UnixNano())
	p := &pendingEvent{seriesKey: who, at: now, serial: b.serial, count: 1, lastAt: now}
	b.track(p)
	b.push(p)
}

// full reports whether the buffer drops further events.
func (b *buffer) full() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.pending) >= maxPending
}

func (b *buffer) push(p *pendingEvent) {
	p.queued = true
	b.pending = append(b.pending, p)
	select {
	case b.ready <- struct{}{}:
	default:
	}
}

// track adds a new event to the series, and ends the oldest one if there are too many.
func (b *buffer) track(p *pendingEvent) {
	if len(b.order) >= maxSeries {
		b.endSeries(b.order[0])
		b.order = append(b.order[:0], b.order[1:]...)
	}
	b.series[p.seriesKey] = p
	b.order = append(b.order, p)
}

// endSeries ends a series, and enqueues its final count if it is not written yet.
func (b *buffer) endSeries(p *pendingEvent) {
	b.enqueueCount(p)
	if b.series[p.seriesKey] == p {
		delete(b.series, p.seriesKey)
	}
}

// enqueueCount enqueues the count of a series if it has not been written.
func (b *buffer) enqueueCount(p *pendingEvent) {
	if p.count > 1 && p.written < p.count && !p.queued {
		b.push(p)
	}
}

// flushSeries enqueues the counts of series, and ends those without an event for seriesPeriod.
func (b *buffer) flushSeries(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.order = slices.DeleteFunc(b.order, func(p *pendingEvent) bool {
		over := now.Sub(p.lastAt) >= seriesPeriod
		if over {
			b.endSeries(p)
		} else {
			b.enqueueCount(p)
		}
		return over
	})
}

// pop returns a copy of the next event to write; false if none is pending.
func (b *buffer) pop() (pendingEvent, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.pending) == 0 {
		return pendingEvent{}, false
	}

	next := b.pending[0]
	b.pending[0] = nil
	b.pending = b.pending[1:]
	next.queued = false
	taken := *next
	taken.original = next
	return taken, true
}

// markWritten records that an event was written in the state that pop returned.
func (b *buffer) markWritten(taken pendingEvent) {
	b.mu.Lock()
	defer b.mu.Unlock()
	taken.original.created = true
	taken.original.written = taken.count
}

// discard drops all pending events.
func (b *buffer) discard() {
	b.mu.Lock()
	defer b.mu.Unlock()
	metrics.Events.WithLabelValues("dropped").Add(float64(len(b.pending)))
	b.pending = nil
}
