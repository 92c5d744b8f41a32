// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
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
	// minSingleReads is the number of objects up to which these are read one by one, and objectsPerRead that of the objects of the hub for each that
	// is read so; more are compared with a list of all. A list costs the API server as much as reading a thirtieth of it.
	minSingleReads = 8
	objectsPerRead = 100
	// maxWait is how long Prove waits for event handlers that are behind. After that, further calls do not wait for the same resource until
	// it has caught up.
	maxWait = 2 * time.Second
	// maxLag is how long a resource counts as lagging after it was last found behind.
	maxLag = 30 * time.Second
)

// Checker compares the view of the hub with the API server. It is safe for concurrent use.
type Checker struct {
	observed *Observed
	reader   *reader
	// compare reads a ManagedCluster consistently, and returns the properties in which it differs from the view. Nil compares versions alone.
	compare func(ctx context.Context, cluster string) ([]clusterinfo.Property, error)
	// baseline is the comparison of every object; nil if none is required.
	baseline *baseline
	history  *history

	mu sync.Mutex
	// lagging has the resources that the event handlers were behind with for maxWait, each with an object that shows it.
	lagging map[schema.GroupVersionResource]lag
}

// lag is a version of an object that the view had not reached at a time, and the number of the last change of the view then.
type lag struct {
	object  Object
	version string
	at      time.Time
	since   uint64
}

// New returns a Checker that reads with the client and compares with the observed versions. The function compare reads a ManagedCluster
// consistently and returns the properties in which it differs from the view; it may be nil.
func New(
	client metadata.Interface, observed *Observed, compare func(ctx context.Context, cluster string) ([]clusterinfo.Property, error),
) *Checker {
	lost := newHistory(observed)
	return &Checker{
		observed: observed, reader: newReader(client, observed, lost), compare: compare, history: lost,
		lagging: map[schema.GroupVersionResource]lag{},
	}
}

// singleReads returns how many objects of a resource are read one by one for a proof.
func (c *Checker) singleReads(of schema.GroupVersionResource) int {
	return max(minSingleReads, c.observed.count(of)/objectsPerRead)
}

// Prove reads the objects that decide about a removal from the API server, and waits at most maxWait until the view shows them. It returns
// nil if the result was computed on a state of the hub that existed less than listTimeout before the call or later, as far as the view has it.
// Otherwise it returns ErrObjectChanged, ErrViewChanged, ErrHistoryLost, a *BehindError if the view is still behind, or the error of a request.
func (c *Checker) Prove(ctx context.Context, removal ProofRequest) error {
	if c.baseline != nil {
		if err := c.baseline.wait(ctx); err != nil {
			return err
		}
	}
	p := newProof(removal)

	err := c.prove(ctx, p, func(Object) bool { return false })
	if behind, ok := errors.AsType[*BehindError](err); ok && c.comparable(p, behind) {
		return c.proveContents(ctx, removal, behind)
	}
	return err
}

// prove compares the objects that are not excluded.
func (c *Checker) prove(ctx context.Context, p *proof, excluded func(Object) bool) error {
	earliest, err := c.earliest(ctx, p)
	if err != nil {
		return err
	}
	p.earliest = earliest
	if err := c.read(ctx, p, excluded); err != nil {
		return err
	}
	if !p.isForObject() {
		if err := c.wait(ctx, map[Object]string{p.removal.Object: p.object.ResourceVersion}, p.since, concernsNothing); err != nil {
			return err
		}
		return ErrObjectChanged
	}

	return c.wait(ctx, p.versions, p.since, p.concerns)
}

// earliest returns the number of the last change of the view that may concern a removal, or noEarlier. Requests that were sent since then serve its
// proof. The object of the removal may come from another cache, which can be ahead of the view. So the view must have shown its version: it said the
// same since the number then. Changes that are being shown are waited for, because the snapshot may have them. If contents may have been compared
// with such a change, which no later request would find, the error is ErrViewChanged.
func (c *Checker) earliest(ctx context.Context, p *proof) (uint64, error) {
	shown := compareVersions(c.observed.shown(p.removal.Object), p.removal.Meta.ResourceVersion) >= 0
	if !p.contents && (!shown || p.removal.Unobserved && !p.removal.many()) {
		return noEarlier, nil
	}
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()

	switch last, recorded := c.observed.lastChange(ctx, c.reader.firstView(), p.concernsAny); {
	case p.contents && !recorded:
		return 0, ErrViewChanged
	case p.contents || !recorded:
		return noEarlier, nil
	default:
		return last, nil
	}
}

func concernsNothing(change) bool { return false }

