// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	apiservercel "k8s.io/apiserver/pkg/cel"
)

// Lengths of texts of values without a length, which are upper bounds.
const (
	scalarText = 64
	doubleText = 512 // with a precision of 100
	// byteText is the length of a byte in a list of numbers.
	byteText = 4
	// entryText is what surrounds an element of a list or map.
	entryText = 4
)

// text returns an upper bound of the length of the text of a value. It charges every node that it visits, a shared one as often as it
// occurs, and every list and map for the copies of the texts of its elements.
func (m *meter) text(value ref.Val, depth int) uint64 {
	m.descend(depth)
	m.charge(1)
	switch v := value.(type) {
	case types.String:
		return m.scan(uint64(len(v)))
	case types.Bytes:
		return m.scan(uint64(len(v)) * byteText)
	case types.Double:
		return doubleText
	case *types.Optional:
		if v.HasValue() {
			return m.text(v.GetValue(), depth+1) + scalarText
		}
		return scalarText
	case traits.Mapper:
		return m.textOfMap(v, depth)
	case traits.Lister:
		sum := uint64(entryText)
		for i, n := types.Int(0), types.Int(size(v)); i < n; i++ {
			sum += m.text(v.Get(i), depth+1) + entryText
		}
		return m.scan(sum)
	default:
		return m.scan(objectText(value))
	}
}

func (m *meter) textOfMap(v traits.Mapper, depth int) uint64 {
	m.charge(size(v))
	sum := uint64(entryText)
	for it := v.Iterator(); it.HasNext() == types.True; {
		key := it.Next()
		sum += m.text(key, depth+1) + entryText
		if entry, found := v.Find(key); found {
			sum += m.text(entry, depth+1) + entryText
		}
	}
	return m.scan(sum)
}

// scan charges reading or writing a text, and returns its length.
func (m *meter) scan(length uint64) uint64 {
	m.charge(length / scanned)
	return length
}

func objectText(value ref.Val) uint64 {
	if u, ok := value.(apiservercel.URL); ok && u.URL != nil {
		const escaped = 3
		return scalarText + escaped*uint64(len(u.Host)+len(u.Path)+len(u.RawPath)+len(u.RawQuery)+len(u.Fragment)+len(u.Opaque))
	}
	return scalarText
}

// equal returns what types.Equal returns, and charges every pair of nodes before it compares them.
func (m *meter) equal(a, b ref.Val, depth int) ref.Val {
	m.descend(depth)
	m.charge(1)
	switch l := a.(type) {
	case types.String:
		r, ok := b.(types.String)
		if !ok {
			return types.False
		}
		m.charge(uint64(min(len(l), len(r))) / compared)
		return types.Bool(l == r)
	case types.Bytes:
		m.charge(uint64(len(l)) / compared)
		return types.Equal(a, b)
	case *types.Optional:
		r, ok := b.(*types.Optional)
		if !ok || !l.HasValue() || !r.HasValue() {
			return types.Equal(a, b)
		}
		return m.equal(l.GetValue(), r.GetValue(), depth+1)
	case traits.Mapper:
		r, ok := b.(traits.Mapper)
		return types.Bool(ok && m.equalMaps(l, r, depth+1))
	case traits.Lister:
		r, ok := b.(traits.Lister)
		return types.Bool(ok && m.equalLists(l, r, depth+1))
	default:
		return types.Equal(a, b)
	}
}

func (m *meter) equalLists(a, b traits.Lister, depth int) bool {
	n := types.Int(size(a))
	if n != b.Size() {
		return false
	}
	for i := range n {
		if m.equal(a.Get(i), b.Get(i), depth) == types.False {
			return false
		}
	}
	return true
}

func (m *meter) equalMaps(a, b traits.Mapper, depth int) bool {
	if a.Size() != b.Size() {
		return false
	}
	m.charge(size(a))

	for it := a.Iterator(); it.HasNext() == types.True; {
		key := it.Next()
		m.key(key)
		value, _ := a.Find(key)
		other, found := b.Find(key)
		if !found || m.equal(value, other, depth) == types.False {
			return false
		}
	}
	return true
}

// contains returns whether a list has an element.
func (m *meter) contains(list traits.Lister, element ref.Val) ref.Val {
	for i, n := types.Int(0), types.Int(size(list)); i < n; i++ {
		if m.equal(element, list.Get(i), 0) == types.True {
			return types.True
		}
	}
	return types.False
}

// key charges a value that is looked up in a map, and that an error about an absent key has as a text.
func (m *meter) key(value ref.Val) {
	switch v := value.(type) {
	case types.String:
		m.charge(uint64(len(v)) / compared)
	case types.Bytes, *types.Optional, traits.Mapper, traits.Lister:
		m.grow(m.text(value, 0))
	}
}

// joined returns the concatenation of two lists as one array: a list of lists of lists would take a step for each of them at every access.
func (m *meter) joined(a, b traits.Lister) ref.Val {
	n, k := size(a), size(b)
	switch {
	case n == 0:
		return b
	case k == 0:
		return a
	}
	m.charge(n + k)
	m.grow((n + k) * elementBytes)

	elements := make([]ref.Val, 0, n+k)
	for _, part := range []traits.Lister{a, b} {
		for i, end := types.Int(0), types.Int(size(part)); i < end; i++ {
			elements = append(elements, part.Get(i))
		}
	}
	return types.NewRefValList(types.DefaultTypeAdapter, elements)
}
