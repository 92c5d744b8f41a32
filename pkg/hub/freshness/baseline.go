// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// baselineRetry is the time between two attempts to compare a resource.
const baselineRetry = time.Second

// baseline is the comparison of every object of every resource with the view, once for a process. It is safe for concurrent use.
type baseline struct {
	done chan struct{} // closed when every resource was compared

	mu sync.Mutex
	// open has the resources that were not compared yet, each with the error of the last attempt or nil.
	open map[schema.GroupVersionResource]error
	// failed is closed when an attempt has failed.
	failed     chan struct{}
	failedOnce sync.Once
}

// RequireAll makes every proof wait for a comparison of every object of every resource, which Start makes. A new leader needs it, whose watches
// may have been broken while it was a standby. It must be called before the Checker is used.
func (c *Checker) RequireAll() {
	c.baseline = &baseline{done: make(chan struct{}), failed: make(chan struct{}), open: map[schema.GroupVersionResource]error{}}
	for _, kind := range inventory.Kinds() {
		c.baseline.open[kind.Resource] = nil
	}
}

// Start compares every object of every resource, by resource and page, until the view has shown all of them. It returns when that is done or
// the context ends.
func (c *Checker) Start(ctx context.Context) error {
	resources, resourcesCtx := errgroup.WithContext(ctx)
	for _, kind := range inventory.Kinds() {
		resources.Go(func() error {
			return wait.PollUntilContextCancel(resourcesCtx, baselineRetry, true, func(ctx context.Context) (bool, error) {
				return c.baseline.note(kind.Resource, c.compareAll(ctx, kind.Resource)), nil
			})
		})
	}

	if err := resources.Wait(); err != nil {
		if ctx.Err() != nil {
			return nil //nolint:nilerr // The process ends.
		}
		return fmt.Errorf("comparing every object with the API server: %w", err)
	}
	close(c.baseline.done)
	return nil
}

// compareAll returns nil once the view has shown every object of a resource that the API server has, and none that it does not have.
func (c *Checker) compareAll(ctx context.Context, of schema.GroupVersionResource) error {
	since, shown := c.observed.Now(), c.observed.objects(of, "")
	listed := make(map[types.NamespacedName]bool, len(shown))
	for page, err := range c.reader.pages(ctx, of, "") {
		if err != nil {
			return err
		}
		versions := make(map[Object]string, len(page))
		for name, version := range page {
			listed[name], versions[Object{Resource: of, NamespacedName: name}] = true, version
		}
		if err := c.reach(ctx, versions, since); err != nil {
			return err
		}
	}

	gone := map[Object]string{}
	for _, object := range shown {
		if !listed[object.NamespacedName] {
			gone[object] = ""
		}
	}
	return c.reach(ctx, gone, since)
}

// reach waits at most maxWait until the view has reached versions.
func (c *Checker) reach(ctx context.Context, versions map[Object]string, since uint64) error {
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	if behind, _ := c.observed.wait(ctx, versions, since, concernsNothing); len(behind) > 0 {
		return newBehindError(behind)
	}
	return nil
}

// note records the result of an attempt, and reports whether the resource is done.
func (b *baseline) note(of schema.GroupVersionResource, err error) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil {
		delete(b.open, of)
		return true
	}
	b.open[of] = err
	b.failedOnce.Do(func() { close(b.failed) })
	return false
}

// wait returns nil once every resource was compared. It waits at most maxWait, and only until the first attempt has failed.
func (b *baseline) wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	select {
	case <-b.done:
		return nil
	case <-b.failed:
	case <-ctx.Done():
	}

	select {
	case <-b.done:
		return nil
	default:
		return b.problem()
	}
}

// problem returns the error of an attempt, or the objects that the view is behind with.
func (b *baseline) problem() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var objects []Object
	for of, err := range b.open {
		behind, ok := errors.AsType[*BehindError](err)
		switch {
		case ok:
			objects = slices.Concat(objects, behind.Objects)
		case err != nil:
			return err
		default:
			objects = append(objects, Object{Resource: of})
		}
	}

	return newBehindError(objects)
}
