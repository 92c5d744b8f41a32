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
	// mostWaiting is how many events wait at most.
	mostWaiting = 20000
	// mostRemembered is how many events are remembered at most, so that one like them continues a series.
	mostRemembered = 1000
)

// inbox is what waits to be written, and what was sent of late. It is safe for concurrent use.
type inbox struct {
	// arrived has room for one: that there is something to write.
	arrived chan struct{}

	mu      sync.Mutex
	waiting []*notice
	serial  int64
	// recent are the events that one like them continues, and order when they were sent first.
	recent map[identity]*notice
	order  []*notice
}

func newInbox() *inbox {
	return &inbox{arrived: make(chan struct{}, 1), recent: map[identity]*notice{}}
}

// Eventf sends an event about an object that has its kind set, or about a reference to it; related may be nil. Arguments that are
// fmt.Stringers are asked for their text before it returns, or not at all.
func (i *inbox) Eventf(regarding, related runtime.Object, eventtype, reason, action, note string, args ...any) {
	if i.full() {
		metrics.Events.WithLabelValues("dropped").Inc()

		return
	}

	who := identity{kind: eventtype, reason: reason, action: action, note: fitting(fmt.Sprintf(note, args...))}
	if err := who.refer(regarding, related); err != nil {
		klog.Background().Error(err, "An event is lost", "reason", reason)
		metrics.Events.WithLabelValues("failed").Inc()

		return
	}

	i.mu.Lock()
	defer i.mu.Unlock()

	now := time.Now()

	if known := i.recent[who]; known != nil && now.Sub(known.lastAt) < seriesPeriod {
		known.count++
		known.lastAt = now

		if known.count == 2 {
			i.update(known)
		}

		return
	}

	i.serial = max(i.serial+1, now.UnixNano())
	n := &notice{identity: who, at: now, serial: i.serial, count: 1, lastAt: now}
	i.remember(n)
	i.push(n)
}

// full reports whether so much waits that nothing more is taken.
func (i *inbox) full() bool {
	i.mu.Lock()
	defer i.mu.Unlock()

	return len(i.waiting) >= mostWaiting
}

func (i *inbox) push(n *notice) {
	n.queued = true
	i.waiting = append(i.waiting, n)

	select {
	case i.arrived <- struct{}{}:
	default:
	}
}

// remember makes room for a new event in place of the oldest one.
func (i *inbox) remember(n *notice) {
	if len(i.order) >= mostRemembered {
		i.release(i.order[0])
		i.order = append(i.order[:0], i.order[1:]...)
	}

	i.recent[n.identity] = n
	i.order = append(i.order, n)
}

// release ends a series; its count is written if it is not yet.
func (i *inbox) release(n *notice) {
	i.update(n)

	if i.recent[n.identity] == n {
		delete(i.recent, n.identity)
	}
}

// update has the count of a series written if the API server does not know it.
func (i *inbox) update(n *notice) {
	if n.count > 1 && n.written < n.count && !n.queued {
		i.push(n)
	}
}

// renew has the counts of series written, and ends those that nothing continued for a period.
func (i *inbox) renew(now time.Time) {
	i.mu.Lock()
	defer i.mu.Unlock()

	i.order = slices.DeleteFunc(i.order, func(n *notice) bool {
		over := now.Sub(n.lastAt) >= seriesPeriod
		if over {
			i.release(n)
		} else {
			i.update(n)
		}

		return over
	})
}

// take is the next event to write, as it is now.
func (i *inbox) take() (notice, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()

	if len(i.waiting) == 0 {
		return notice{}, false
	}

	next := i.waiting[0]
	i.waiting[0] = nil
	i.waiting = i.waiting[1:]
	next.queued = false
	taken := *next
	taken.origin = next

	return taken, true
}

// delivered notes that the API server knows an event as it was taken.
func (i *inbox) delivered(taken notice) {
	i.mu.Lock()
	defer i.mu.Unlock()

	taken.origin.created = true
	taken.origin.written = taken.count
}

// abandon drops what waits.
func (i *inbox) abandon() {
	i.mu.Lock()
	defer i.mu.Unlock()

	metrics.Events.WithLabelValues("dropped").Add(float64(len(i.waiting)))
	i.waiting = nil
}
