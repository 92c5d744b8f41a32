// SPDX-License-Identifier: Apache-2.0

package history

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/test/property"
)

func moveOf(namespace, name string, at int, lost ...string) *Move {
	return &Move{
		Time: time.Unix(int64(at), 0), Namespace: namespace, Kind: "Placement", Name: name, UID: namespace + "-" + name, Lost: lost,
	}
}

// docs/spec/history.md HI2: the rows never take more bytes than the limit, and their count of bytes is the sum of their sizes.
func TestHI2BytesStayBelowTheLimit(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(0, 20000).Draw(t, "limit")
		ring := NewRing(limit)
		for i := range rapid.IntRange(1, 200).Draw(t, "moves") {
			namespace := rapid.SampledFrom([]string{"a", "b", "c", "team-with-a-long-name"}).Draw(t, "namespace")
			lost := make([]string, rapid.IntRange(0, 60).Draw(t, "clusters"))
			for j := range lost {
				lost[j] = fmt.Sprintf("cluster-%03d", j)
			}
			move := moveOf(namespace, "p", i, lost...)
			added := ring.Add(move)
			if ring.Bytes() > limit {
				t.Fatalf("%d bytes after %d moves, the limit is %d", ring.Bytes(), i+1, limit)
			}
			all, more := ring.Find(Query{})
			if more || !added && slices.Contains(all, move) {
				t.Fatalf("a move that is too large is kept")
			}
			sum := 0
			for namespace, of := range ring.moves.tenants {
				sum += tenantSize + len(namespace)
				for move := range ring.moves.Of(namespace) {
					sum += rowSize + move.Size()
				}
				if of.first == len(of.rows) {
					t.Fatalf("namespace %s is kept without rows", namespace)
				}
			}
			if sum != ring.Bytes() {
				t.Fatalf("%d bytes are counted, the moves take %d", ring.Bytes(), sum)
			}
		}
	})
}

// docs/spec/history.md HI3: a namespace below its fair share keeps its rows while others change all the time.
func TestHI3AQuietNamespaceKeepsItsRows(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		noisy := rapid.IntRange(1, 5).Draw(t, "noisy namespaces")
		const limit = 40000
		ring, kept := NewRing(limit), []*Move(nil)
		quiet := tenantSize + len("quiet")
		for i := range 3000 {
			if rapid.IntRange(0, 99).Draw(t, "who") == 0 {
				move := moveOf("quiet", "p", i, "c1")
				if share := limit / (noisy + 1); quiet+rowSize+move.Size() <= share-1000 {
					kept, quiet = append(kept, move), quiet+rowSize+move.Size()
					ring.Add(move)
				}
			}
			ring.Add(moveOf(fmt.Sprintf("noisy-%d", i%noisy), "flapping", i, "c1", "c2"))
		}
		if got, _ := ring.Find(Query{Namespace: "quiet"}); !slices.Equal(got, kept) {
			t.Fatalf("%d of %d moves of the quiet namespace are left", len(got), len(kept))
		}
	})
}

// docs/spec/history.md HI2: the count of bytes is honest. Every text of a move is its own here.
func TestHI2TheHeapGrowsByNoMoreThanTheLimit(t *testing.T) {
	const limit = 8 << 20
	heap := func() uint64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	before, ring := heap(), NewRing(limit)
	for i := range 40000 {
		own := func(text string) string { return strings.Clone(fmt.Sprintf("%s-%d", text, i)) }
		move := moveOf(fmt.Sprintf("team-%d", i%50), own("placement"), i)
		for j := range i % 10 {
			move.Gained = append(move.Gained, own(fmt.Sprintf("cluster-%d", j)))
		}
		move.Reasons = []Reason{{Cluster: own("cluster"), Text: own("taint maintenance:NoSelect is not tolerated")}}
		move.Causes = []Cause{{Kind: own("ManagedCluster"), Name: own("cluster"), Field: own("spec.taints[x:NoSelect]"), New: own("v")}}
		ring.Add(move)
	}
	if grown := int64(heap()) - int64(before); grown > limit*105/100 { // The heap of the test itself changes too.
		t.Errorf("the heap has grown by %d bytes with a limit of %d", grown, limit)
	}
	if ring.Bytes() < limit*95/100 {
		t.Errorf("only %d bytes of %d are used", ring.Bytes(), limit)
	}
	runtime.KeepAlive(ring)
}