// comparable reports whether a removal can be proved by what the clusters say, while the view is behind with their versions. The clusters are
// read at different moments, so they must not decide about each other.
func (c *Checker) comparable(p *proof, behind *BehindError) bool {
	return c.compare != nil && !p.removal.many() && (!p.removal.Ranked || len(p.removal.Clusters) == 1) &&
		!slices.ContainsFunc(behind.Objects, func(object Object) bool { return object.Resource != Clusters })
}

// proveContents proves a removal whose clusters say in the API server what the view shows, in whichever version. The clusters are read before
// the other objects, which have not changed up to then if they have the version of the view. A request that was
// sent before those of the clusters does not serve: the clusters may have said something else at that time.
func (c *Checker) proveContents(ctx context.Context, removal ProofRequest, behind *BehindError) error {
	reads, readsCtx := errgroup.WithContext(ctx)
	for _, name := range removal.Clusters {
		reads.Go(func() error {
			differs, err := c.compare(readsCtx, name)
			switch {
			case err != nil:
				return err
			case removal.reads(differs):
				return behind
			default:
				return nil
			}
		})
	}

	if err := reads.Wait(); err != nil {
		return err //nolint:wrapcheck // It is a BehindError, or names what it was about.
	}
	p := newProof(removal)
	p.contents = true
	return c.prove(ctx, p, func(object Object) bool { return object.Resource == Clusters })
}

// read reads the object, the others, the bindings of its namespace, their sets, and the clusters, except for excluded objects. The requests do
// not wait for each other, so a removal waits for one round trip, and not for three. Requests that were sent earlier for other removals serve
// where the view shows what changes: not for the object and the others, whose versions in the result may come from another cache.
func (c *Checker) read(ctx context.Context, p *proof, excluded func(Object) bool) error {
	removal := p.removal
	shown := c.observed.objects(Bindings, removal.Object.Namespace)
	reads, readsCtx := errgroup.WithContext(ctx)
	reads.Go(func() error { return c.readObject(readsCtx, p) })
	if !removal.AnyScope {
		reads.Go(func() error { return c.readBindings(readsCtx, p, shown) })
	}
	reads.Go(func() error { return c.readVersions(readsCtx, p, removal.Others, noEarlier) })

	if removal.many() && !c.readsSingly(p) {
		reads.Go(func() error { return c.listClusters(readsCtx, p) })
	} else {
		reads.Go(func() error { return c.readClusters(readsCtx, p, excluded) })
	}
	return reads.Wait() //nolint:wrapcheck // The reader names what it was about.
}

// readsSingly reports whether many clusters are read one by one: a list of all of them would cost more, and none has been read that serves.
func (c *Checker) readsSingly(p *proof) bool {
	return !p.removal.AllClusters && len(p.removal.Clusters) <= c.singleReads(Clusters) &&
		!c.reader.has(request{resource: Clusters}, oldest{change: p.earliest})
}

// readObject reads the object of a removal.
func (c *Checker) readObject(ctx context.Context, p *proof) error {
	of := p.removal.Object
	read, err := c.readFor(ctx, p, requestOf(of), noEarlier)
	if err != nil {
		return err
	}
	p.object = read.object
	_, p.found = read.versions[of.NamespacedName]
	return nil
}

// readBindings reads the sets of the bindings of the namespace that the view shows, and these bindings one by one, or all by a list. The sets of
// bindings that only the list has are read after it.
func (c *Checker) readBindings(ctx context.Context, p *proof, shown []Object) error {
	reads, readsCtx := errgroup.WithContext(ctx)
	reads.Go(func() error { return c.readSets(readsCtx, p, shown) })
	reads.Go(func() error {
		if p.removal.readsBindings(shown) {
			return c.readVersions(readsCtx, p, shown, p.earliest)
		}
		list, err := c.readFor(readsCtx, p, request{resource: Bindings, namespace: p.removal.Object.Namespace}, p.earliest)
		if err != nil {
			return err
		}
		versions := maps.Collect(list.all(Bindings))
		p.addAll(versions)
		for _, known := range shown {
			delete(versions, known)
		}
		return c.readSets(readsCtx, p, slices.Collect(maps.Keys(versions)))
	})
	return reads.Wait() //nolint:wrapcheck // The reader names what it was about.
}

// readSets reads the sets of bindings that decide about a removal, one by one or all by a list.
func (c *Checker) readSets(ctx context.Context, p *proof, bindings []Object) error {
	sets := p.removal.sets(namesOf(bindings))
	if len(sets) <= c.singleReads(ClusterSets) {
		return c.readVersions(ctx, p, sets, p.earliest)
	}
	list, err := c.readFor(ctx, p, request{resource: ClusterSets}, p.earliest)
	if err != nil {
		return err
	}
	versions := make(map[Object]string, len(sets))
	for _, set := range sets {
		versions[set] = list.versions[set.NamespacedName]
	}
	p.addAll(versions)
	return nil
}

