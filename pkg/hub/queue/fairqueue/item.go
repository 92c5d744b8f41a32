// SPDX-License-Identifier: Apache-2.0

package fairqueue

import "time"

// item is a key in the queue.
type item[K comparable] struct {
	key       K
	namespace string
	priority  int
	// readyAt is when the item may be handed out; zero means now. readySince is since when it may.
	readyAt, readySince time.Time
	// added orders the items of a priority; it increases with every item that is added, is due, or gets a higher
	// priority.
	added uint64
	index int // in its itemHeap
}

func addedBefore[K comparable](a, b *item[K]) bool { return a.added < b.added }

func readyBefore[K comparable](a, b *item[K]) bool {
	if !a.readyAt.Equal(b.readyAt) {
		return a.readyAt.Before(b.readyAt)
	}
	return a.priority > b.priority || a.priority == b.priority && a.added < b.added
}

// itemHeap implements heap.Interface.
type itemHeap[K comparable] struct {
	less func(a, b *item[K]) bool
	list []*item[K]
}

func (h *itemHeap[K]) Len() int { return len(h.list) }

func (h *itemHeap[K]) Less(a, b int) bool { return h.less(h.list[a], h.list[b]) }

func (h *itemHeap[K]) Swap(a, b int) {
	h.list[a], h.list[b] = h.list[b], h.list[a]
	h.list[a].index, h.list[b].index = a, b
}

// Push implements heap.Interface.
func (h *itemHeap[K]) Push(added any) {
	i, _ := added.(*item[K])
	i.index = len(h.list)
	h.list = append(h.list, i)
}

// Pop implements heap.Interface.
func (h *itemHeap[K]) Pop() any {
	last := len(h.list) - 1
	i := h.list[last]
	h.list[last] = nil
	h.list = h.list[:last]
	return i
}
