// SPDX-License-Identifier: Apache-2.0

package extracache

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// Add returns a cache with these options and adds it to the manager. It talks to the API server of the manager in the manager's way, so that
// options need no client, scheme or mapper. Errors say what the cache has, such as "Leases".
func Add(mgr manager.Manager, what string, options cache.Options) (cache.Cache, error) {
	options.HTTPClient, options.Scheme, options.Mapper = mgr.GetHTTPClient(), mgr.GetScheme(), mgr.GetRESTMapper()
	objects, err := cache.New(mgr.GetConfig(), options)
	if err != nil {
		return nil, fmt.Errorf("preparing the cache of %s: %w", what, err)
	}
	if err := mgr.Add(everyReplica{objects}); err != nil {
		return nil, fmt.Errorf("adding the cache of %s: %w", what, err)
	}
	return objects, nil
}

// everyReplica is a cache that a manager starts with its own, before it waits for the lease. A manager recognizes such caches by GetCache: some
// caches of controller-runtime have no NeedLeaderElection.
type everyReplica struct{ cache.Cache }

// GetCache returns the cache.
func (e everyReplica) GetCache() cache.Cache { return e.Cache }
