// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/util/workqueue"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	"github.com/placement-hub/placement-hub/pkg/hub/queue/fairqueue"
	"github.com/placement-hub/placement-hub/test/property"
)

// house is a queue whose keys are taken as they come.
type house struct {
	*PriorityQueue[string]

	queue priorityqueue.PriorityQueue[string]
	start time.Time

	mu    sync.Mutex
	looks map[string][]time.Duration
}

func newHouse() *house {
	h := &house{
		PriorityQueue: NewPriorityQueue[string](), queue: newFair(), start: time.Now(),
		looks: map[string][]time.Duration{},
	}
	h.SetQueue(h.queue)
	return h
}

func newFair() *fairqueue.Queue[string] {
	return fairqueue.New("keys", 100, workqueue.DefaultTypedControllerRateLimiter[string](), func(key string) string {
		namespace, _, namespaced := strings.Cut(key, "/")
		if !namespaced {
			return ""
		}
		return namespace
	})
}

// work takes keys until the queue is shut down.
func (h *house) work() {
	for {
		key, done := h.queue.Get()
		if done {
			return
		}
		h.Get(key)
		h.mu.Lock()
		h.looks[key] = append(h.looks[key], time.Since(h.start))
		h.mu.Unlock()
		h.queue.Done(key)
	}
}

func (h *house) looked(t *testing.T, key string, want ...time.Duration) {
	t.Helper()
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.Equal(h.looks[key], want) {
		t.Errorf("%s was looked at %v after the start, want %v", key, h.looks[key], want)
	}
}

// inHouse runs a test on a clock of its own; nothing may be left running when the queue is shut down.
func inHouse(t *testing.T, test func(*house)) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		h := newHouse()
		go h.work()
		test(h)
		h.queue.ShutDown()
	})
}

const ms = time.Millisecond

func TestASingleChangeIsLookedAtAtOnce(t *testing.T) {
	inHouse(t, func(h *house) {
		h.Enqueue(PriorityFleet, Change{}, "a")
		h.looked(t, "a", 0)
		time.Sleep(60 * ms)
		h.Enqueue(PriorityFleet, Change{}, "a")
		h.looked(t, "a", 0, 60*ms)
	})
}

// A thousand changes at once cost one look beside the first, and only the first of each went into the queue.
func TestManyChangesAtOnceCostOneLook(t *testing.T) {
	inHouse(t, func(h *house) {
		put := 0
		for range 1000 {
			put += h.Enqueue(PriorityFleet, Change{}, "a", "b")
			synctest.Wait()
		}
		time.Sleep(time.Minute)
		h.looked(t, "a", 0, 50*ms)
		h.looked(t, "b", 0, 50*ms)

		if put != 4 {
			t.Errorf("%d keys went into the queue, want 4", put)
		}
	})
}

// While a burst goes on, the intervals grow to half a second; after it, nothing holds up a single change again.
func TestIntervalsGrowWhileABurstGoesOn(t *testing.T) {
	inHouse(t, func(h *house) {
		for range 200 {
			h.Enqueue(PriorityFleet, Change{}, "a")
			time.Sleep(10 * ms)
		}
		time.Sleep(time.Minute)
		h.Enqueue(PriorityFleet, Change{}, "a")
		h.looked(t, "a", 0, 50*ms, 150*ms, 350*ms, 750*ms, 1250*ms, 1750*ms, 2250*ms, time.Minute+2000*ms)
	})
}

// Interactive before bulk: neither another key nor what somebody does to the key itself waits for a burst.
func TestABurstDelaysNobodyElse(t *testing.T) {
	inHouse(t, func(h *house) {
		for range 31 {
			h.Enqueue(PriorityFleet, Change{}, "a")
			time.Sleep(10 * ms)
		}
		h.Enqueue(PriorityUser, Change{}, "a")
		h.Enqueue(PriorityFleet, Change{}, "b")
		h.looked(t, "a", 0, 50*ms, 150*ms, 310*ms)
		h.looked(t, "b", 310*ms)
		// What was gathered so far has been seen; what comes after it waits to the end of the interval.
		h.Enqueue(PriorityFleet, Change{}, "a")
		time.Sleep(time.Minute)
		h.looked(t, "a", 0, 50*ms, 150*ms, 310*ms, 350*ms)
	})
}

// What happens after a key was taken wakes it again, whoever put it into the queue, and however early it was taken.
func TestNothingIsLostAfterAKeyIsTaken(t *testing.T) {
	inHouse(t, func(h *house) {
		h.Enqueue(PriorityFleet, Change{}, "a")
		h.looked(t, "a", 0)
		h.Enqueue(PriorityFleet, Change{}, "a") // Waits.
		h.queue.AddAfter("a", 10*ms)
		time.Sleep(20 * ms)
		h.looked(t, "a", 0, 10*ms)
		h.Enqueue(PriorityFleet, Change{}, "a")
		time.Sleep(time.Minute)
		h.looked(t, "a", 0, 10*ms, 50*ms)
	})
}

func TestKeysThatWaitEndWithTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.Enqueue(PriorityFleet, Change{}, "a")
		if !h.Busy() {
			t.Error("not busy with a key in the queue")
		}
		h.Get("a")
		h.Enqueue(PriorityFleet, Change{}, "a")
		h.queue.ShutDown()
		synctest.Wait()
		h.Enqueue(PriorityUser, Change{}, "a") // Goes nowhere, and waits for nobody.
	})
}

func TestAQueueThatIsNotThereYetIsBusy(t *testing.T) {
	if !NewPriorityQueue[string]().Busy() {
		t.Error("not busy before there is a queue")
	}
}

// Whatever the order of the wake-ups, keys are taken by the highest priority that each was woken with, and in turn within one.
func TestPrioritiesAreTakenInTheirOrder(t *testing.T) {
	priorities := []int{PriorityUser, PriorityFleet, PriorityInitial, PriorityRecheck}
	if !slices.IsSortedFunc(priorities, func(a, b int) int { return cmp.Compare(b, a) }) {
		t.Fatalf("the priorities are %v, want interactive before bulk before resync before doubt", priorities)
	}

	property.Check(t, func(t *rapid.T) {
		h := newHouse()
		defer h.queue.ShutDown()
		highest := map[string]int{}
		var order []string // by when the key got its priority

		for range rapid.IntRange(1, 30).Draw(t, "wake-ups") {
			key, priority := rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}).Draw(t, "key"), rapid.SampledFrom(priorities).Draw(t, "priority")
			h.Enqueue(priority, Change{}, key)
			if before, known := highest[key]; !known || before < priority {
				highest[key] = priority
				order = append(slices.DeleteFunc(order, func(other string) bool { return other == key }), key)
			}
		}
		slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(highest[b], highest[a]) })
		var taken []string

		for range order {
			key, priority, _ := h.queue.GetWithPriority()
			taken = append(taken, key)
			if priority != highest[key] {
				t.Errorf("%s has priority %d, want %d", key, priority, highest[key])
			}
		}
		if !slices.Equal(taken, order) || h.Busy() {
			t.Errorf("taken %v and busy %v, want %v and no more", taken, h.Busy(), order)
		}
	})
}

// A namespace that enqueues a thousand keys does not delay the key of another one.
func TestANamespaceDoesNotDelayOthers(t *testing.T) {
	h := newHouse()
	defer h.queue.ShutDown()
	for n := range 1000 {
		h.Enqueue(PriorityUser, Change{}, fmt.Sprintf("many/%d", n))
	}
	h.Enqueue(PriorityUser, Change{}, "one/a")

	for _, want := range []string{"many/0", "one/a", "many/1"} {
		if key, _ := h.queue.Get(); key != want {
			t.Errorf("taken %s, want %s", key, want)
		}
	}
}

// Whatever wakes a key, and however slowly it is looked at: after the last wake-up it is looked at again.
func TestEveryWakeUpIsFollowedByALook(t *testing.T) {
	property.Check(t, func(rt *rapid.T) {
		waits := rapid.SliceOfN(rapid.SampledFrom([]time.Duration{0, ms, 20 * ms, 50 * ms, 300 * ms}), 1, 30).Draw(rt, "waits")
		all := []int{PriorityUser, PriorityFleet, PriorityFleet, PriorityFleet, PriorityInitial, PriorityRecheck}
		priorities := rapid.SliceOfN(rapid.SampledFrom(all), len(waits), len(waits)).Draw(rt, "priorities")
		inHouse(t, func(h *house) {
			for n, wait := range waits {
				h.Enqueue(priorities[n], Change{}, "a")
				woken := time.Since(h.start)
				synctest.Wait()
				if priorities[n] == PriorityUser {
					h.lookedBetween(t, woken, woken)
				}
				time.Sleep(wait)
			}

			last := time.Since(h.start) - waits[len(waits)-1]
			time.Sleep(time.Minute)
			h.lookedBetween(t, last, last+longestBatchWindow)
		})
	})
}

func (h *house) lookedBetween(t *testing.T, from, to time.Duration) {
	t.Helper()
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.ContainsFunc(h.looks["a"], func(at time.Duration) bool { return from <= at && at <= to }) {
		t.Errorf("looked at %v after the start, want once between %v and %v", h.looks["a"], from, to)
	}
}

// BenchmarkWakeOfWhatIsQueued is what one change costs for each placement that it concerns, while a burst goes on.
func BenchmarkWakeOfWhatIsQueued(b *testing.B) {
	h := newHouse()
	defer h.queue.ShutDown()
	keys := []string{"team-a/payments", "team-a/standby", "team-b/training", "team-b/relay"}
	h.Enqueue(PriorityFleet, Change{}, keys...)
	for b.Loop() {
		h.Enqueue(PriorityFleet, Change{}, keys...)
	}
}
