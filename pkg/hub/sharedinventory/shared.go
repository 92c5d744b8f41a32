// SPDX-License-Identifier: Apache-2.0

package sharedinventory

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/decoding"
	"github.com/placement-hub/placement-hub/pkg/hub/freshness"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// Shared is the inventory of a hub and what belongs to it. Its fields do not change once the manager has started, and each is safe for
// concurrent use.
type Shared struct {
	Inventory *inventory.Inventory
	// Compiler compiles the selectors of the inventory and of its subscribers.
	Compiler *selector.Compiler
	// Observed has the resourceVersions of the objects in the inventory, and of the objects that controllers have observed besides.
	Observed *freshness.Observed
	// Checker compares Observed with the API server; nil before Connect.
	Checker *freshness.Checker

	// followed is closed when the kinds of the inventory are listened to for the manager of Connect; nil before Connect.
	followed    chan struct{}
	unreadables *unreadables
	elected     sync.Once

	mu            sync.Mutex
	subscriptions []*subscription
	setHandlers   []func(inventory.Affected)
	// known are the kinds that are listened to, each with the context in which it is, and synced tells of the initial lists of the inventory's
	// kinds once they are.
	known  map[schema.GroupVersionKind]context.Context
	synced []toolscache.DoneChecker
}

// subscription is what a controller wants to know.
type subscription struct {
	owns    func(inventory.Key) bool
	enqueue func(at time.Time, affected inventory.Affected)
}

// New returns a Shared with an empty inventory.
func New() *Shared {
	compiler := selector.NewCompiler()
	return &Shared{
		Inventory: inventory.New(compiler), Compiler: compiler, Observed: freshness.NewObserved(), unreadables: newUnreadables(),
		known: map[schema.GroupVersionKind]context.Context{},
	}
}

// Connect makes the Checker, which reads from the API server of the manager, and has the manager listen to the kinds of the inventory on every
// replica, unless an earlier call has. The reads are not rate limited: they are few, and each delays a removal. The manager has the Checker
// compare everything once this process leads, because the watches of a standby may have been broken, and ends when the history of the API
// server was lost.
func (s *Shared) Connect(mgr manager.Manager) error {
	if s.Checker != nil {
		return nil
	}
	config := rest.CopyConfig(mgr.GetConfig())
	config.QPS, config.Burst, config.RateLimiter = -1, 0, nil

	api, err := metadata.NewForConfigAndClient(config, mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("preparing to read metadata: %w", err)
	}
	live, err := decoding.NewClient(config, client.Options{
		HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(),
	})
	if err != nil {
		return fmt.Errorf("preparing to read clusters: %w", err)
	}

	s.Checker = freshness.New(api, s.Observed, func(ctx context.Context, cluster string) ([]clusterinfo.Property, error) {
		return s.compare(ctx, live, cluster)
	})
	s.Checker.RequireAll()
	s.followed = make(chan struct{})
	informers := mgr.GetCache()
	follow := onEveryReplica(func(ctx context.Context) error { return s.followUntilDone(ctx, informers) })
	for _, runnable := range []manager.Runnable{s.Checker, onEveryReplica(s.Checker.WatchHistory), follow} {
		if err := mgr.Add(runnable); err != nil {
			return fmt.Errorf("adding the inventory: %w", err)
		}
	}

	return nil
}

// onEveryReplica is a manager.Runnable that does not wait for the election.
type onEveryReplica func(context.Context) error

var _ manager.LeaderElectionRunnable = onEveryReplica(nil)

// NeedLeaderElection returns false.
func (onEveryReplica) NeedLeaderElection() bool { return false }

// Start calls the function.
func (o onEveryReplica) Start(ctx context.Context) error { return o(ctx) }

// followUntilDone registers the handlers of the kinds of the inventory for as long as the manager runs, which may be longer than any controller.
func (s *Shared) followUntilDone(ctx context.Context, informers cache.Cache) error {
	if err := s.follow(ctx, informers); err != nil {
		return err
	}
	close(s.followed)
	<-ctx.Done()
	return nil
}

