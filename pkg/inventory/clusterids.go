// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"sync"

	iradix "github.com/hashicorp/go-immutable-radix/v2"
)

// clusterIDs assigns an id to each name of a cluster that exists or is in decisions. An id is reused for another name when its last
// reference is released.
type clusterIDs struct {
	byName     map[string]uint
	names      vector[string]
	references []int32
	free       []uint
}

func newClusterIDs() *clusterIDs { return &clusterIDs{byName: map[string]uint{}} }

// acquire returns the id of a name, and adds a reference to it; release removes the reference.
func (c *clusterIDs) acquire(name string) uint {
	id, known := c.byName[name]
	if !known {
		if last := len(c.free) - 1; last >= 0 {
			id, c.free = c.free[last], c.free[:last]
		} else {
			id = uint(len(c.references))
			c.references = append(c.references, 0)
		}
		c.byName[name] = id
		c.names.set(id, name)
	}

	c.references[id]++
	return id
}

func (c *clusterIDs) release(id uint) {
	c.references[id]--
	if c.references[id] == 0 {
		delete(c.byName, c.names.get(id))
		c.names.set(id, "")
		c.free = append(c.free, id)
	}
}

// order is the order of the existing clusters by name.
type order struct {
	rank   []uint32 // by id
	byRank []uint   // ids
}

// orderOf returns a function that computes the order once, when it is first called.
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
