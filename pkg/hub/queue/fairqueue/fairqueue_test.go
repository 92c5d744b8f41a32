// SPDX-License-Identifier: Apache-2.0

package fairqueue

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/placement-hub/placement-hub/test/property"
)

const ms = time.Millisecond

// workers is the number of workers of a queue, of which one namespace gets three.
const workers = 6

func newQueue(name string) *Queue[string] {
	return New(name, workers, limiter(), namespaceOf)
}

func limiter() workqueue.TypedRateLimiter[string] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*ms, time.Second)
}

func namespaceOf(key string) string {
	namespace, _, _ := strings.Cut(key, "/")
	return namespace
}

func at(priority int) priorityqueue.AddOpts { return priorityqueue.AddOpts{Priority: ptr.To(priority)} }

// world is what a queue has to know, in a plain form.
type world struct {
	priorities map[string]int // of the keys in the queue
	order      []string       // of the keys in the queue, by when each got its priority
	processing map[string]struct{}
	// served has, for each priority and namespace with keys that may be taken, the namespaces that had a turn since it waits.
	served map[string]map[string]struct{}
}

func (w *world) add(key string, priority int) {
	if before, known := w.priorities[key]; known && before >= priority {
		return
	}
	w.priorities[key] = priority
	w.order = append(slices.DeleteFunc(w.order, func(other string) bool { return other == key }), key)
}

// available returns the keys that may be taken: those that are not processed, of namespaces that have fewer workers than are free.
func (w *world) available() []string {
	busy := map[string]int{}
	for key := range w.processing {
		busy[namespaceOf(key)]++
	}
	return slices.DeleteFunc(slices.Clone(w.order), func(key string) bool {
		_, is := w.processing[key]
		return is || busy[namespaceOf(key)] > 0 && busy[namespaceOf(key)] >= workers-len(w.processing)
	})
}

func (w *world) turn(key string) string {
	return fmt.Sprintf("%s at %d", namespaceOf(key), w.priorities[key])
}

// take checks that a key may be taken now, and takes it.
func (w *world) take(t *rapid.T, got string, priority int) {
	could := w.available()
	if want := w.priorities[got]; priority != want || !slices.Contains(could, got) {
		t.Fatalf("got %s of priority %d, want one of %v, and %d", got, priority, could, want)
	}
	turns := map[string]struct{}{}

	for _, other := range could {
		switch {
		case w.priorities[other] > priority:
			t.Fatalf("got %s of priority %d before %s of %d", got, priority, other, w.priorities[other])
		case w.priorities[other] == priority && namespaceOf(other) != namespaceOf(got):
			turns[w.turn(other)] = struct{}{}
		}
	}

	for other := range turns {
		if _, again := w.served[other][namespaceOf(got)]; again {
			t.Fatalf("namespace %s has another turn while %s waits", namespaceOf(got), other)
		}
		if w.served[other] == nil {
			w.served[other] = map[string]struct{}{}
		}
		w.served[other][namespaceOf(got)] = struct{}{}
	}

	same := func(key string) bool { return w.turn(key) == w.turn(got) }
	if first := could[slices.IndexFunc(could, same)]; first != got {
		t.Fatalf("got %s before %s", got, first)
	}
	delete(w.served, w.turn(got))
	delete(w.priorities, got)
	w.order = slices.DeleteFunc(w.order, func(other string) bool { return other == got })
	w.processing[got] = struct{}{}
}

// forget drops the turns of the namespaces that do not wait.
func (w *world) forget() {
	could := w.available()
	maps.DeleteFunc(w.served, func(turn string, _ map[string]struct{}) bool {
		return !slices.ContainsFunc(could, func(key string) bool { return w.turn(key) == turn })
	})
}

