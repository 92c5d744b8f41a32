// SPDX-License-Identifier: Apache-2.0

package history

import (
	"container/heap"
	"iter"
)

// Shares are rows of tenants in a bounded number of bytes. When they are full, the oldest row of the tenant that holds most bytes goes. A tenant
// whose rows take less than those of every other that is full keeps all of them, whatever the others add. It is not safe for concurrent use.
type Shares[T any] struct {
	// Dropped is called with each row that goes; nil for nothing.
	Dropped func(T)

	// limit bounds bytes.
	limit, bytes int
	added        uint64
	tenants      map[string]*share[T]
	largest      byBytes[T]
}

// share has the rows of a tenant, oldest first. Those before first are gone.
type share[T any] struct {
	tenant string
	rows   []row[T]
	first  int
	bytes  int
	// index is that in the heap.
	index int
}

// byBytes is a heap of shares, of which the first holds most bytes, and of several the one whose oldest row is the oldest.
type byBytes[T any] []*share[T]

func (b byBytes[T]) Len() int { return len(b) }

func (b byBytes[T]) Less(i, j int) bool {
	if b[i].bytes != b[j].bytes {
		return b[i].bytes > b[j].bytes
	}
	return b[i].rows[b[i].first].number < b[j].rows[b[j].first].number
}

func (b byBytes[T]) Swap(i, j int) {
	b[i], b[j] = b[j], b[i]
	b[i].index, b[j].index = i, j
}

// Push implements heap.Interface.
func (b *byBytes[T]) Push(of any) {
	added, is := of.(*share[T])
	if !is {
		return
	}
	added.index = len(*b)
	*b = append(*b, added)
}

// Pop implements heap.Interface.
func (b *byBytes[T]) Pop() any {
	last := (*b)[len(*b)-1]
	(*b)[len(*b)-1] = nil
	*b = (*b)[:len(*b)-1]
	return last
}

type row[T any] struct {
	number uint64
	size   int
	value  T
}

// What a row and a tenant take beside their values: the row itself twice, because a slice grows to the double, and a share in a map.
const (
	rowSize    = 2 * (16 + 16)
	tenantSize = 224
)

// NewShares returns Shares without rows, of at most limit bytes.
func NewShares[T any](limit int) *Shares[T] {
	return &Shares[T]{limit: limit, tenants: map[string]*share[T]{}}
}

// Add adds a row of a tenant with its size in bytes. It returns false for a row that is larger than all of the limit, which is not kept.
func (s *Shares[T]) Add(tenant string, size int, value T) bool {
	size += rowSize
	if size+tenantSize+len(tenant) > s.limit {
		return false
	}
	of, known := s.tenants[tenant]
	if !known {
		of = &share[T]{tenant: tenant, bytes: tenantSize + len(tenant)}
		s.tenants[tenant] = of
		s.bytes += of.bytes
	}
	s.added++
	of.rows = append(of.rows, row[T]{number: s.added, size: size, value: value})
	of.bytes += size
	s.bytes += size
	if known {
		heap.Fix(&s.largest, of.index)
	} else {
		heap.Push(&s.largest, of)
	}
	for s.bytes > s.limit {
		s.drop(s.largest[0])
	}
	return true
}

// Bytes returns how many bytes the rows take. They are never above the limit.
func (s *Shares[T]) Bytes() int { return s.bytes }

// drop drops the oldest row of a share, and a share without rows.
func (s *Shares[T]) drop(of *share[T]) {
	size := of.rows[of.first].size
	if s.Dropped != nil {
		s.Dropped(of.rows[of.first].value)
	}
	of.rows[of.first] = row[T]{} // The value is not kept alive.
	of.first++
	of.bytes -= size
	s.bytes -= size
	if of.first == len(of.rows) {
		s.bytes -= of.bytes
		delete(s.tenants, of.tenant)
		of.first-- // The heap compares the oldest row.
		heap.Remove(&s.largest, of.index)
		return
	}
	if of.first > len(of.rows)/2 {
		of.rows = append([]row[T](nil), of.rows[of.first:]...)
		of.first = 0
	}
	heap.Fix(&s.largest, of.index)
}

// Of yields the rows of a tenant, newest first.
func (s *Shares[T]) Of(tenant string) iter.Seq[T] {
	return func(yield func(T) bool) {
		of := s.tenants[tenant]
		if of == nil {
			return
		}
		for i := len(of.rows) - 1; i >= of.first; i-- {
			if !yield(of.rows[i].value) {
				return
			}
		}
	}
}

// numbered yields the rows of a tenant with their numbers, newest first.
func (s *Shares[T]) numbered(tenant string) iter.Seq2[uint64, T] {
	return func(yield func(uint64, T) bool) {
		of := s.tenants[tenant]
		if of == nil {
			return
		}
		for i := len(of.rows) - 1; i >= of.first; i-- {
			if !yield(of.rows[i].number, of.rows[i].value) {
				return
			}
		}
	}
}
