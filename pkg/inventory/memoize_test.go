// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/selector"
	"github.com/placement-hub/placement-hub/test/property"
)

// regional returns a placement of ns that selects a region.
func regional(t *testing.T, name, region string) (Key, Dependencies) {
	t.Helper()
	predicate := compiled(t, selector.Spec{Labels: metav1.LabelSelector{MatchLabels: map[string]string{"region": region}}})
	return NewPlacementKey(V1beta1, "ns", name), Dependencies{Predicates: []*selector.Selector{predicate}}
}

// compiled returns the selector of a predicate.
func compiled(t *testing.T, spec selector.Spec) *selector.Selector {
	t.Helper()
	predicate, errs := selector.NewCompiler().Compile(selector.Paths{}, spec)
	if err := errs.ToAggregate(); err != nil {
		t.Fatal(err)
	}
	return predicate
}

// subscribeRegion subscribes a placement and takes a snapshot for it.
func (i *Inventory) subscribeRegion(t *testing.T, name, region string) (key Key, identity string) {
	t.Helper()
	key, dependencies := regional(t, name, region)
	i.Subscribe(key, dependencies)
	i.SnapshotFor(key)
	return key, RequestIdentity(dependencies.ClusterSets, dependencies.Predicates)
}

// TestMemoize checks that a result is computed once while two placements have the same request and nothing but decisions changes, and each
// time in all other cases.
func TestMemoize(t *testing.T) {
	for _, tc := range []struct {
		reason string
		happen func(t *testing.T, i *Inventory)
		finds  int
	}{
		{"no placement has the request", func(*testing.T, *Inventory) {}, 2},
		{"one placement has the request", func(t *testing.T, i *Inventory) { t.Helper(); i.subscribeRegion(t, "p", "eu") }, 2},
		{"two placements have the request", func(t *testing.T, i *Inventory) {
			t.Helper()
			i.subscribeRegion(t, "p", "eu")
			i.subscribeRegion(t, "q", "eu")
		}, 1},
		{"two placements have different requests", func(t *testing.T, i *Inventory) {
			t.Helper()
			i.subscribeRegion(t, "p", "eu")
			i.subscribeRegion(t, "q", "us")
		}, 2},
		{"one of two has unsubscribed", func(t *testing.T, i *Inventory) {
			t.Helper()
			key, _ := i.subscribeRegion(t, "p", "eu")
			i.subscribeRegion(t, "q", "eu")
			i.Unsubscribe(key)
		}, 2},
		{"one of two has another request now", func(t *testing.T, i *Inventory) {
			t.Helper()
			i.subscribeRegion(t, "p", "eu")
			i.subscribeRegion(t, "q", "eu")
			i.subscribeRegion(t, "q", "us")
		}, 2},
		{"one of three has unsubscribed", func(t *testing.T, i *Inventory) {
			t.Helper()
			key, _ := i.subscribeRegion(t, "p", "eu")
			i.subscribeRegion(t, "q", "eu")
			i.subscribeRegion(t, "r", "eu")
			i.Unsubscribe(key)
		}, 1},
		{"one placement updates its dependencies", func(t *testing.T, i *Inventory) {
			t.Helper()
			i.subscribeRegion(t, "p", "eu")
			key, dependencies := regional(t, "p", "eu")
			i.UpdateDependencies(key, dependencies)
		}, 2},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			i := New(selector.NewCompiler())
			tc.happen(t, i)
			_, dependencies := regional(t, "", "eu")
			identity, finds := RequestIdentity(nil, dependencies.Predicates), 0
			for range 2 {
				got := Memoize(i.Snapshot(), identity, "rest", func() int { finds++; return 7 }, func(int) int { return 8 })
				if got != 7 {
					t.Errorf("recalled %d, want 7", got)
				}
			}

			if finds != tc.finds {
				t.Errorf("found %d times, want %d", finds, tc.finds)
			}
		})
	}
}

