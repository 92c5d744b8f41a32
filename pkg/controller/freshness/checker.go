package freshness

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"

	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// The resources that decide about the clusters of an object.
var (
	Clusters    = inventory.Clusters.Resource
	ClusterSets = inventory.ClusterSets.Resource
	Bindings    = inventory.Bindings.Resource
	Scores      = inventory.Scores.Resource
)

const (
	// maxSingleReads is the greatest number of clusters that are read one by one. More are compared with a list of all clusters.
	maxSingleReads = 8
	// maxWait is how long Prove waits for event handlers that are behind. After that, further calls do not wait for the same resource until
	// it has caught up.
	maxWait = 2 * time.Second
	// maxLag is how long a resource counts as lagging after it was last found behind.
	maxLag = 30 * time.Second
	// maxObjectsInError is the greatest number of objects in the text of an error.
	maxObjectsInError = 3
)

// ErrObjectChanged means that the object of a Removal differs from the evaluated one, and that the view already shows the change.
var ErrObjectChanged = errors.New("the object has changed since it was evaluated")

// BehindError has the objects that the API server shows in a later version than the view, after the event handlers were waited for.
type BehindError struct {
	// Objects are sorted by resource, namespace and name.
	Objects []Object
}

// Resources returns the plural names of the resources of the objects, sorted.
func (e *BehindError) Resources() []string {
	var names []string

	for _, object := range e.Objects {
		if !slices.Contains(names, object.Resource.Resource) {
			names = append(names, object.Resource.Resource)
		}
	}

	return names
}

// Error names the first objects.
func (e *BehindError) Error() string {
	texts := make([]string, 0, maxObjectsInError+1)

	for _, object := range e.Objects[:min(len(e.Objects), maxObjectsInError)] {
		texts = append(texts, object.Resource.Resource+" "+strings.TrimPrefix(object.String(), "/"))
	}

	if more := len(e.Objects) - len(texts); more > 0 {
		texts = append(texts, fmt.Sprintf("%d more", more))
	}

	return "the watch has not shown the latest version of " + strings.Join(texts, ", ")
}

// Removal is a result that removes clusters from a Placement or another object that asks for clusters.
type Removal struct {
	// Object names the object, and Meta is its metadata as it was evaluated.
	Object Object
	Meta   metav1.ObjectMeta
	// Annotations returns those annotations of the object that Meta has; nil if Meta has all.
	Annotations func(map[string]string) map[string]string
	// Others are further objects that decide about the removal by their names, in any order, whether they exist or not. The event handlers
	// of their kinds must be wrapped by Observe.
	Others []Object
	// ClusterSets are the sets that the object asks for; empty means every set that is bound to its namespace.
	ClusterSets []string
	// AnyScope reports that the clusters would be removed with any bindings and sets, so that these are not read: an object that asks for all
	// matching clusters loses one that does not match, whichever clusters are in scope.
	AnyScope bool
	// Clusters are the clusters that are removed, and those that replace them.
	Clusters []string
	// Scores reports that the result depends on AddOnPlacementScores.
	Scores bool
}

// Checker compares the view of the hub with the API server. It is safe for concurrent use.
type Checker struct {
	observed *Observed
	reader   *reader
	// all reports that every object of every resource must be compared before the next proof.
	all atomic.Bool

	mu sync.Mutex
	// lagging has the resources that the event handlers were behind with for maxWait, each with an object that shows it.
	lagging map[schema.GroupVersionResource]lag
}

// lag is a version of an object that the view had not reached at a time.
type lag struct {
	object  Object
	version string
	at      time.Time
}

// New returns a Checker that reads with the client and compares with the observed versions.
func New(client metadata.Interface, observed *Observed) *Checker {
	return &Checker{observed: observed, reader: newReader(client, observed.Now), lagging: map[schema.GroupVersionResource]lag{}}
}

// RequireAll makes the next proof compare every object of every resource once. A new leader calls it, whose watches may have been broken
// while it was a standby.
func (c *Checker) RequireAll() { c.all.Store(true) }

