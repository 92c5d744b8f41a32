package placement

import (
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"

	"github.com/placement-hub/placement-hub/pkg/controller/assumecache"
	"github.com/placement-hub/placement-hub/pkg/controller/freshness"
	"github.com/placement-hub/placement-hub/pkg/controller/queue"
	"github.com/placement-hub/placement-hub/pkg/decision/api"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/metrics"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// state is what the event handlers and the reconciler share.
type state struct {
	served    servedAPIs
	inventory *inventory.Inventory
	requests  *requests
	pages     map[api.Codec]*assumecache.Cache[inventory.Key, *api.Page]
	statuses  *assumecache.Cache[inventory.Key, *api.Placement]
	queue     *queue.PriorityQueue[inventory.Key]
	// standings are the states of the Placements for the gauges.
	standings *metrics.Standings[inventory.Key]
	// observed has the resourceVersions of the objects in the inventory.
	observed *freshness.Observed
	// unreadables are the objects with fields that could not be decoded.
	unreadables *unreadables
	// contents finds pages that others have edited.
	contents *contents
	// deciding is locked while a result that depends on the decisions of others is computed and assumed (docs/spec/differences.md B9). No
	// request is sent under the lock.
	deciding sync.Mutex
	// synced is set once the inventory has the initial lists. Before that, nothing is evaluated: an incomplete inventory would empty
	// decisions.
	synced atomic.Bool
}

func newState(o servedAPIs, c clock.PassiveClock) *state {
	compiler := selector.NewCompiler()
	inv := inventory.New(compiler)
	pages := map[api.Codec]*assumecache.Cache[inventory.Key, *api.Page]{}

	for _, codec := range o.forms() {
		pages[codec] = assumecache.New[inventory.Key, *api.Page](c)
	}

	return &state{
		served:    o,
		inventory: inv,
		requests:  newRequests(compiler, inv, o),
		pages:     pages,
		statuses:  assumecache.New[inventory.Key, *api.Placement](c),
		queue:     queue.NewPriorityQueue[inventory.Key](),
		standings: metrics.NewStandings[inventory.Key](),
		observed:  freshness.NewObserved(),
		contents:  newContents(),

		unreadables: newUnreadables(),
	}
}

// forget drops the state of a Placement that is gone or not managed.
func (m *state) forget(key inventory.Key) {
	m.requests.forget(key)
	m.forgetWrites(key)
	m.queue.Forget(key)
	m.standings.Forget(key)
	m.contents.forget(key)
}

// skip drops the state of a Placement that is not managed, except that it exists.
func (m *state) skip(placement *api.Placement) {
	reason := "disabled"
	if !placement.DeletionTimestamp.IsZero() {
		reason = "deleting"
	}

	m.forget(placement.Key())
	m.standings.Note(placement.Key(), metrics.Standing{Skipped: reason})
}

// enqueue enqueues Placements for a cause that is not a change of an object.
func (m *state) enqueue(priority int, cause string, keys ...inventory.Key) {
	m.enqueueFor(priority, cause, time.Time{}, keys...)
}

// enqueueFor enqueues Placements for a change that arrived at a time; the zero time is for objects of the initial lists. It does nothing
// before the election.
func (m *state) enqueueFor(priority int, cause string, at time.Time, keys ...inventory.Key) {
	if len(keys) == 0 || !m.queue.Open() {
		return
	}

	change := queue.Change{Cause: metrics.CauseOf(cause), At: at}
	put := m.queue.Enqueue(priority, change, keys...)
	change.Cause.Enqueued(put, len(keys)-put)
}

// pause defers the handling of events of own objects while a Placement is reconciled, because an event may arrive before the response to
// the write.
func (m *state) pause(key inventory.Key) {
	for _, pages := range m.pages {
		pages.Pause(key)
	}

	m.statuses.Pause(key)
}

// resume ends pause, and enqueues the Placement if others have changed its objects meanwhile.
func (m *state) resume(key inventory.Key) {
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

// forgetWrites drops the assumed writes of a Placement.
func (m *state) forgetWrites(key inventory.Key) {
	for _, pages := range m.pages {
		pages.Forget(key)
	}

	m.statuses.Forget(key)
	m.countWritten(key)
}