// readFor returns the response to a request for a proof. The request was not sent before the change of the view with the number earliest.
func (c *Checker) readFor(ctx context.Context, p *proof, what request, earliest uint64) (*reading, error) {
	read, err := c.reader.read(ctx, what, oldest{change: earliest, slow: p.removal.AllClusters && what.name == ""})
	if err != nil {
		return nil, err
	}
	p.uses(read)
	return read, nil
}

// readVersions reads objects one by one, and adds their versions to a proof.
func (c *Checker) readVersions(ctx context.Context, p *proof, objects []Object, earliest uint64) error {
	reads, readsCtx := errgroup.WithContext(ctx)
	for _, object := range objects {
		reads.Go(func() error {
			read, err := c.readFor(readsCtx, p, requestOf(object), earliest)
			if err == nil {
				p.addAll(map[Object]string{object: read.versions[object.NamespacedName]})
			}
			return err
		})
	}
	return reads.Wait() //nolint:wrapcheck // The reader names what it was about.
}

// readClusters reads a few clusters one by one and, if the result depends on scores, all scores of each cluster.
func (c *Checker) readClusters(ctx context.Context, p *proof, excluded func(Object) bool) error {
	reads, readsCtx := errgroup.WithContext(ctx)
	clusters := make([]Object, 0, len(p.removal.Clusters))
	for _, name := range p.removal.Clusters {
		clusters = append(clusters, clusterObject(name))
		if p.removal.Scores {
			reads.Go(func() error {
				scores, err := c.readFor(readsCtx, p, request{resource: Scores, namespace: name}, p.earliest)
				if err == nil {
					p.addAll(maps.Collect(scores.all(Scores)))
				}
				return err
			})
		}
	}

	reads.Go(func() error { return c.readVersions(readsCtx, p, without(clusters, excluded), p.earliest) })
	return reads.Wait() //nolint:wrapcheck // The reader names what it was about.
}

// listClusters compares the clusters with a list of all clusters and, if the result depends on scores, of all scores.
func (c *Checker) listClusters(ctx context.Context, p *proof) error {
	resources := []schema.GroupVersionResource{Clusters}
	if p.removal.Scores {
		resources = append(resources, Scores)
	}
	reads, readsCtx := errgroup.WithContext(ctx)

	for _, resource := range resources {
		reads.Go(func() error {
			list, err := c.readFor(readsCtx, p, request{resource: resource}, p.earliest)
			if err == nil {
				p.addAll(c.versionsOf(p, resource, list))
			}
			return err
		})
	}

	return reads.Wait() //nolint:wrapcheck // The reader names what it was about.
}

// versionsOf returns the versions of the deciding clusters, or of their scores, in a list of all; none where every cluster decides and the view has
// reached them all.
func (c *Checker) versionsOf(p *proof, resource schema.GroupVersionResource, list *reading) map[Object]string {
	if p.removal.AllClusters && list.isReached(resource, c.observed) {
		return nil
	}
	return p.decidingVersions(resource, list)
}

// wait returns nil once the view has reached the versions, and ErrViewChanged if it has shown a change that concerns the caller. It waits at
// most maxWait, and not at all for a lagging resource.
func (c *Checker) wait(ctx context.Context, versions map[Object]string, since uint64, concerns func(change) bool) error {
	limit, resources := maxWait, map[schema.GroupVersionResource]bool{}
	for object := range versions {
		resources[object.Resource] = true
	}
	for resource := range resources {
		if c.lags(resource) {
			limit = 0
		}
	}

	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	behind, changed := c.observed.wait(waiting, versions, since, concerns)
	switch {
	case changed:
		return ErrViewChanged
	case len(behind) == 0:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("waiting for the event handlers: %w", ctx.Err())
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.observed.Now()
	for _, object := range behind {
		c.lagging[object.Resource] = lag{object: object, version: versions[object], at: time.Now(), since: now}
	}
	return newBehindError(behind)
}

// lags reports whether the event handlers are known to be behind with a resource.
func (c *Checker) lags(resource schema.GroupVersionResource) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	last, known := c.lagging[resource]
	if !known {
		return false
	}

	behind := c.observed.behind(maps.All(map[Object]string{last.object: last.version}), last.since)
	if time.Since(last.at) > maxLag || len(behind) == 0 {
		delete(c.lagging, resource)
		return false
	}
	return true
}
