// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"hash/maphash"
	"sync"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// contents has hashes of the clusters that this process has written into PlacementDecisions, to find pages that others have edited. A page
// that it has not written counts as unedited. It is safe for concurrent use.
type contents struct {
	seed maphash.Seed

	mu     sync.Mutex
	hashes map[inventory.Key]map[string]uint64
}

func newContents() *contents {
	return &contents{seed: maphash.MakeSeed(), hashes: map[inventory.Key]map[string]uint64{}}
}

func (c *contents) hash(page *api.Page) uint64 {
	var h maphash.Hash
	h.SetSeed(c.seed)
	for i := range page.Decisions {
		_, _ = h.WriteString(page.Decisions[i].Cluster) // It never fails.
		_ = h.WriteByte(0)
	}
	return h.Sum64()
}

// wrote records the response to a write or deletion of a page.
func (c *contents) wrote(owner inventory.Key, page *api.Page, deleted bool) {
	hash := c.hash(page)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch pages := c.hashes[owner]; {
	case deleted:
		delete(pages, page.Name)
	case pages == nil:
		c.hashes[owner] = map[string]uint64{page.Name: hash}
	default:
		pages[page.Name] = hash
	}
}

// edited returns the names of the pages that hold other clusters than this process has written.
func (c *contents) edited(owner inventory.Key, pages []*api.Page) map[string]bool {
	edited := map[string]bool{}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, page := range pages {
		if hash, known := c.hashes[owner][page.Name]; known && hash != c.hash(page) {
			edited[page.Name] = true
		}
	}
	return edited
}

// forget drops the hashes of a Placement.
func (c *contents) forget(owner inventory.Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.hashes, owner)
}
