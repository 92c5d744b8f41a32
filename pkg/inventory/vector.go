// SPDX-License-Identifier: Apache-2.0

package inventory

import "slices"

// chunkSize is the number of items that are copied with the first change of one of them after a freeze.
const chunkSize = 256

type chunk[T any] struct {
	epoch uint64
	items [chunkSize]T
}

// vector is a growing array that can be frozen at no cost. The first change of a chunk after that copies the chunk.
type vector[T any] struct {
	chunks []*chunk[T]
	epoch  uint64
	shared bool // A frozen vector shares the list of chunks.
}

// frozen is the content of a vector when it was frozen. Items that were never set have the zero value.
type frozen[T any] struct {
	chunks []*chunk[T]
}

func (v *vector[T]) freeze() frozen[T] {
	v.epoch++
	v.shared = true
	return frozen[T]{chunks: v.chunks}
}

func (v *vector[T]) get(i uint) T { return frozen[T]{chunks: v.chunks}.get(i) }

func (v *vector[T]) set(i uint, item T) {
	at := int(i / chunkSize)
	if v.shared {
		v.chunks, v.shared = slices.Clone(v.chunks), false
	}
	for at >= len(v.chunks) {
		v.chunks = append(v.chunks, &chunk[T]{epoch: v.epoch})
	}

	if v.chunks[at].epoch != v.epoch {
		copied := *v.chunks[at]
		copied.epoch = v.epoch
		v.chunks[at] = &copied
	}
	v.chunks[at].items[i%chunkSize] = item
}

func (f frozen[T]) get(i uint) T {
	at := int(i / chunkSize)
	if at >= len(f.chunks) {
		var none T
		return none
	}
	return f.chunks[at].items[i%chunkSize]
}

// changedSince returns the indices of the items that have changed since an earlier freeze.
func changedSince[T comparable](now, then []*chunk[T]) []uint {
	var changed []uint
	none := &chunk[T]{}
	for at, c := range now {
		before := none
		if at < len(then) {
			before = then[at]
		}
		if c == before {
			continue
		}

		for n := range c.items {
			if c.items[n] != before.items[n] {
				changed = append(changed, uint(at*chunkSize+n))
			}
		}
	}

	return changed
}
