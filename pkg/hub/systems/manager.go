// SPDX-License-Identifier: Apache-2.0

package systems

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/pkg/decoding"
	"github.com/placement-hub/placement-hub/pkg/hub/watchhealth"
)

// nested is the manager of one start of a system. It has a cache, a client and runnables of its own, and otherwise is the manager of the hub:
// the two have one lease. Unlike that manager it ends alone.
type nested struct {
	manager.Manager

	cache    *divided
	client   client.Client
	mapper   meta.RESTMapper
	watches  *watchhealth.Monitor
	added    []manager.Runnable
	released []func()
}

// OnEnd has a function called when all runnables of a system have ended, to drop what the system has put elsewhere. It does nothing for the manager
// of the hub, which ends with the process.
func OnEnd(mgr manager.Manager, release func()) {
	if of, is := mgr.(*nested); is {
		of.released = append(of.released, release)
	}
}

// newNested returns a manager for one start of a system.
func newNested(hub manager.Manager, s *System) (*nested, error) {
	mapper, err := apiutil.NewDynamicRESTMapper(hub.GetConfig(), hub.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("preparing the mapper of kinds: %w", err)
	}
	n := &nested{Manager: hub, mapper: mapper, watches: watchhealth.New()}
	options := s.Cache()
	options.HTTPClient, options.Scheme, options.Mapper = hub.GetHTTPClient(), hub.GetScheme(), mapper
	options.NewInformer = n.watches.NewInformer

	own, err := decoding.NewCache(hub.GetConfig(), options)
	if err != nil {
		return nil, fmt.Errorf("preparing the cache: %w", err)
	}
	n.cache = &divided{own: own, hub: hub.GetCache(), owns: s.owns, scheme: hub.GetScheme()}

	n.client, err = client.New(hub.GetConfig(), client.Options{
		HTTPClient: hub.GetHTTPClient(), Scheme: hub.GetScheme(), Mapper: mapper, Cache: &client.CacheOptions{Reader: n.cache},
	})
	if err != nil {
		return nil, fmt.Errorf("preparing the client: %w", err)
	}
	return n, nil
}

// Add keeps a runnable for run.
func (n *nested) Add(runnable manager.Runnable) error {
	n.added = append(n.added, runnable)
	return nil
}

// GetCache returns the cache of the system.
func (n *nested) GetCache() cache.Cache { return n.cache }

// GetFieldIndexer returns the cache of the system.
func (n *nested) GetFieldIndexer() client.FieldIndexer { return n.cache }

// GetClient returns a client that reads from the cache of the system.
func (n *nested) GetClient() client.Client { return n.client }

// GetRESTMapper returns a mapper that has read nothing of former definitions.
func (n *nested) GetRESTMapper() meta.RESTMapper { return n.mapper }

// abandon drops what the system has put elsewhere.
func (n *nested) abandon() error {
	for _, release := range n.released {
		release()
	}
	return n.cache.release()
}

// hasCache is a runnable that is or has a cache.
type hasCache interface{ GetCache() cache.Cache }

// warmable is a controller that fills its caches before it leads.
type warmable interface {
	Warmup(ctx context.Context) error
}

// run runs all that was added in the order of a manager of controller-runtime: caches, what runs on every replica, the warm-up of controllers, and
// after the election of this process the rest. It calls ready before that, and returns when ctx has ended or a runnable has failed, after all
// runnables have ended.
func (n *nested) run(ctx context.Context, ready func()) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var running sync.WaitGroup
	start := func(run func(context.Context) error) {
		running.Go(func() {
			if err := run(ctx); err != nil && ctx.Err() == nil {
				cancel(err)
			}
		})
	}

	n.runInOrder(ctx, start, cancel, ready)
	<-ctx.Done()
	running.Wait()
	if err := n.abandon(); err != nil {
		return err
	}
	if cause := context.Cause(ctx); cause != context.Canceled { //nolint:errorlint // It is the cause itself if nothing has failed.
		return fmt.Errorf("running the system: %w", cause)
	}
	return nil
}

// runInOrder starts the runnables, and returns when all are started or ctx has ended.
func (n *nested) runInOrder(ctx context.Context, start func(func(context.Context) error), cancel context.CancelCauseFunc, ready func()) {
	var leading []manager.Runnable
	start(n.cache.Start)
	caches := []cache.Cache{n.cache}
	for _, runnable := range n.added {
		elected, known := runnable.(manager.LeaderElectionRunnable)
		if of, is := runnable.(hasCache); is {
			caches = append(caches, of.GetCache())
			start(runnable.Start)
		} else if !known || elected.NeedLeaderElection() {
			leading = append(leading, runnable)
		}
	}

	for _, of := range caches {
		if !of.WaitForCacheSync(ctx) {
			return
		}
	}
	n.warmUp(ctx, start, cancel)
	if ctx.Err() != nil {
		return
	}
	ready()

	select {
	case <-n.Elected():
	case <-ctx.Done():
		return
	}
	for _, runnable := range leading {
		start(runnable.Start)
	}
}

// warmUp starts what runs on every replica, and returns when the controllers have filled their caches.
func (n *nested) warmUp(ctx context.Context, start func(func(context.Context) error), cancel context.CancelCauseFunc) {
	var warming sync.WaitGroup
	for _, runnable := range n.added {
		if controller, is := runnable.(warmable); is {
			warming.Go(func() {
				if err := controller.Warmup(ctx); err != nil && ctx.Err() == nil {
					cancel(err)
				}
			})
		}

		elected, known := runnable.(manager.LeaderElectionRunnable)
		if _, is := runnable.(hasCache); !is && known && !elected.NeedLeaderElection() {
			start(runnable.Start)
		}
	}

	warming.Wait()
}
