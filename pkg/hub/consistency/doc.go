// SPDX-License-Identifier: Apache-2.0

// Package consistency reports whether an informer cache shows the own writes of a controller, and orders the versions of objects.
//
// It has the words of the consistency store of kube-controller-manager: WroteAt records a write, EnsureReady returns an error while the cache is
// behind it, and Clear drops what is recorded of an object. Other than that store, which compares a write with the version that a whole informer
// has reached, a Store compares it with the version of the object in the cache, and counts a write as shown after a time, so that nothing waits
// for an event that never comes.
//
// A Store is no assumecache.Cache, which overlays the responses on the cache: it is for controllers that need not go on before the cache has
// caught up, and need nothing of the response.
package consistency