// TestNamespacesTakeTurns checks for any adds, gets and dones that the highest priority goes first, that no namespace gets two turns at a
// priority while another one waits there, and that the keys of a namespace are taken in their order.
func TestNamespacesTakeTurns(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		q := newQueue("turns")
		defer q.ShutDown()
		w := &world{priorities: map[string]int{}, processing: map[string]struct{}{}, served: map[string]map[string]struct{}{}}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				key := rapid.StringMatching("[abc]/[1234]").Draw(t, "key")
				priority := rapid.IntRange(0, 1).Draw(t, "priority")
				q.AddWithOpts(at(priority), key)
				w.add(key, priority)
			},
			"get": func(t *rapid.T) {
				if len(w.available()) == 0 {
					t.Skip("nothing to get")
				}
				key, priority, _ := q.GetWithPriority()
				w.take(t, key, priority)
			},
			"done": func(t *rapid.T) {
				if len(w.processing) == 0 {
					t.Skip("nothing is processed")
				}
				key := rapid.SampledFrom(slices.Sorted(maps.Keys(w.processing))).Draw(t, "key")
				q.Done(key)
				delete(w.processing, key)
			},
			"": func(t *rapid.T) {
				w.forget()
				if q.Len() != len(w.order) {
					t.Fatalf("the length is %d, want %d", q.Len(), len(w.order))
				}
			},
		})
	})
}

// TestOneNamespaceLeavesWorkersFree checks that a key of another namespace finds a worker at once, whatever the number of keys of the first ones.
func TestOneNamespaceLeavesWorkersFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New("busy", 32, limiter(), namespaceOf)
		defer q.ShutDown()
		taken := make(chan string, 100)
		for range 32 {
			go func() {
				if key, shutdown := q.Get(); !shutdown {
					taken <- key
				}
			}()
		}
		for n := range 64 {
			q.Add(fmt.Sprintf("attacker/%d", n))
		}
		synctest.Wait()
		if len(taken) != 16 {
			t.Fatalf("one namespace has %d workers of 32, want half", len(taken))
		}
		q.Add("tenant/a")
		synctest.Wait()
		if len(taken) != 17 {
			t.Fatal("the key of another namespace waits")
		}

		q.Done(<-taken)
		synctest.Wait()
		if len(taken) != 17 {
			t.Errorf("%d keys are taken after one was done, want the next one of the namespace", len(taken))
		}
	})
}

// TestKeysOfOneNamespaceAreTakenAsByControllerRuntime checks that with one namespace, for any adds with priorities and delays, the queue
// hands out the same keys at the same times as the queue of controller-runtime.
func TestKeysOfOneNamespaceAreTakenAsByControllerRuntime(t *testing.T) {
	property.Check(t, func(rt *rapid.T) {
		type step struct {
			key      string
			priority int
			after    time.Duration
			limited  bool
			kind     int
			wait     time.Duration
		}

		steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
			return step{
				key: rapid.StringMatching("ns/[123]").Draw(t, "key"), priority: rapid.IntRange(0, 2).Draw(t, "priority"),
				after:   rapid.SampledFrom([]time.Duration{0, 0, 10 * ms, 15 * ms, 50 * ms}).Draw(t, "after"),
				limited: rapid.IntRange(0, 4).Draw(t, "limited") == 0,
				kind:    rapid.IntRange(0, 4).Draw(t, "kind"), wait: rapid.SampledFrom([]time.Duration{ms, 20 * ms}).Draw(t, "wait"),
			}
		}), 1, 40).Draw(rt, "steps")

		// run returns the keys that are taken, with their priorities and the step, and the length after each step.
		run := func(create func() priorityqueue.PriorityQueue[string]) (taken []string) {
			synctest.Test(t, func(*testing.T) {
				q := create()
				defer q.ShutDown()
				processing := map[string]struct{}{}
				for n, s := range steps {
					switch {
					case s.kind < 3:
						q.AddWithOpts(priorityqueue.AddOpts{Priority: &s.priority, After: s.after, RateLimited: s.limited}, s.key)
					case s.kind == 3:
						q.Done(s.key)
						delete(processing, s.key)
					default:
						synctest.Wait()
						if _, is := processing[s.key]; q.Len() > 0 && !is && len(processing) == 0 {
							key, priority, _ := q.GetWithPriority()
							processing[key] = struct{}{}
							taken = append(taken, fmt.Sprintf("%d: %s of %d", n, key, priority))
						}
					}

					time.Sleep(s.wait)
					synctest.Wait()
					taken = append(taken, fmt.Sprintf("%d: length %d", n, q.Len()))
				}
			})

			return taken
		}

		theirs := run(func() priorityqueue.PriorityQueue[string] {
			return priorityqueue.New("theirs", func(o *priorityqueue.Opts[string]) { o.RateLimiter = limiter() })
		})
		ours := run(func() priorityqueue.PriorityQueue[string] { return newQueue("ours") })
		if diff := cmp.Diff(theirs, ours); diff != "" {
			rt.Fatalf("taken (-by the queue of controller-runtime +by ours):\n%s", diff)
		}
	})
}