func TestFind(t *testing.T) {
	ring := NewRing(1 << 20)
	for i, move := range []*Move{
		moveOf("a", "p", 1, "c1"), moveOf("b", "p", 2, "c1", "c2"), moveOf("a", "q", 3, "c2"), moveOf("a", "p", 4, "c3"),
	} {
		if !ring.Add(move) {
			t.Fatalf("move %d was not added", i)
		}
	}
	named := func(name string) func(Object) bool { return func(object Object) bool { return object.Name == name } }
	for _, tc := range []struct {
		reason string
		query  Query
		want   []int64
		more   bool
	}{
		{reason: "all", want: []int64{1, 2, 3, 4}},
		{reason: "a namespace", query: Query{Namespace: "a"}, want: []int64{1, 3, 4}},
		{reason: "a namespace without moves", query: Query{Namespace: "c"}},
		{reason: "an object", query: Query{Namespace: "a", Has: named("p")}, want: []int64{1, 4}},
		{reason: "a cluster", query: Query{Clusters: []string{"c2"}}, want: []int64{2, 3}},
		{reason: "one of several clusters", query: Query{Clusters: []string{"c2", "c3"}}, want: []int64{2, 3, 4}},
		{reason: "a time", query: Query{Since: time.Unix(3, 0)}, want: []int64{3, 4}},
		{reason: "the latest", query: Query{Limit: 2}, want: []int64{3, 4}, more: true},
		{reason: "the latest of a namespace", query: Query{Namespace: "a", Limit: 2}, want: []int64{3, 4}, more: true},
		{reason: "as many as there are", query: Query{Limit: 4}, want: []int64{1, 2, 3, 4}},
	} {
		moves, more := ring.Find(tc.query)
		var got []int64
		for _, move := range moves {
			got = append(got, move.Time.Unix())
		}
		if diff := cmp.Diff(tc.want, got); diff != "" || more != tc.more {
			t.Errorf("%s: more %v (-want +got):\n%s", tc.reason, more, diff)
		}
	}
	if last := ring.Last("a", "a-p"); last.Unix() != 4 {
		t.Errorf("the last move of a/p was at %s", last)
	}
	if last := ring.Last("a", "nobody"); !last.IsZero() {
		t.Errorf("the last move of an object without one was at %s", last)
	}
}

func TestSentence(t *testing.T) {
	taint := Cause{Kind: "ManagedCluster", Name: "eu2", Action: Added, What: "taint maintenance:NoSelect", Manager: "kubectl-edit"}
	many := make([]string, 12)
	for i := range many {
		many[i] = fmt.Sprintf("c%02d", i)
	}
	for _, tc := range []struct {
		move Move
		want string
	}{
		{
			Move{Lost: []string{"eu2"}, Gained: []string{"us2"}, Causes: []Cause{taint}},
			"lost eu2, gained us2: ManagedCluster eu2 taint maintenance:NoSelect added by kubectl-edit",
		},
		{
			Move{Lost: []string{"eu2"}, Gained: []string{"us2"}, Reasons: []Reason{
				{"eu2", "ManagedCluster is deleted"}, {"us2", "rank 2, score 87"},
			}},
			"lost eu2 (ManagedCluster is deleted), gained us2 (rank 2, score 87)",
		},
		{Move{Gained: many}, "gained c00, c01, c02, c03, c04, c05, c06, c07, c08, c09 and 2 more"},
		{
			Move{Lost: []string{"c7"}, Causes: []Cause{{
				Kind: "ManagedCluster", Name: "c7", Action: Changed, What: "label region", Old: "eu", New: "us",
			}}, HiddenCauses: 1},
			"lost c7: ManagedCluster c7 label region changed from eu to us; a change of an object that this user may not read",
		},
		{Move{Lost: []string{"c7"}, HiddenCauses: 2}, "lost c7: 2 changes of objects that this user may not read"},
		{
			Move{Lost: []string{"c7"}, Causes: []Cause{taint, taint, taint, taint, {Kind: "Placement", Namespace: "a", Name: "p", Action: Deleted}}},
			"lost c7: " + strings.Repeat("ManagedCluster eu2 taint maintenance:NoSelect added by kubectl-edit; ", 3) + "2 more",
		},
		{
			Move{Lost: []string{"c7"}, Causes: []Cause{{Kind: "Placement", Namespace: "a", Name: "p", Action: Deleted}}},
			"lost c7: Placement a/p deleted",
		},
	} {
		if got := tc.move.Sentence(); got != tc.want {
			t.Errorf("got  %s\nwant %s", got, tc.want)
		}
	}
}
