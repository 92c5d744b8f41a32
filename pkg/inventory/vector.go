package inventory

import "slices"

// chunkSize is how many items of a vector are copied when one of them changes after a freeze.
const chunkSize = 256

type chunk[T any] struct {
	epoch uint64
	items [chunkSize]T
}

// vector is a growing array that can be frozen: what is frozen does not change any more, and costs nothing until items are changed
// after it, which copies the chunks they lie in.
type vector[T any] struct {
	chunks []*chunk[T]
	epoch  uint64
	shared bool // The list of chunks belongs to a frozen vector too.
}

// frozen is a vector as it was. Items that were never set have the zero value.
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
