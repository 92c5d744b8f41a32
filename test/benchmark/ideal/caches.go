// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// caches are the caches of a controller, and a client that reads past them.
type caches struct {
	cache.Cache
	api client.Client
}

func newCaches(config *rest.Config, options cache.Options) (*caches, error) {
	informers, err := cache.New(config, options)
	if err != nil {
		return nil, fmt.Errorf("making the caches: %w", err)
	}
	api, err := client.New(config, client.Options{Scheme: options.Scheme})
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return &caches{Cache: informers, api: api}, nil
}

// run fills the caches with the kinds, prints "synced", and then calls work. Every event goes to the handler. It returns when ctx or work
// ends.
func (c *caches) run(ctx context.Context, kinds []client.Object, handler toolscache.ResourceEventHandler, out io.Writer,
	work func(context.Context) error,
) error {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- c.Start(ctx) }()
	err := c.fill(ctx, kinds, handler)
	if err == nil {
		fmt.Fprintln(out, "synced")
		err = work(ctx)
	}
	cancel()
	return errors.Join(err, <-ended)
}

func (c *caches) fill(ctx context.Context, kinds []client.Object, handler toolscache.ResourceEventHandler) error {
	for _, kind := range kinds {
		informer, err := c.GetInformer(ctx, kind, cache.BlockUntilSynced(false))
		if err != nil {
			return fmt.Errorf("watching %T: %w", kind, err)
		}
		if _, err := informer.AddEventHandler(handler); err != nil {
			return fmt.Errorf("listening to %T: %w", kind, err)
		}
	}
	if !c.WaitForCacheSync(ctx) {
		return errors.Join(errors.New("the caches did not get in sync"), ctx.Err())
	}
	return nil
}
