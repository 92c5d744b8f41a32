// SPDX-License-Identifier: Apache-2.0

package fairqueue

import (
	"cmp"
	"container/heap"
	"container/list"
	"slices"
)

// readyItems has the items that may be handed out, by descending priority, and those of a priority by namespace.
type readyItems[K comparable] struct {
	levels []*level[K]
	length int
}

// level has the items of one priority, and the namespaces with items in the order of their turns.
type level[K comparable] struct {
	priority   int
	namespaces map[string]*list.Element // of turns
	turns      *list.List               // of *itemHeap[K], the items of a namespace by added
}

func (r *readyItems[K]) search(priority int) (at int, found bool) {
	return slices.BinarySearchFunc(r.levels, priority, func(l *level[K], priority int) int { return cmp.Compare(priority, l.priority) })
}

func (r *readyItems[K]) push(i *item[K]) {
	at, found := r.search(i.priority)
	if !found {
		r.levels = slices.Insert(r.levels, at, &level[K]{priority: i.priority, namespaces: map[string]*list.Element{}, turns: list.New()})
	}
	on := r.levels[at]

	turn := on.namespaces[i.namespace]
	if turn == nil {
		turn = on.turns.PushBack(&itemHeap[K]{less: addedBefore[K]})
		on.namespaces[i.namespace] = turn
	}
	heap.Push(itemsOf[K](turn), i)
	r.length++
}

// pop removes the next item of the first namespace in turn that may have one taken, and ends its turn; nil if there is none.
func (r *readyItems[K]) pop(may func(namespace string) bool) *item[K] {
	for _, on := range r.levels {
		for turn := on.turns.Front(); turn != nil; turn = turn.Next() {
			next := itemsOf[K](turn).list[0]
			if may(next.namespace) {
				on.turns.MoveToBack(turn)
				r.remove(next)
				return next
			}
		}
	}
	return nil
}

func (r *readyItems[K]) remove(i *item[K]) {
	at, _ := r.search(i.priority)
	on := r.levels[at]
	turn := on.namespaces[i.namespace]
	items := itemsOf[K](turn)
	heap.Remove(items, i.index)
	r.length--
	if items.Len() == 0 {
		on.turns.Remove(turn)
		delete(on.namespaces, i.namespace)
	}

	if on.turns.Len() == 0 {
		r.levels = slices.Delete(r.levels, at, at+1)
	}
}

func itemsOf[K comparable](turn *list.Element) *itemHeap[K] {
	items, _ := turn.Value.(*itemHeap[K])
	return items
}
