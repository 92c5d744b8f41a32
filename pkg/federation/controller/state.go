package controller

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/hub/assumecache"
	"github.com/placement-hub/placement-hub/pkg/hub/problems"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/hub/sharedinventory"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// state is what the event handlers and the reconciler share. Its fields are set once, and each is safe for concurrent use.
type state struct {
	*sharedinventory.Subscriber

	// kinds are the delivered kinds by the GroupKind of their keys.
	kinds map[inventory.GroupKind]federation.Kind
	// works has the own writes of ManifestWorks that the cache does not show yet.
	works    *assumecache.Cache[inventory.Key, *workv1.ManifestWork]
	memories *memories
	// problems has those of which Events were sent.
	problems *problems.Memory[inventory.Key]
	links    *links
	// unguarded is set if others may change the works, before Synced.
	unguarded atomic.Bool
}

func newState(
	shared *sharedinventory.Shared, kinds []federation.Kind, c clock.PassiveClock, formerRenewal func() time.Time,
) *state {
	s := &state{
		Subscriber: sharedinventory.NewSubscriber(shared), kinds: make(map[inventory.GroupKind]federation.Kind, len(kinds)),
		works: assumecache.New[inventory.Key, *workv1.ManifestWork](c), memories: newMemories(), links: newLinks(),
		problems: problems.New[inventory.Key](c, formerRenewal),
	}

	for _, kind := range kinds {
		s.kinds[groupKind(kind)] = kind
	}

	sharedinventory.Track(s.Subscriber, "work", s.works, func(*workv1.ManifestWork) client.Object { return &workv1.ManifestWork{} },
		func(object runtime.Object) *workv1.ManifestWork {
			work, _ := object.(*workv1.ManifestWork)

			return work
		})

	return s
}

func groupKind(kind federation.Kind) inventory.GroupKind {
	return inventory.GroupKind(kind.GroupKind().String())
}

// owns reports whether a key is that of a delivered object.
func (s *state) owns(key inventory.Key) bool {
	_, found := s.kinds[key.GroupKind]

	return found
}

// identity returns the identity of the object of a key.
func (s *state) identity(key inventory.Key) federation.Identity {
	return federation.Identity{NamespacedName: key.NamespacedName, Kind: s.kinds[key.GroupKind]}
}

// forget drops what is known of an object that is gone, and enqueues the objects that are concerned.
func (s *state) forget(key inventory.Key) {
	s.Shared.Inventory.Unsubscribe(key)
	s.ForgetWrites(key)
	s.memories.forget(key)
	s.problems.Forget(key)
	s.Queue.Forget(key)
	s.enqueue(queue.PriorityFleet, s.links.forget(key)...)
}

// release returns a function that drops what the inventory has of the delivered objects once the controller has ended. Another controller begins
// with the initial lists.
func (s *state) release(unhandle func()) func() {
	return func() {
		unhandle()

		for _, key := range s.memories.keys() {
			s.Shared.Inventory.Unsubscribe(key)
		}

		for _, kind := range s.kinds {
			s.Shared.Observed.Drop(resourceOf(kind))
		}

		s.Shared.Observed.Drop(namespaceResource)
	}
}

// enqueue enqueues objects. No metric has the causes.
func (s *state) enqueue(priority int, keys ...inventory.Key) { s.Enqueue(priority, "", keys...) }

// memory is what the controller remembers of an object between two reconciles.
type memory struct {
	// version is the resourceVersion of which body and hashes are; empty if they are not known.
	version string
	body    federation.Body
	hashes  map[federation.Variant]string
	past    federation.Past
	// deleted has the UIDs of the works that the hub has deleted and that wait for their finalizers, by cluster, until the watch has shown
	// the end of each.
	deleted map[string]types.UID
	// changed is when the object was changed last, as it was read.
	changed time.Time
}

// memories has the memory of each object. Only the worker that reconciles an object reads or changes its memory.
type memories struct {
	mu sync.Mutex
	of map[inventory.Key]*memory
}

func newMemories() *memories { return &memories{of: map[inventory.Key]*memory{}} }

// get returns the memory of an object, which is empty at first.
func (m *memories) get(key inventory.Key) *memory {
	m.mu.Lock()
	defer m.mu.Unlock()

	known := m.of[key]
	if known == nil {
		known = &memory{}
		m.of[key] = known
	}

	return known
}

