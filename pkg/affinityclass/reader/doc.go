// SPDX-License-Identifier: Apache-2.0

// Package reader reads the Tenants, AffinityClasses and HelmReleases of a hub for the controllers and the webhook of affinity classes.
//
// The Tree of Tenants is built from the informer cache, and again only after an event that can have changed it. A class that is not in the cache
// yet is read from the API server. Objects that a Reader returns are shared with the cache and must not be changed.
package reader