// Prove reads the objects that decide about a removal from the API server, and waits at most maxWait until the view shows them. It returns
// a *BehindError if the view is still behind then, ErrObjectChanged, or the error of a request.
func (c *Checker) Prove(ctx context.Context, removal Removal) (*Proof, error) {
	if c.all.Load() {
		if err := c.proveAll(ctx); err != nil {
			return nil, err
		}

		c.all.Store(false)
	}

	proof := &Proof{observed: c.observed, versions: map[Object]string{}}

	if err := c.read(ctx, removal, proof); err != nil {
		return nil, err
	}

	if !proof.isFor(removal) {
		if err := c.wait(ctx, map[Object]string{removal.Object: proof.object.ResourceVersion}); err != nil {
			return nil, err
		}

		return nil, ErrObjectChanged
	}

	if err := c.wait(ctx, proof.versions); err != nil {
		return nil, err
	}

	return proof, nil
}

// read reads the object, the others, the bindings of its namespace, their sets, and the clusters. The requests do not wait for each other, so
// a removal waits for one round trip, and not for three.
func (c *Checker) read(ctx context.Context, removal Removal, proof *Proof) error {
	var bindings map[types.NamespacedName]metav1.ObjectMeta

	// The objects of the view are listed before the request: objects that appear later need not be in the response.
	shown := c.observed.objects(Bindings, removal.Object.Namespace)
	reads, readsCtx := errgroup.WithContext(ctx)
	reads.Go(func() (err error) {
		proof.object, proof.found, err = c.reader.object(readsCtx, removal.Object)

		return err
	})
	reads.Go(func() (err error) {
		if !removal.AnyScope {
			bindings, err = c.reader.list(readsCtx, Bindings, removal.Object.Namespace)
		}

		return err
	})
	reads.Go(func() error {
		return c.readVersions(readsCtx, slices.Concat(removal.Others, removal.sets(namesOf(shown))), proof)
	})
	reads.Go(func() error { return c.readClusters(readsCtx, removal, proof) })

	if err := reads.Wait(); err != nil {
		return err //nolint:wrapcheck // The reader names what it was about.
	}

	if !removal.AnyScope {
		proof.addList(Bindings, bindings, shown)
	}

	unread := slices.DeleteFunc(removal.sets(slices.Collect(maps.Keys(bindings))), proof.has) // Those of bindings that the view lacks.
	if err := c.readVersions(ctx, unread, proof); err != nil {
		return err
	}

	if len(removal.Clusters) > maxSingleReads {
		return c.listClusters(ctx, removal, proof)
	}

	return nil
}

// readVersions reads objects one by one, and adds their versions to a proof.
func (c *Checker) readVersions(ctx context.Context, objects []Object, proof *Proof) error {
	reads, readsCtx := errgroup.WithContext(ctx)

	for _, object := range objects {
		reads.Go(func() error {
			meta, _, err := c.reader.object(readsCtx, object)
			proof.add(object, meta.ResourceVersion)

			return err
		})
	}

	return reads.Wait() //nolint:wrapcheck // The reader names what it was about.
}

// sets returns the sets of the bindings that the object uses, if they decide about the removal.
func (r Removal) sets(bindings []types.NamespacedName) []Object {
	if r.AnyScope {
		return nil
	}

	var sets []Object

	for _, binding := range bindings {
		if len(r.ClusterSets) == 0 || slices.Contains(r.ClusterSets, binding.Name) {
			sets = append(sets, Object{Resource: ClusterSets, NamespacedName: types.NamespacedName{Name: binding.Name}})
		}
	}

	return sets
}

// readClusters reads a few clusters one by one and, if the result depends on scores, all scores of each cluster. It reads none of many.
func (c *Checker) readClusters(ctx context.Context, removal Removal, proof *Proof) error {
	if len(removal.Clusters) > maxSingleReads {
		return nil
	}

	reads, readsCtx := errgroup.WithContext(ctx)
	clusters := make([]Object, 0, len(removal.Clusters))

	for _, name := range removal.Clusters {
		clusters = append(clusters, clusterObject(name))

		if removal.Scores {
			reads.Go(func() error {
				shown := c.observed.objects(Scores, name)
				scores, err := c.reader.list(readsCtx, Scores, name)
				proof.addList(Scores, scores, shown)

				return err
			})
		}
	}

	reads.Go(func() error { return c.readVersions(readsCtx, clusters, proof) })

	return reads.Wait() //nolint:wrapcheck // The reader names what it was about.
}

