package placement

import (
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"

	"github.com/placement-hub/placement-hub/pkg/controller/assumecache"
	"github.com/placement-hub/placement-hub/pkg/controller/freshness"
	"github.com/placement-hub/placement-hub/pkg/controller/queue"
	"github.com/placement-hub/placement-hub/pkg/decision/record"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/metrics"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// state is what feed and reconciler of the placements share.
type state struct {
	servedAPIs

	inventory *inventory.Inventory
	requests  *requests
	pages     map[record.Form]*assumecache.Cache[inventory.PlacementKey, *record.Page]
	statuses  *assumecache.Cache[inventory.PlacementKey, *record.Placement]
	queue     *queue.PriorityQueue[inventory.PlacementKey]
	// standings are how the placements stand, for the metrics.
	standings *metrics.Standings[inventory.PlacementKey]
	// observed are the versions of the objects that are in the inventory.
	observed *freshness.Observed
	// unreadables are the objects with fields that could not be decoded.
	unreadables *unreadables
	// contents tell which decisions others have edited.
	contents *contents
	// deciding is held while an answer that was read from the decisions of others is assumed (docs/spec/differences.md B9). Nothing is read or
	// written meanwhile.
	deciding sync.Mutex
	// synced is set once the initial lists are in the inventory. Before that there is no answer: a world that is half known would
	// empty decisions.
	synced atomic.Bool
}

func newState(o servedAPIs, c clock.PassiveClock) *state {
	compiler := selector.NewCompiler()
	inv := inventory.New(compiler)
	pages := map[record.Form]*assumecache.Cache[inventory.PlacementKey, *record.Page]{}

	for _, form := range o.forms() {
		pages[form] = assumecache.New[inventory.PlacementKey, *record.Page](c)
	}

	return &state{
		servedAPIs: o,
		inventory:  inv,
		requests:   newRequests(compiler, inv, o),
		pages:      pages,
		statuses:   assumecache.New[inventory.PlacementKey, *record.Placement](c),
		queue:      queue.NewPriorityQueue[inventory.PlacementKey](),
		standings:  metrics.NewStandings[inventory.PlacementKey](),
		observed:   freshness.NewObserved(),
		contents:   newContents(),

		unreadables: newUnreadables(),
	}
}

// forget drops all that is remembered of a placement that is gone, or that others schedule.
func (m *state) forget(key inventory.PlacementKey) {
	m.requests.forget(key)
	m.forgetWrites(key)
	m.queue.Forget(key)
	m.standings.Forget(key)
	m.contents.forget(key)
}

// skip drops what is remembered of a placement that is not ours to schedule, but that there is one.
func (m *state) skip(placement *record.Placement) {
	reason := "disabled"
	if !placement.DeletionTimestamp.IsZero() {
		reason = "deleting"
	}

	m.forget(placement.Key())
	m.standings.Note(placement.Key(), metrics.Standing{Skipped: reason})
}

// enqueue puts placements into the queue for a cause that is no change.
func (m *state) enqueue(priority int, cause string, keys ...inventory.PlacementKey) {
	m.enqueueFor(priority, cause, time.Time{}, keys...)
}

// enqueueFor puts placements into the queue for a change that arrived at a time; zero for what was there before. While there is no queue it does
// nothing.
func (m *state) enqueueFor(priority int, cause string, at time.Time, keys ...inventory.PlacementKey) {
	if len(keys) == 0 || !m.queue.Open() {
		return
	}

	change := queue.Change{Cause: metrics.CauseOf(cause), At: at}
	put := m.queue.Enqueue(priority, change, keys...)
	change.Cause.Woke(put, len(keys)-put)
}

// pause puts off what events about the objects of a placement mean until release, while it is evaluated and they are being written.
func (m *state) pause(key inventory.PlacementKey) {
	for _, pages := range m.pages {
		pages.Pause(key)
	}

	m.statuses.Pause(key)
}

// resume wakes the placement if others have changed its objects since hold.
func (m *state) resume(key inventory.PlacementKey) {
	for _, pages := range m.pages {
		if pages.Resume(key) {
			m.enqueueFor(queue.PriorityUser, "decision", time.Now(), key)
		}
	}

	if m.statuses.Resume(key) {
		m.enqueueFor(queue.PriorityUser, "placement", time.Now(), key)
	}

	m.countWritten(key)
}

// forgetWrites drops what was written for a placement, when the API server has shown that it is not so.
func (m *state) forgetWrites(key inventory.PlacementKey) {
	for _, pages := range m.pages {
		pages.Forget(key)
	}

	m.statuses.Forget(key)
	m.countWritten(key)
}