// compare reads a ManagedCluster from the API server, and returns the properties in which it differs from the inventory.
func (s *Shared) compare(ctx context.Context, live client.Reader, name string) ([]clusterinfo.Property, error) {
	cluster := &clusterv1.ManagedCluster{}
	err := live.Get(ctx, client.ObjectKey{Name: name}, cluster)
	if apierrors.IsNotFound(err) {
		return s.Inventory.CompareCluster(name, nil), nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading ManagedCluster %s: %w", name, err)
	}
	return s.Inventory.CompareCluster(name, cluster), nil
}

// Handle has enqueue called for each change that affects subscribers whose keys a controller owns, with these subscribers. It must be called
// before Listen. Enqueue runs on the goroutines of the informers, for several kinds at the same time. The returned function ends that.
func (s *Shared) Handle(owns func(inventory.Key) bool, enqueue func(at time.Time, affected inventory.Affected)) (end func()) {
	added := &subscription{owns: owns, enqueue: enqueue}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.subscriptions = append(slices.Clip(s.subscriptions), added)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.subscriptions = slices.DeleteFunc(slices.Clone(s.subscriptions), func(of *subscription) bool { return of == added })
	}
}

// HandleSets has enqueue called for each change that affects ManagedClusterSets: see inventory.Affected.Sets. It must be called before Listen, and
// enqueue runs as that of Handle does.
func (s *Shared) HandleSets(enqueue func(affected inventory.Affected)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.setHandlers = append(slices.Clip(s.setHandlers), enqueue)
}

// Set handles an added or changed object of a kind of the inventory.
func (s *Shared) Set(kind *inventory.ObjectKind, after inventory.Object) {
	at := time.Now()
	object := freshness.ObjectOf(kind.Resource, after)
	s.Observed.Changing(object)
	affected := kind.Set(s.Inventory, after)
	s.Observed.Set(object, after.GetResourceVersion(), affected.Changes)
	s.Notify(at, affected)
}

// Delete handles a deleted object of a kind of the inventory, given its last known state.
func (s *Shared) Delete(kind *inventory.ObjectKind, last inventory.Object) {
	at := time.Now()
	object := freshness.ObjectOf(kind.Resource, last)
	s.Observed.Changing(object)
	affected := kind.Delete(s.Inventory, last)
	s.Observed.Delete(object)
	s.Notify(at, affected)
}

// Notify tells the controllers of a change of the inventory that arrived at a time. Set and Delete call it; a controller calls it for the
// objects that only it adds to the inventory.
func (s *Shared) Notify(at time.Time, affected inventory.Affected) {
	if len(affected.Subscribers) == 0 && len(affected.Sets) == 0 {
		return
	}
	s.mu.Lock()
	subscriptions, setHandlers := s.subscriptions, s.setHandlers // They are never changed in place.
	s.mu.Unlock()

	if len(affected.Sets) > 0 {
		for _, enqueue := range setHandlers {
			enqueue(affected)
		}
	}

	for _, of := range subscriptions {
		own := inventory.Affected{Cause: affected.Cause, Subscribers: owned(affected.Subscribers, of.owns)}
		if len(own.Subscribers) > 0 {
			of.enqueue(at, own)
		}
	}
}

// owned returns the keys that a controller owns. They share memory with keys if these are all.
func owned(keys []inventory.Key, owns func(inventory.Key) bool) []inventory.Key {
	foreign := slices.IndexFunc(keys, func(key inventory.Key) bool { return !owns(key) })
	if foreign < 0 {
		return keys
	}
	own := slices.Clone(keys[:foreign])
	for _, key := range keys[foreign:] {
		if owns(key) {
			own = append(own, key)
		}
	}
	return own
}

// Elect notes that this process has become the leader, so that unreadable objects are warned of. Each controller calls it before it evaluates
// anything; the first call counts. formerRenewal is queue.Settings.FormerRenewal.
func (s *Shared) Elect(recorder events.EventRecorder, formerRenewal func() time.Time) {
	s.elected.Do(func() { s.unreadables.warn(recorder, formerRenewal) })
}
