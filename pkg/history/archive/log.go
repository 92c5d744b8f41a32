// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/placement-hub/placement-hub/pkg/history"
)

const (
	// slots is how many names the ConfigMaps have, and mostShards bounds those that are there: another is made before the oldest goes.
	slots      = 64
	mostShards = slots - 1
	// mostRow bounds the bytes of a row: a ConfigMap has at most 1 MiB.
	mostRow = 900 << 10
	// entrySize is what an entry takes in memory beside its line.
	entrySize = 96
)

// log has the rows of the shards that are kept, and decides what is written next. It is not safe for concurrent use.
type log struct {
	// limit bounds the bytes of all shards, and shardSize those of one with more than one row.
	limit, shardSize int
	kept             *history.Shares[*entry]
	// pending are to be written, in the order of their times.
	pending []*entry
	waiting map[identity]bool
	shards  map[int]*shard
	// highest is the greatest number that a shard has had.
	highest int
	// taken are the names that have a ConfigMap.
	taken map[string]bool
}

// entry is a row with its line in a shard. The line of a row that is not kept any more is empty: it stays in the ConfigMap until that is written or
// goes.
type entry struct {
	identity

	namespace, line string
	time            time.Time
}

func (e *entry) dropped() bool { return e.line == "" }

// shard is what a ConfigMap has.
type shard struct {
	name, resourceVersion string
	entries               []*entry
	bytes                 int
}

// newLog returns a log without rows that takes at most a number of bytes of memory.
func newLog(memory int) *log {
	kept := history.NewShares[*entry](memory)
	kept.Dropped = func(of *entry) { of.line = "" }
	return &log{
		limit: 2 * memory, shardSize: 2 * memory / slots, kept: kept, waiting: map[identity]bool{}, shards: map[int]*shard{},
		taken: map[string]bool{},
	}
}

// encode returns the entry of a row.
func encode(move *history.Move) (*entry, error) {
	line, err := json.Marshal(move)
	if err != nil {
		return nil, fmt.Errorf("encoding a row of the history: %w", err)
	}
	return newEntry(move, string(line)), nil
}

func newEntry(move *history.Move, line string) *entry {
	return &entry{identity: identityOf(move), namespace: move.Namespace, line: line, time: move.Time}
}

// keep keeps an entry; false if it is too large.
func (l *log) keep(of *entry) bool {
	return len(of.line) <= mostRow && l.kept.Add(of.namespace, entrySize+len(of.line), of)
}

// add adds an entry that is to be written, unless it is waiting already; false if it is too large.
func (l *log) add(of *entry) bool {
	if l.waiting[of.identity] {
		return true
	}
	if !l.keep(of) {
		return false
	}
	l.pending, l.waiting[of.identity] = append(l.pending, of), true
	return true
}

// put sets what a shard has.
func (l *log) put(number int, name, version string, entries []*entry) {
	of := &shard{name: name, resourceVersion: version, entries: entries, bytes: bytesOf(entries)}
	l.shards[number], l.highest, l.taken[name] = of, max(l.highest, number), true
}

// write is what is to be written next: the entries that a shard gets, and whether it is new.
type write struct {
	number  int
	name    string
	created bool
	entries []*entry
	// taken is how many of the pending entries are among them.
	taken int
	// goes is the number of a shard that is deleted afterwards; 0 for none.
	goes int
}

// bytes returns how many bytes all shards have.
func (l *log) bytes() int {
	sum := 0
	for _, of := range l.shards {
		sum += of.bytes
	}
	return sum
}

// numbers returns the numbers of the shards, the oldest first.
func (l *log) numbers() []int { return slices.Sorted(maps.Keys(l.shards)) }

// next returns what is to be written now; false for nothing.
func (l *log) next() (write, bool) {
	l.pending = slices.DeleteFunc(l.pending, func(of *entry) bool {
		if of.dropped() {
			delete(l.waiting, of.identity)
		}
		return of.dropped()
	})
	if len(l.pending) == 0 {
		return write{}, false
	}
	numbers := l.numbers()
	if len(numbers) > 0 {
		latest := numbers[len(numbers)-1]
		entries := live(l.shards[latest].entries)
		if room := l.shardSize - bytesOf(entries); len(l.pending[0].line) < room {
			taken := fitting(l.pending, room)
			return write{number: latest, name: l.shards[latest].name, entries: slices.Concat(entries, l.pending[:taken]), taken: taken}, true
		}
	}
	next := write{number: l.highest + 1, name: l.free(), created: true}
	if len(numbers) >= mostShards || len(numbers) > 0 && l.bytes()+len(l.pending[0].line) > l.limit {
		next.goes = numbers[0]
		next.entries = live(l.shards[next.goes].entries)
	}
	next.taken = fitting(l.pending, l.shardSize-bytesOf(next.entries))
	if len(next.entries) == 0 {
		next.taken = max(next.taken, 1) // A row that is larger than other shards has one of its own.
	}
	next.entries = append(next.entries, l.pending[:next.taken]...)
	return next, true
}

// live returns the entries that are kept.
func live(entries []*entry) []*entry {
	return slices.DeleteFunc(slices.Clone(entries), (*entry).dropped)
}

// bytesOf returns how many bytes the lines of entries take.
func bytesOf(entries []*entry) int {
	sum := 0
	for _, of := range entries {
		sum += len(of.line) + 1
	}
	return sum
}

// fitting returns how many entries fit into a number of bytes.
func fitting(entries []*entry, bytes int) int {
	for i, of := range entries {
		if bytes -= len(of.line) + 1; bytes < 0 {
			return i
		}
	}
	return len(entries)
}

// done notes that a write has succeeded. Since next returned it, other entries may have been added.
func (l *log) done(of write, version string) {
	l.put(of.number, of.name, version, of.entries)
	for _, written := range l.pending[:of.taken] {
		delete(l.waiting, written.identity)
	}
	l.pending = l.pending[of.taken:]
}

// old returns the numbers of shards all of whose rows are older than a time.
func (l *log) old(oldest time.Time) []int {
	return slices.DeleteFunc(l.numbers(), func(number int) bool {
		return slices.ContainsFunc(l.shards[number].entries, func(of *entry) bool { return of.time.After(oldest) })
	})
}

// gone notes that a shard was deleted.
func (l *log) gone(number int) {
	delete(l.taken, l.shards[number].name)
	delete(l.shards, number)
}

// free returns a name that has no ConfigMap; the last one if all have.
func (l *log) free() string {
	for slot := range slots {
		if !l.taken[nameOf(slot)] {
			return nameOf(slot)
		}
	}
	return nameOf(slots - 1)
}

func nameOf(slot int) string { return fmt.Sprintf("%s%02d", Prefix, slot) }
