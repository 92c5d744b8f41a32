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
	// maxPending is how many events wait at most.
	maxPending = 20000
	// maxSeries is how many events are remembered at most, so that one like them continues a series.
	maxSeries = 1000
)

// buffer is what waits to be written, and what was sent of late. It is safe for concurrent use.
type buffer struct {
	// ready has room for one: that there is something to write.
	ready chan struct{}

	mu      sync.Mutex
	pending []*pendingEvent
	serial  int64
	// series are the events that one like them continues, and order when they were sent first.
	series map[seriesKey]*pendingEvent
	order  []*pendingEvent
}

func newBuffer() *buffer {
	return &buffer{ready: make(chan struct{}, 1), series: map[seriesKey]*pendingEvent{}}
}

// Eventf sends an event about an object that has its kind set, or about a reference to it; related may be nil. Arguments that are
// fmt.Stringers are asked for their text before it returns, or not at all.
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

// full reports whether so much waits that nothing more is taken.
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

// track makes room for a new event in place of the oldest one.
func (i *buffer) track(n *pendingEvent) {
	if len(i.order) >= maxSeries {
		i.endSeries(i.order[0])
		i.order = append(i.order[:0], i.order[1:]...)
	}

	i.series[n.seriesKey] = n
	i.order = append(i.order, n)
}

// endSeries ends a series; its count is written if it is not yet.
func (i *buffer) endSeries(n *pendingEvent) {
	i.enqueueCount(n)

	if i.series[n.seriesKey] == n {
		delete(i.series, n.seriesKey)
	}
}

// enqueueCount has the count of a series written if the API server does not know it.
func (i *buffer) enqueueCount(n *pendingEvent) {
	if n.count > 1 && n.written < n.count && !n.queued {
		i.push(n)
	}
}

// flushSeries has the counts of series written, and ends those that nothing continued for a period.
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

// pop is the next event to write, as it is now.
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

// markWritten notes that the API server knows an event as it was taken.
func (i *buffer) markWritten(taken pendingEvent) {
	i.mu.Lock()
	defer i.mu.Unlock()

	taken.original.created = true
	taken.original.written = taken.count
}

// discard drops what waits.
func (i *buffer) discard() {
	i.mu.Lock()
	defer i.mu.Unlock()

	metrics.Events.WithLabelValues("dropped").Add(float64(len(i.pending)))
	i.pending = nil
}
