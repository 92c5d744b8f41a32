// SPDX-License-Identifier: Apache-2.0

package inventory

import iradix "github.com/hashicorp/go-immutable-radix/v2"

// table is a map by name that can be frozen. It records the changes since the last freeze, so that the cost of a freeze is proportional to
// them.
type table[T any] struct {
	live   map[string]T
	dirty  map[string]struct{}
	frozen *iradix.Tree[T]
}

func newTable[T any]() *table[T] {
	return &table[T]{live: map[string]T{}, dirty: map[string]struct{}{}, frozen: iradix.New[T]()}
}

func (t *table[T]) set(name string, item T) {
	t.live[name] = item
	t.dirty[name] = struct{}{}
}

func (t *table[T]) remove(name string) {
	delete(t.live, name)
	t.dirty[name] = struct{}{}
}

// freeze returns the current content, which later changes do not affect.
func (t *table[T]) freeze() *iradix.Tree[T] {
	if len(t.dirty) == 0 {
		return t.frozen
	}
	change := t.frozen.Txn()

	for name := range t.dirty {
		if item, there := t.live[name]; there {
			change.Insert([]byte(name), item)
		} else {
			change.Delete([]byte(name))
		}
	}
	t.frozen = change.Commit()
	clear(t.dirty)
	return t.frozen
}
