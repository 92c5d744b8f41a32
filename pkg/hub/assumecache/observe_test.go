// SPDX-License-Identifier: Apache-2.0

package assumecache

import (
	"testing"
	"time"

	testingclock "k8s.io/utils/clock/testing"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// An informer updates its store before it calls the handlers: an evaluation can find a write in the cache whose event is still to come. The
// event is that of an own write all the same.
func TestAWriteIsOwnUntilItsEventIsHandled(t *testing.T) {
	type write struct {
		page    *api.Page
		deleted bool
	}
	type event struct {
		page    *api.Page
		deleted bool
		own     bool
	}

	for _, tc := range []struct {
		reason string
		writes []write
		// cached is what an evaluation finds between the writes and the events.
		cached []*api.Page
		events []event
	}{
		{
			reason: "the cache shows the write before its event is handled",
			writes: []write{{page: state("a", "1", "5")}},
			cached: []*api.Page{state("a", "1", "5")},
			events: []event{{page: state("a", "1", "5"), own: true}, {page: state("a", "1", "6")}},
		},
		{
			reason: "the cache shows the last of several writes of one page",
			writes: []write{{page: state("a", "1", "5")}, {page: state("a", "1", "6")}, {page: state("a", "1", "7")}},
			cached: []*api.Page{state("a", "1", "7")},
			events: []event{
				{page: state("a", "1", "5"), own: true}, {page: state("a", "1", "6"), own: true}, {page: state("a", "1", "7"), own: true},
				{page: state("a", "1", "8")},
			},
		},
		{
			reason: "the cache shows the first of several writes of one page",
			writes: []write{{page: state("a", "1", "5")}, {page: state("a", "1", "6")}},
			cached: []*api.Page{state("a", "1", "5")},
			events: []event{{page: state("a", "1", "5"), own: true}, {page: state("a", "1", "6"), own: true}},
		},
		{
			reason: "the cache has lost a page that was deleted by us before the event is handled",
			writes: []write{{page: state("a", "1", "5"), deleted: true}},
			events: []event{{page: state("a", "1", "6"), deleted: true, own: true}},
		},
		{
			reason: "a page was deleted by us and made again by us",
			writes: []write{{page: state("a", "1", "5"), deleted: true}, {page: state("a", "2", "8")}},
			cached: []*api.Page{state("a", "2", "8")},
			events: []event{
				{page: state("a", "1", "5"), own: true}, {page: state("a", "1", "6"), deleted: true, own: true},
				{page: state("a", "2", "8"), own: true}, {page: state("a", "2", "9"), deleted: true},
			},
		},
		{
			reason: "somebody wrote after us, and the cache shows that",
			writes: []write{{page: state("a", "1", "5")}},
			cached: []*api.Page{state("a", "1", "7")},
			events: []event{{page: state("a", "1", "5"), own: true}, {page: state("a", "1", "7")}},
		},
		{
			reason: "somebody made the page again that was deleted by us, and the cache shows that",
			writes: []write{{page: state("a", "1", "5"), deleted: true}},
			cached: []*api.Page{state("a", "2", "8")},
			events: []event{{page: state("a", "1", "6"), deleted: true, own: true}, {page: state("a", "2", "8")}},
		},
		{
			reason: "somebody deleted what was written by us, and the cache shows that",
			writes: []write{{page: state("a", "1", "5")}},
			events: []event{{page: state("a", "1", "5"), own: true}, {page: state("a", "1", "6"), deleted: true}},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			c := New[inventory.Key, *api.Page](testingclock.NewFakePassiveClock(time.Unix(0, 0)))
			for _, w := range tc.writes {
				c.assume(owner, w.page, w.deleted)
			}
			c.List(owner, tc.cached)
			for _, e := range tc.events {
				if own := c.Observe(owner, e.page, e.deleted); own != e.own {
					t.Errorf("the event of %s@%s (deleted %v) is own: %v, want %v", e.page.UID, e.page.ResourceVersion, e.deleted, own, e.own)
				}
			}
		})
	}
}
