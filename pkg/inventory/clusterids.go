package inventory

import (
	"sync"

	iradix "github.com/hashicorp/go-immutable-radix/v2"
)

// clusterIDs number the names of clusters: those that exist, and those that stand in decisions. A number is given to another name when nothing
// speaks of the first one any more.
type clusterIDs struct {
	byName     map[string]uint
	names      vector[string]
	references []int32
	free       []uint
}

func newClusterIDs() *clusterIDs { return &clusterIDs{byName: map[string]uint{}} }

// acquire is the number of a name, which stays until as many releases.
func (s *clusterIDs) acquire(name string) uint {
	id, known := s.byName[name]
	if !known {
		if last := len(s.free) - 1; last >= 0 {
			id, s.free = s.free[last], s.free[:last]
		} else {
			id = uint(len(s.references))
			s.references = append(s.references, 0)
		}

		s.byName[name] = id
		s.names.set(id, name)
	}

	s.references[id]++

	return id
}

func (s *clusterIDs) release(id uint) {
	s.references[id]--

	if s.references[id] == 0 {
		delete(s.byName, s.names.get(id))
		s.names.set(id, "")
		s.free = append(s.free, id)
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

		clusters.Root().Walk(func(_ []byte, id uint) bool {
			for uint(len(o.rank)) <= id {
				o.rank = append(o.rank, 0)
			}

			o.rank[id] = uint32(len(o.byRank))
			o.byRank = append(o.byRank, id)

			return false
		})

		return o
	})
}