// TestShutDownEndsGet checks that a Get that waits ends with the queue, and that nothing is added afterwards.
func TestShutDownEndsGet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue("end")
		ended := make(chan bool)
		go func() {
			_, shutdown := q.Get()
			ended <- shutdown
		}()
		synctest.Wait()
		q.AddAfter("ns/later", time.Second)
		q.ShutDown()
		q.Add("ns/a")

		if !<-ended || !q.ShuttingDown() || q.Len() != 0 {
			t.Errorf("shutting down %v with %d keys, want a shutdown without keys", q.ShuttingDown(), q.Len())
		}
	})
}

// TestSeriesAreThoseOfControllerRuntime checks the series of a queue in the registry of controller-runtime.
func TestSeriesAreThoseOfControllerRuntime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue("series")
		defer q.ShutDown()
		q.AddWithOpts(at(100), "ns/a", "ns/b")
		q.AddWithOpts(at(0), "ns/c")
		q.AddWithOpts(at(100), "ns/c")
		q.AddAfter("ns/d", time.Hour)
		time.Sleep(time.Second)
		key, _ := q.Get()
		time.Sleep(3 * time.Second)
		synctest.Wait() // The series of unfinished work are written at the same moment.
		const labels = `controller="series",name="series"`

		want := map[string]float64{
			`workqueue_depth{` + labels + `,priority="100"}`:              2,
			`workqueue_depth{` + labels + `,priority="0"}`:                0,
			`workqueue_adds_total{` + labels + `}`:                        3,
			`workqueue_retries_total{` + labels + `}`:                     1,
			`workqueue_unfinished_work_seconds{` + labels + `}`:           3,
			`workqueue_longest_running_processor_seconds{` + labels + `}`: 3,
			`workqueue_queue_duration_seconds{` + labels + `}`:            1,
			`workqueue_work_duration_seconds{` + labels + `}`:             0,
		}
		if diff := cmp.Diff(want, seriesOf(t, labels)); diff != "" {
			t.Errorf("series (-want +got):\n%s", diff)
		}

		q.Done(key)
		time.Sleep(time.Second)
		synctest.Wait()
		want[`workqueue_unfinished_work_seconds{`+labels+`}`], want[`workqueue_longest_running_processor_seconds{`+labels+`}`] = 0, 0
		want[`workqueue_work_duration_seconds{`+labels+`}`] = 1
		if diff := cmp.Diff(want, seriesOf(t, labels)); diff != "" {
			t.Errorf("series after Done (-want +got):\n%s", diff)
		}
	})
}

// seriesOf returns the values of the series whose labels begin with labels, and the counts of histograms.
func seriesOf(t *testing.T, labels string) map[string]float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}

	for _, family := range families {
		for _, metric := range family.GetMetric() {
			texts := make([]string, 0, len(metric.GetLabel()))
			for _, label := range metric.GetLabel() {
				texts = append(texts, fmt.Sprintf("%s=%q", label.GetName(), label.GetValue()))
			}
			if text := strings.Join(texts, ","); strings.HasPrefix(text, labels) {
				values[family.GetName()+"{"+text+"}"] = metric.GetGauge().GetValue() + metric.GetCounter().GetValue() +
					float64(metric.GetHistogram().GetSampleCount())
			}
		}
	}

	return values
}

// BenchmarkAddAndGet measures a key of one of many namespaces while there are many keys.
func BenchmarkAddAndGet(b *testing.B) {
	q := newQueue("benchmark")
	defer q.ShutDown()
	for n := range 100_000 {
		q.Add(fmt.Sprintf("ns-%d/%d", n%100, n))
	}
	for b.Loop() {
		key, _ := q.Get()
		q.Done(key)
		q.Add(key)
	}
}