// TestMemoizeDropsResults checks that a change of decisions keeps the results, and that any other change and the loss of one of two
// subscribers drop them. The size of a result contains that of its key.
func TestMemoizeDropsResults(t *testing.T) {
	for _, tc := range []struct {
		reason string
		happen func(i *Inventory, one Key)
		kept   int
	}{
		{"nothing", func(*Inventory, Key) {}, 2},
		{"decisions change", func(i *Inventory, _ Key) { i.SetDecision(decided("ns", "p-1", "p", "c1")) }, 2},
		{"a cluster comes", func(i *Inventory, _ Key) { i.SetCluster(managed("c1", "a")) }, 0},
		{"one placement goes", func(i *Inventory, one Key) { i.Unsubscribe(one) }, 0},
		{"one placement goes, and two are left", func(i *Inventory, one Key) {
			dependencies := i.subscribers.byKey[one].dependencies
			i.Subscribe(NewPlacementKey(V1beta1, "ns", "r"), dependencies)
			i.SnapshotFor(NewPlacementKey(V1beta1, "ns", "r"))
			i.Unsubscribe(one)
		}, 2},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			i := New(selector.NewCompiler())
			key, identity := i.subscribeRegion(t, "p", "eu")
			i.subscribeRegion(t, "q", "eu")
			rests := []string{"", "causes"}
			for _, rest := range rests {
				Memoize(i.Snapshot(), identity, rest, func() int { return 1 }, func(int) int { return 100 })
			}
			tc.happen(i, key)
			wantBytes := 0
			if tc.kept == len(rests) {
				wantBytes = len(rests)*(100+len(identity)) + len(strings.Join(rests, ""))
			}
			if got := i.results.recent.Len(); got != tc.kept || got != len(i.results.results[identity]) || i.results.bytes != wantBytes {
				t.Errorf("%d answers are kept in %d bytes, want %d in %d", got, i.results.bytes, tc.kept, wantBytes)
			}
			for _, name := range []string{"p", "q", "r"} {
				i.Unsubscribe(NewPlacementKey(V1beta1, "ns", name))
			}
			if len(i.requestCounts.counts) > 0 {
				t.Errorf("requests are counted after all placements have gone: %v", i.requestCounts.counts)
			}
		})
	}
}

// TestResultCacheStaysWithinTheLimit checks that for any sequence of requests and sizes the cache stays within its limit, accounts for its
// entries, and returns the right results.
func TestResultCacheStaysWithinTheLimit(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		s := newRequestCounts()
		snapshot := &Snapshot{results: newResultCache(s, 1000)}
		t.Repeat(map[string]func(*rapid.T){
			"subscribe": func(t *rapid.T) { s.add(rapid.StringOfN(rapid.RuneFrom([]rune("ab")), 1, 2, -1).Draw(t, "identity")) },
			"unsubscribe": func(t *rapid.T) {
				if identity := rapid.StringOfN(rapid.RuneFrom([]rune("ab")), 1, 2, -1).Draw(t, "identity"); s.counts[identity] > 0 {
					s.remove(identity, snapshot.results)
				}
			},
			"ask": func(t *rapid.T) {
				identity := rapid.StringOfN(rapid.RuneFrom([]rune("ab")), 1, 2, -1).Draw(t, "identity")
				rest := rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "rest")
				size := rapid.IntRange(0, 1200).Draw(t, "size")
				want := identity + "/" + rest
				if got := Memoize(snapshot, identity, rest, func() string { return want }, func(string) int { return size }); got != want {
					t.Fatalf("asked for %q, got %q", want, got)
				}
			},
			"": func(t *rapid.T) {
				bytes, entries := 0, 0
				for identity, answers := range snapshot.results.results {
					if s.counts[identity] < minSubscribers {
						t.Fatalf("a result for %d subscribers is kept", s.counts[identity])
					}
					for _, known := range answers {
						bytes += entryOf(known).bytes
						entries++
					}
				}

				if bytes != snapshot.results.bytes || entries != snapshot.results.recent.Len() || bytes > snapshot.results.limit {
					t.Fatalf("%d answers of %d bytes are kept, the books say %d of %d", entries, bytes, snapshot.results.recent.Len(),
						snapshot.results.bytes)
				}
			},
		})
	})
}

// TestResultCacheIsUsedUpToTheLimit checks that results whose total is the limit are kept, and that the next one drops the least recently used one.
func TestResultCacheIsUsedUpToTheLimit(t *testing.T) {
	counts := newRequestCounts()
	for range minSubscribers {
		counts.add("id")
	}
	s, finds := &Snapshot{results: newResultCache(counts, 2*(100+len("id")+len("1")))}, 0
	for _, step := range []struct {
		reason, rest string
		finds        int
	}{
		{"the first", "1", 1}, {"the second, up to the limit", "2", 2}, {"the first is kept", "1", 2},
		{"the third, over the limit", "3", 3}, {"the first is kept still", "1", 3}, {"the second was dropped", "2", 4},
	} {
		Memoize(s, "id", step.rest, func() int { finds++; return 1 }, func(int) int { return 100 })
		if finds != step.finds {
			t.Errorf("%s: found %d times, want %d", step.reason, finds, step.finds)
		}
	}
}

// TestMemoizeConcurrently checks that concurrent callers wait for one result, while subscribers come and go.
func TestMemoizeConcurrently(t *testing.T) {
	const askers = 8
	i := New(selector.NewCompiler())
	var identity string
	for n := range askers {
		_, identity = i.subscribeRegion(t, fmt.Sprintf("p%d", n), "eu")
	}
	var (
		finds int
		done  sync.WaitGroup
	)

	for n := range askers {
		done.Go(func() {
			Memoize(i.Snapshot(), identity, "", func() int { finds++; return 1 }, func(int) int { return 1 })
			if n >= minSubscribers {
				i.Unsubscribe(NewPlacementKey(V1beta1, "ns", fmt.Sprintf("p%d", n)))
			}
		})
	}
	done.Wait()

	if finds != 1 {
		t.Errorf("found %d times, want once", finds)
	}
}
