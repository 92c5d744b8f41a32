package inventory

import (
	"sync"

	iradix "github.com/hashicorp/go-immutable-radix/v2"
)

// slots number the names of clusters: those that exist, and those that stand in decisions. A number is given to another name when nothing
// speaks of the first one any more.
type slots struct {
	numbers map[string]uint
	names   vector[string]
	holders []int32
	free    []uint
}

func newSlots() *slots { return &slots{numbers: map[string]uint{}} }

// hold is the number of a name, which stays until as many releases.
func (s *slots) hold(name string) uint {
	slot, known := s.numbers[name]
	if !known {
		if last := len(s.free) - 1; last >= 0 {
			slot, s.free = s.free[last], s.free[:last]
		} else {
			slot = uint(len(s.holders))
			s.holders = append(s.holders, 0)
		}

		s.numbers[name] = slot
		s.names.set(slot, name)
	}

	s.holders[slot]++

	return slot
}

func (s *slots) release(slot uint) {
	s.holders[slot]--

	if s.holders[slot] == 0 {
		delete(s.numbers, s.names.get(slot))
		s.names.set(slot, "")
		s.free = append(s.free, slot)
	}
}

// order sorts the clusters that exist by name.
type order struct {
	rank   []uint32 // by slot
	byRank []uint   // slots
}

// orderOf is found when it is first asked for.
func orderOf(clusters *iradix.Tree[uint]) func() *order {
	return sync.OnceValue(func() *order {
		o := &order{byRank: make([]uint, 0, clusters.Len())}

		clusters.Root().Walk(func(_ []byte, slot uint) bool {
			for uint(len(o.rank)) <= slot {
				o.rank = append(o.rank, 0)
			}

			o.rank[slot] = uint32(len(o.byRank))
			o.byRank = append(o.byRank, slot)

			return false
		})

		return o
	})
}
