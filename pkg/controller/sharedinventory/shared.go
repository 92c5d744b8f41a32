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
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/controller/freshness"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/lenient"
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

	subscriptions []subscription
	unreadables   *unreadables
	elected       sync.Once

	mu sync.Mutex
	// known are the kinds that are listened to, and synced tells of the initial lists of the inventory's kinds once they are.
	known  map[schema.GroupVersionKind]bool
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
		known: map[schema.GroupVersionKind]bool{},
	}
}

// Connect makes the Checker, which reads from the API server of the manager, unless an earlier call has. Its reads are not rate limited: they
// are few, and each delays a removal. The manager has it compare everything once this process leads, because the watches of a standby may have
// been broken, and ends when the history of the API server was lost.
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

	live, err := lenient.NewClient(config, client.Options{
		HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(),
	})
	if err != nil {
		return fmt.Errorf("preparing to read clusters: %w", err)
	}

	s.Checker = freshness.New(api, s.Observed, func(ctx context.Context, cluster string) ([]clusterinfo.Property, error) {
		return s.compare(ctx, live, cluster)
	})
	s.Checker.RequireAll()

	for _, runnable := range []manager.Runnable{s.Checker, onEveryReplica(s.Checker.WatchHistory)} {
		if err := mgr.Add(runnable); err != nil {
			return fmt.Errorf("adding the comparison with the API server: %w", err)
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
func (f onEveryReplica) Start(ctx context.Context) error { return f(ctx) }

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
// before Listen. Enqueue runs on the goroutines of the informers, for several kinds at the same time.
func (s *Shared) Handle(owns func(inventory.Key) bool, enqueue func(at time.Time, affected inventory.Affected)) {
	s.subscriptions = append(s.subscriptions, subscription{owns: owns, enqueue: enqueue})
}

// Set handles an added or changed object of a kind of the inventory.
func (s *Shared) Set(kind *inventory.Kind, after inventory.Object) {
	at := time.Now()
	affected := kind.Set(s.Inventory, after)
	s.Observed.Set(freshness.ObjectOf(kind.Resource, after), after.GetResourceVersion(), affected.Changes)
	s.Notify(at, affected)
}

// Delete handles a deleted object of a kind of the inventory, given its last known state.
func (s *Shared) Delete(kind *inventory.Kind, last inventory.Object) {
	at := time.Now()
	affected := kind.Delete(s.Inventory, last)
	s.Observed.Delete(freshness.ObjectOf(kind.Resource, last))
	s.Notify(at, affected)
}

// Notify tells the controllers of a change of the inventory that arrived at a time. Set and Delete call it; a controller calls it for the
// objects that only it adds to the inventory.
func (s *Shared) Notify(at time.Time, affected inventory.Affected) {
	if len(affected.Subscribers) == 0 {
		return
	}

	for _, of := range s.subscriptions {
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
// anything; the first call counts.
func (s *Shared) Elect(recorder events.EventRecorder) {
	s.elected.Do(func() { s.unreadables.warn(recorder) })
}
