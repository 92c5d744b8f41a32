// SPDX-License-Identifier: Apache-2.0

package history

import "iter"

// Shares are rows of tenants in a bounded number of bytes. When they are full, the oldest row of the tenant that holds most bytes goes. A tenant
// whose rows take less than those of every other that is full keeps all of them, whatever the others add. It is not safe for concurrent use.
type Shares[T any] struct {
	// limit bounds bytes.
	limit, bytes int
	added        uint64
	tenants      map[string]*share[T]
}

// share has the rows of a tenant, oldest first. Those before first are gone.
type share[T any] struct {
	rows  []row[T]
	first int
	bytes int
}

type row[T any] struct {
	number uint64
	size   int
	value  T
}

// What a row and a tenant take beside their values: the row itself twice, because a slice grows to the double, and a share in a map.
const (
	rowSize    = 2 * (16 + 16)
	tenantSize = 192
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
	of := s.tenants[tenant]
	if of == nil {
		of = &share[T]{bytes: tenantSize + len(tenant)}
		s.tenants[tenant] = of
		s.bytes += of.bytes
	}
	s.added++
	of.rows = append(of.rows, row[T]{number: s.added, size: size, value: value})
	of.bytes += size
	s.bytes += size
	for s.bytes > s.limit {
		s.drop(s.largest())
	}
	return true
}

// Bytes returns how many bytes the rows take. They are never above the limit.
func (s *Shares[T]) Bytes() int { return s.bytes }

// largest returns the tenant that holds most bytes, and of several the one whose oldest row is the oldest.
func (s *Shares[T]) largest() string {
	var (
		largest string
		most    *share[T]
	)
	for tenant, of := range s.tenants {
		if most == nil || of.bytes > most.bytes || of.bytes == most.bytes && of.rows[of.first].number < most.rows[most.first].number {
			largest, most = tenant, of
		}
	}
	return largest
}

// drop drops the oldest row of a tenant, and a tenant without rows.
func (s *Shares[T]) drop(tenant string) {
	of := s.tenants[tenant]
	size := of.rows[of.first].size
	of.rows[of.first] = row[T]{} // The value is not kept alive.
	of.first++
	of.bytes -= size
	s.bytes -= size
	if of.first == len(of.rows) {
		s.bytes -= of.bytes
		delete(s.tenants, tenant)
		return
	}
	if of.first > len(of.rows)/2 {
		of.rows = append([]row[T](nil), of.rows[of.first:]...)
		of.first = 0
	}
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