func (m *memories) known(key inventory.Key) bool {
	m.mu.Lock()
	defer m.mu.Unlock()

	return m.of[key] != nil
}

func (m *memories) keys() []inventory.Key {
	m.mu.Lock()
	defer m.mu.Unlock()

	return slices.Collect(maps.Keys(m.of))
}

func (m *memories) forget(key inventory.Key) {
	m.mu.Lock()
	defer m.mu.Unlock()

	delete(m.of, key)
}

// link is what an evaluated object has to do with others.
type link struct {
	// clusters are those to which it is delivered, sorted.
	clusters []string
	// needs are its dependencies, and propagates reports whether they are delivered with it.
	needs      []inventory.Key
	propagates bool
	// placement is the Placement whose decisions it follows; empty for none.
	placement types.NamespacedName
}

// links has the links of the evaluated objects. It is safe for concurrent use.
type links struct {
	mu sync.Mutex
	of map[inventory.Key]link
	// users are the objects that need a key, and followers those that follow a Placement.
	users     map[inventory.Key]map[inventory.Key]bool
	followers map[types.NamespacedName]map[inventory.Key]bool
}

func newLinks() *links {
	return &links{
		of: map[inventory.Key]link{}, users: map[inventory.Key]map[inventory.Key]bool{},
		followers: map[types.NamespacedName]map[inventory.Key]bool{},
	}
}

// set replaces the link of an object, and returns the objects that the change concerns: its users if its clusters have changed, and the
// dependencies that it propagates, or has propagated before.
func (l *links) set(key inventory.Key, after link) []inventory.Key {
	l.mu.Lock()
	defer l.mu.Unlock()

	before, known := l.of[key]
	l.of[key] = after

	return l.replace(key, before, after, known)
}

// forget drops the link of an object, and returns the objects that the change concerns.
func (l *links) forget(key inventory.Key) []inventory.Key {
	l.mu.Lock()
	defer l.mu.Unlock()

	before, known := l.of[key]
	delete(l.of, key)

	return l.replace(key, before, link{}, known)
}

// replace updates the indexes; mu must be held.
func (l *links) replace(key inventory.Key, before, after link, known bool) []inventory.Key {
	for _, need := range before.needs {
		remove(l.users, need, key)
	}

	for _, need := range after.needs {
		add(l.users, need, key)
	}

	if before.placement != after.placement {
		remove(l.followers, before.placement, key)

		if after.placement.Name != "" {
			add(l.followers, after.placement, key)
		}
	}

	var concerned []inventory.Key

	moved := !slices.Equal(before.clusters, after.clusters)
	if moved || !known {
		concerned = slices.AppendSeq(concerned, maps.Keys(l.users[key]))
	}

	if moved || before.propagates != after.propagates || !slices.Equal(before.needs, after.needs) {
		if before.propagates {
			concerned = append(concerned, before.needs...)
		}

		if after.propagates {
			concerned = append(concerned, after.needs...)
		}
	}

	return concerned
}

// clusters returns the clusters to which an object is delivered; false if it was not evaluated yet.
func (l *links) clusters(key inventory.Key) ([]string, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()

	of, known := l.of[key]

	return of.clusters, known
}

// propagated returns the clusters of the objects that propagate a dependency.
func (l *links) propagated(key inventory.Key) []string {
	l.mu.Lock()
	defer l.mu.Unlock()

	var clusters []string

	for user := range l.users[key] {
		if of := l.of[user]; of.propagates {
			clusters = append(clusters, of.clusters...)
		}
	}

	slices.Sort(clusters)

	return slices.Compact(clusters)
}

// following returns the objects that follow the decisions of a Placement.
func (l *links) following(placement types.NamespacedName) []inventory.Key {
	l.mu.Lock()
	defer l.mu.Unlock()

	return slices.Collect(maps.Keys(l.followers[placement]))
}

func add[K comparable](index map[K]map[inventory.Key]bool, of K, key inventory.Key) {
	if index[of] == nil {
		index[of] = map[inventory.Key]bool{}
	}

	index[of][key] = true
}

func remove[K comparable](index map[K]map[inventory.Key]bool, of K, key inventory.Key) {
	delete(index[of], key)

	if len(index[of]) == 0 {
		delete(index, of)
	}
}
