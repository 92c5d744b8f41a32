// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/history"
	"github.com/placement-hub/placement-hub/test/property"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// row returns a row of a Placement of a namespace, the number of which is its resourceVersion, with clusters that make it longer.
func row(namespace string, number, clusters int) *history.Move {
	move := &history.Move{
		Time: start.Add(time.Duration(number) * time.Second), Namespace: namespace, Kind: "Placement", Name: "p", UID: "uid-" + namespace,
		ResourceVersion: strconv.Itoa(number),
	}
	for i := range clusters {
		move.Gained = append(move.Gained, fmt.Sprintf("cluster-%04d", i))
	}
	return move
}

// HI13: rows of namespaces are written in any order. The shards stay within their bounds, every row that is kept is in exactly one
// shard, and a namespace below its fair share loses none.
func TestHI13LogKeepsFairShares(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		memory := rapid.IntRange(20000, 60000).Draw(t, "memory")
		l := newLog(memory)
		quiet := 0
		for number := 1; number <= 400; number++ {
			namespace, clusters := rapid.SampledFrom([]string{"noisy", "loud"}).Draw(t, "namespace"), rapid.IntRange(0, 80).Draw(t, "clusters")
			if number%50 == 0 {
				namespace, clusters = "quiet", 2
				quiet++
			}
			of, err := encode(row(namespace, number, clusters))
			if err != nil {
				t.Fatal(err)
			}
			l.add(of)
			if rapid.Bool().Draw(t, "written") {
				writeAll(t, l)
			}
		}
		writeAll(t, l)

		if len(l.shards) > mostShards || l.bytes() > l.limit+mostRow {
			t.Fatalf("%d shards with %d bytes", len(l.shards), l.bytes())
		}
		found := map[identity]int{}
		for _, of := range l.shards {
			for _, each := range live(of.entries) {
				found[each.identity]++
			}
		}
		kept := 0
		for _, namespace := range []string{"noisy", "loud", "quiet"} {
			for of := range l.kept.Of(namespace) {
				kept++
				if found[of.identity] != 1 {
					t.Fatalf("the row %s of %s is in %d shards", of.resourceVersion, namespace, found[of.identity])
				}
			}
		}
		if kept != len(found) {
			t.Fatalf("%d rows are kept, and shards have %d", kept, len(found))
		}
		if got := len(slices.Collect(l.kept.Of("quiet"))); got != quiet {
			t.Fatalf("%d rows of the quiet namespace are left of %d", got, quiet)
		}
	})
}

// writeAll writes all that is pending, and fails if that does not end.
func writeAll(t *rapid.T, l *log) {
	for range 3 * mostShards {
		next, some := l.next()
		if !some {
			return
		}
		if next.created == l.taken[next.name] {
			t.Fatalf("the name %s: created %v, and taken %v", next.name, next.created, l.taken[next.name])
		}
		if len(next.entries) > 1 && bytesOf(next.entries) > l.shardSize {
			t.Fatalf("a shard of %d rows has %d bytes, and the most is %d", len(next.entries), bytesOf(next.entries), l.shardSize)
		}
		l.done(next, "1")
		if next.goes != 0 {
			l.gone(next.goes)
		}
	}
	t.Fatal("the writes do not end")
}

func TestHI12OneWriteForABatch(t *testing.T) {
	l := newLog(MaxBytes)
	for number := range 100 {
		of, err := encode(row("team", number+1, 2))
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // The second time it waits already.
			if !l.add(of) {
				t.Fatal("a row was refused")
			}
		}
	}
	next, some := l.next()
	if !some || !next.created || next.number != 1 || len(next.entries) != 100 || next.goes != 0 {
		t.Fatalf("first write: %+v", next)
	}
	late, err := encode(row("team", 200, 2))
	if err != nil {
		t.Fatal(err)
	}
	l.add(late) // While the write is under way.
	l.done(next, "5")
	next, some = l.next()
	if !some || next.created || next.number != 1 || len(next.entries) != 101 || next.entries[100] != late {
		t.Fatalf("second write: created %v, number %d, %d entries", next.created, next.number, len(next.entries))
	}
	l.done(next, "6")
	if _, some := l.next(); some {
		t.Error("something is to be written without a new row")
	}
}

func TestHI13RowsThatAreTooLargeOrTooOld(t *testing.T) {
	l := newLog(MaxBytes)
	large := row("team", 1, 0)
	large.Gained = []string{strings.Repeat("x", mostRow)}
	of, err := encode(large)
	if err != nil {
		t.Fatal(err)
	}
	if l.add(of) {
		t.Error("a row that is larger than a ConfigMap is kept")
	}
	for number := 1; number <= 2000; number++ { // Several shards.
		of, err := encode(row("team", number, 10))
		if err != nil {
			t.Fatal(err)
		}
		l.add(of)
	}
	for next, some := l.next(); some; next, some = l.next() {
		l.done(next, "1")
	}
	all := len(l.shards)
	if all < 3 || len(l.old(start)) != 0 || len(l.old(start.Add(time.Hour))) != all {
		t.Fatalf("%d shards, of which %d are older than the first row and %d older than the last",
			all, len(l.old(start)), len(l.old(start.Add(time.Hour))))
	}
	if old := l.old(start.Add(1000 * time.Second)); len(old) == 0 || len(old) >= all {
		t.Errorf("half of the rows are older, and of %d shards %v", all, old)
	}
}
