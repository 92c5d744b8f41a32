package inventory

import (
	"fmt"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/selector"
)

// asking is a placement of ns that asks for a region.
func asking(t *testing.T, name, region string) (PlacementKey, Dependencies) {
	t.Helper()

	predicate, errs := selector.NewCompiler().Compile(selector.Paths{}, selector.Spec{
		Labels: metav1.LabelSelector{MatchLabels: map[string]string{"region": region}},
	})
	if err := errs.ToAggregate(); err != nil {
		t.Fatal(err)
	}

	return NewPlacementKey(V1beta1, "ns", name), Dependencies{Predicates: []*selector.Selector{predicate}}
}

// subscribe makes a placement known and takes a snapshot for it.
func (i *Inventory) subscribe(t *testing.T, name, region string) (key PlacementKey, identity string) {
	t.Helper()

	key, dependencies := asking(t, name, region)
	i.Subscribe(key, dependencies)
	i.SnapshotFor(key)

	return key, RequestIdentity(dependencies.ClusterSets, dependencies.Predicates)
}

// An answer is found once for as long as two placements ask for it and the world is the same, and anew in all other cases.
func TestRecall(t *testing.T) {
	for _, tc := range []struct {
		reason string
		happen func(t *testing.T, i *Inventory)
		finds  int
	}{
		{"nobody asks but once", func(*testing.T, *Inventory) {}, 2},
		{"one placement asks", func(t *testing.T, i *Inventory) { t.Helper(); i.subscribe(t, "p", "eu") }, 2},
		{"two placements ask", func(t *testing.T, i *Inventory) {
			t.Helper()
			i.subscribe(t, "p", "eu")
			i.subscribe(t, "q", "eu")
		}, 1},
		{"two placements ask something else", func(t *testing.T, i *Inventory) {
			t.Helper()
			i.subscribe(t, "p", "eu")
			i.subscribe(t, "q", "us")
		}, 2},
		{"one of two is gone", func(t *testing.T, i *Inventory) {
			t.Helper()

			key, _ := i.subscribe(t, "p", "eu")
			i.subscribe(t, "q", "eu")
			i.Unsubscribe(key)
		}, 2},
		{"one of two asks something else now", func(t *testing.T, i *Inventory) {
			t.Helper()
			i.subscribe(t, "p", "eu")
			i.subscribe(t, "q", "eu")
			i.subscribe(t, "q", "us")
		}, 2},
		{"one placement is followed further", func(t *testing.T, i *Inventory) {
			t.Helper()
			i.subscribe(t, "p", "eu")
			key, dependencies := asking(t, "p", "eu")
			i.UpdateDependencies(key, dependencies)
		}, 2},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			i := New(selector.NewCompiler())
			tc.happen(t, i)

			_, dependencies := asking(t, "", "eu")
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

// A change of decisions keeps what was found, any other change and the loss of a subscriber do not.
func TestRecallForgets(t *testing.T) {
	for _, tc := range []struct {
		reason string
		happen func(i *Inventory, one PlacementKey)
		kept   int
	}{
		{"nothing", func(*Inventory, PlacementKey) {}, 2},
		{"decisions change", func(i *Inventory, _ PlacementKey) { i.SetDecision(decided("ns", "p-1", "p", "c1")) }, 2},
		{"a cluster comes", func(i *Inventory, _ PlacementKey) { i.SetCluster(managed("c1", "a")) }, 0},
		{"one placement goes", func(i *Inventory, one PlacementKey) { i.Unsubscribe(one) }, 0},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			i := New(selector.NewCompiler())
			key, identity := i.subscribe(t, "p", "eu")
			i.subscribe(t, "q", "eu")

			for _, rest := range []string{"", "causes"} {
				Memoize(i.Snapshot(), identity, rest, func() int { return 1 }, func(int) int { return 100 })
			}

			tc.happen(i, key)

			if got := i.results.recent.Len(); got != tc.kept || got != len(i.results.results[identity]) || got == 0 && i.results.bytes != 0 {
				t.Errorf("%d answers are kept in %d bytes, want %d answers", got, i.results.bytes, tc.kept)
			}
		})
	}
}

// Whatever is asked and however large the answers are, the cache stays within its limit, its books are right, and every answer is right.
func TestAnswersStayWithinTheLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSubscribers()
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
						t.Fatalf("an answer for %d subscribers is kept", s.counts[identity])
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

// Placements that ask at the same time wait for one answer, while others come and go.
func TestRecallAtOnce(t *testing.T) {
	const askers = 8

	i := New(selector.NewCompiler())

	var identity string
	for n := range askers {
		_, identity = i.subscribe(t, fmt.Sprintf("p%d", n), "eu")
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