// listClusters compares the clusters with lists of all clusters and all scores.
func (c *Checker) listClusters(ctx context.Context, removal Removal, proof *Proof) error {
	// A list that was sent after the view had processed the other objects shows a moment at which they were all in these versions.
	since := max(c.observed.lastChange(Bindings, removal.Object.Namespace), c.observed.lastChange(ClusterSets, ""),
		c.observed.changedAt(removal.Object))
	for _, other := range removal.Others {
		since = max(since, c.observed.lastChange(other.Resource, other.Namespace))
	}

	clusters, err := c.listed(ctx, Clusters, since, func(list map[types.NamespacedName]metav1.ObjectMeta) map[Object]string {
		versions := make(map[Object]string, len(removal.Clusters))

		for _, name := range removal.Clusters {
			cluster := clusterObject(name)
			versions[cluster] = list[cluster.NamespacedName].ResourceVersion
		}

		return versions
	})
	if err != nil {
		return err
	}

	proof.addAll(clusters)

	if !removal.Scores {
		return nil
	}

	of := make(map[string]bool, len(removal.Clusters))
	for _, name := range removal.Clusters {
		of[name] = true
	}

	shown := c.observed.objects(Scores, "")
	scores, err := c.listed(ctx, Scores, since, func(list map[types.NamespacedName]metav1.ObjectMeta) map[Object]string {
		versions := map[Object]string{}

		for _, object := range shown {
			if of[object.Namespace] {
				versions[object] = ""
			}
		}

		for name, meta := range list {
			if of[name.Namespace] {
				versions[Object{Resource: Scores, NamespacedName: name}] = meta.ResourceVersion
			}
		}

		return versions
	})
	proof.addAll(scores)

	return err
}

// listed picks versions from a list of a whole resource. It uses a recent list if the view shows exactly these versions, or else requests a
// new one.
func (c *Checker) listed(
	ctx context.Context, resource schema.GroupVersionResource, since uint64,
	pick func(list map[types.NamespacedName]metav1.ObjectMeta) map[Object]string,
) (map[Object]string, error) {
	if recent := c.reader.recentList(resource, since); recent != nil {
		if versions := pick(recent); c.observed.showsAll(versions) {
			return versions, nil
		}
	}

	list, err := c.reader.list(ctx, resource, "")
	if err != nil {
		return nil, err
	}

	return pick(list), nil
}

// proveAll compares every object of every resource.
func (c *Checker) proveAll(ctx context.Context) error {
	everything := &Proof{observed: c.observed, versions: map[Object]string{}}
	reads, readsCtx := errgroup.WithContext(ctx)

	for _, kind := range inventory.Kinds() {
		reads.Go(func() error {
			shown := c.observed.objects(kind.Resource, "")
			list, err := c.reader.list(readsCtx, kind.Resource, "")
			everything.addList(kind.Resource, list, shown)

			return err
		})
	}

	if err := reads.Wait(); err != nil {
		return err //nolint:wrapcheck // The reader names what it was about.
	}

	return c.wait(ctx, everything.versions)
}

// wait returns nil once the view has reached the versions. It waits at most maxWait, and not at all for a lagging resource.
func (c *Checker) wait(ctx context.Context, versions map[Object]string) error {
	limit := maxWait

	for object := range versions {
		if c.lags(object.Resource) {
			limit = 0
		}
	}

	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()

	behind := c.observed.wait(waiting, versions)
	if len(behind) == 0 {
		return nil
	}

	if ctx.Err() != nil {
		return fmt.Errorf("waiting for the event handlers: %w", ctx.Err())
	}

	c.mu.Lock()
	defer c.mu.Unlock()

	for _, object := range behind {
		c.lagging[object.Resource] = lag{object: object, version: versions[object], at: time.Now()}
	}

	slices.SortFunc(behind, compareObjects)

	return &BehindError{Objects: behind}
}

// lags reports whether the event handlers are known to be behind with a resource.
func (c *Checker) lags(resource schema.GroupVersionResource) bool {
	c.mu.Lock()
	defer c.mu.Unlock()

	last, known := c.lagging[resource]
	if !known {
		return false
	}

	if time.Since(last.at) > maxLag || c.observed.reached(last.object, last.version) {
		delete(c.lagging, resource)

		return false
	}

	return true
}

func compareObjects(a, b Object) int {
	return strings.Compare(a.Resource.Resource+"/"+a.String(), b.Resource.Resource+"/"+b.String())
}

func namesOf(objects []Object) []types.NamespacedName {
	names := make([]types.NamespacedName, 0, len(objects))
	for _, object := range objects {
		names = append(names, object.NamespacedName)
	}

	return names
}

func clusterObject(name string) Object {
	return Object{Resource: Clusters, NamespacedName: types.NamespacedName{Name: name}}
}
