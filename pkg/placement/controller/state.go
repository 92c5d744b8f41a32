package controller

import (
	"hash/maphash"
	"sync"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/hub/assumecache"
	"github.com/placement-hub/placement-hub/pkg/hub/sharedinventory"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/metrics"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// state is what the event handlers and the reconciler share. Its fields are set once, and each is safe for concurrent use.
type state struct {
	*sharedinventory.Subscriber

	served servedAPIs
	// inventory is that of the Subscriber.
	inventory *inventory.Inventory
	requests  *requests
	pages     map[api.Codec]*assumecache.Cache[inventory.Key, *api.Page]
	statuses  *assumecache.Cache[inventory.Key, *api.Placement]
	// placements are the states of the Placements for the gauges.
	placements *metrics.PlacementStates[inventory.Key]
	// contents finds pages that others have edited.
	contents *contents
	// quarantine has the Placements whose CEL expressions cost too much.
	quarantine scheduling.Quarantine
	// deciding is locked while a result that depends on the decisions of others is computed and assumed (docs/spec/differences.md B9). No
	// request is sent under the lock.
	deciding sync.Mutex
}

// newState returns the state of the Placements in a shared inventory, whose changes enqueue them.
func newState(shared *sharedinventory.Shared, o servedAPIs, c clock.PassiveClock) *state {
	pages := map[api.Codec]*assumecache.Cache[inventory.Key, *api.Page]{}

	for _, codec := range o.forms() {
		pages[codec] = assumecache.New[inventory.Key, *api.Page](c)
	}

	m := &state{
		Subscriber: sharedinventory.NewSubscriber(shared),
		served:     o,
		inventory:  shared.Inventory,
		requests:   newRequests(shared.Compiler, shared.Inventory, o),
		pages:      pages,
		statuses:   assumecache.New[inventory.Key, *api.Placement](c),
		placements: metrics.NewPlacementStates[inventory.Key](),
		contents:   newContents(),
	}
	m.Counted, m.Settled = true, m.countWritten

	for codec, writes := range pages {
		sharedinventory.Track(m.Subscriber, "decision", writes, func(*api.Page) client.Object { return codec.Empty() }, codec.Read)
	}

	sharedinventory.Track(m.Subscriber, "placement", m.statuses, func(of *api.Placement) client.Object { return of.API.Empty() }, api.Read)
	shared.Handle(func(subscriber inventory.Key) bool { return subscriber.API() != "" }, m.EnqueueAffected)

	return m
}

// forget drops the state of a Placement that is gone or not managed.
func (m *state) forget(key inventory.Key) {
	m.requests.forget(key)
	m.quarantine.Forget(key)
	m.ForgetWrites(key)
	m.Queue.Forget(key)
	m.placements.Forget(key)
	m.contents.forget(key)
}

// skip drops the state of a Placement that is not managed, except that it exists.
func (m *state) skip(placement *api.Placement) {
	reason := "disabled"
	if !placement.DeletionTimestamp.IsZero() {
		reason = "deleting"
	}

	m.forget(placement.Key())
	m.placements.Note(placement.Key(), metrics.PlacementState{Skipped: reason})
}

// managed reports whether the hub schedules the Placement: it is neither disabled nor being deleted.
func managed(placement *api.Placement) bool {
	managed, _ := placement.Managed()

	return managed
}

// countWritten ends the assumption of a result once the watch has shown all pages that were written for it, unless the Placement is being
// reconciled.
func (m *state) countWritten(key inventory.Key) {
	m.pages[api.Of(key).Codec()].IfShown(key, func() { m.inventory.ForgetAssumed(key) })
}

// servedAPIs has the APIs whose Placements are served, the formats in which their decisions are written, and the limits of removals. It does
// not change.
type servedAPIs struct {
	// limit is the removal budget; nil fields are unknown to this process. warned is the percentage of its clusters that a Placement may lose
	// at once without a warning; nil is the default.
	limit  removalbudget.Limit
	warned *int
	apis   []api.Adapter
	// profiles mirrors the decisions of v1beta1 as references to ClusterProfiles.
	profiles bool
	// outside reports that another process writes, so that it is unknown whether decisions are mirrored.
	outside bool
}

// options returns how Placements are evaluated.
func (o servedAPIs) options() placement.Options {
	options := placement.Options{Limit: o.limit}
	if !o.outside {
		options.ProfileDecisions = &o.profiles
	}

	return options
}

// DefaultWarnRemovalPercent is the percentage of its clusters that a Placement may lose at once without a warning, unless Options set
// another one.
const DefaultWarnRemovalPercent = 50

// warnPercent returns the percentage above which an event warns users.
func (o servedAPIs) warnPercent() int {
	if o.warned == nil {
		return DefaultWarnRemovalPercent
	}

	return *o.warned
}

// forms returns all formats in which decisions are written.
func (o servedAPIs) forms() []api.Codec {
	forms := make([]api.Codec, 0, len(o.apis)+1)
	for _, adapter := range o.apis {
		forms = append(forms, adapter.Codec())
	}

	if o.profiles {
		forms = append(forms, Multicluster)
	}

	return forms
}

// writesProfiles reports whether the decisions of the Placement are mirrored as references to ClusterProfiles.
func (o servedAPIs) writesProfiles(key inventory.Key) bool {
	return o.profiles && key.API() == api.V1beta1.Name()
}

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
