// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
)

// parallelWrites is how many works of one object are written at the same time.
const parallelWrites = 8

// remove calls a function that takes the object, or replicas of it, from each of the clusters. The error is errChanged if the object has changed
// since it was evaluated, or the proof is too old: then no further write begins.
func (w *writer) remove(
	ctx context.Context, c *cycle, clusters []string, write func(ctx context.Context, cluster string) error,
) error {
	return w.each(ctx, clusters, func(ctx context.Context, cluster string) error {
		if err := w.proceed(ctx, c); err != nil {
			return err
		}
		return write(ctx, cluster)
	})
}

// proceed returns nil if the next write may take the object from a cluster, and errChanged if the object has to be evaluated again
// (docs/spec/differences.md B13).
func (w *writer) proceed(ctx context.Context, c *cycle) error {
	latest, err := w.latest(ctx, c)
	if err != nil {
		return err
	}
	if err := c.removal.Proceed(latest, w.clock.Now()); err != nil {
		return fmt.Errorf("%w: %w", errChanged, err)
	}
	if latest == nil || latest.DeletionTimestamp != nil {
		return nil // The Namespace does not decide about what is being deleted.
	}

	namespace, err := w.namespace(ctx, c.key.Namespace)
	if err != nil {
		return err
	}
	if (namespace == nil) != (c.namespace == nil) || namespace != nil && !federation.SameDefaults(namespace, c.namespace) {
		return fmt.Errorf("%w: the Namespace %s has other defaults", errChanged, c.key.Namespace)
	}
	return nil
}

// each calls a function for each of the clusters in their order, several at the same time. A failure of one does not keep the others from being
// written.
func (w *writer) each(ctx context.Context, clusters []string, write func(ctx context.Context, cluster string) error) error {
	var (
		group errgroup.Group
		mu    sync.Mutex
		errs  []error
	)
	group.SetLimit(parallelWrites)

	for _, cluster := range clusters {
		group.Go(func() error {
			if err := write(ctx, cluster); err != nil {
				mu.Lock()
				defer mu.Unlock()
				errs = append(errs, err)
			}
			return nil
		})
	}

	if err := group.Wait(); err != nil {
		return err //nolint:wrapcheck // there is none
	}
	return gathered(errs)
}

// mostErrors is how many errors one error has.
const mostErrors = 3

// gathered returns an error with a few of the errors; nil for none. Conflicts and errChanged, which are retried quietly, hide no other error.
func gathered(errs []error) error {
	quiet := func(err error) bool { return queue.Outdated(err) || errors.Is(err, errChanged) }
	if others := slices.DeleteFunc(slices.Clone(errs), quiet); len(others) > 0 {
		errs = others
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	if more := len(errs) - mostErrors; more > 0 {
		errs = append(errs[:mostErrors:mostErrors], fmt.Errorf("and %d more errors", more)) //nolint:err113 // It has no type of its own.
	}
	return errors.Join(errs...)
}

// abandon removes the finalizers of agents from works of clusters that do not exist any more, if the API server says so too.
func (w *writer) abandon(ctx context.Context, c *cycle, clusters []string) error {
	return w.each(ctx, clusters, func(ctx context.Context, cluster string) error {
		err := w.live.Get(ctx, types.NamespacedName{Name: cluster}, objects.Metadata(managedCluster))
		switch {
		case err == nil:
			return nil // The cluster is there again; its event enqueues the object.
		case !absent(err):
			return fmt.Errorf("reading ManagedCluster %s: %w", cluster, err)
		}
		return w.release(ctx, c, cluster)
	})
}
