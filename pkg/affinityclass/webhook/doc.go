// SPDX-License-Identifier: Apache-2.0

// Package webhook has the admission handlers of AffinityClasses: it verifies Pods against the class of their application, and reviews
// Tenants and applications. The rules are those of package affinityclass, and docs/spec/affinity-class.md 1.2 to 1.5.
//
// Promises: a Pod, Tenant or application is refused if what decides about it cannot be read. AffinityClasses, Tenants, HelmReleases and
// Namespaces come from the informer cache, with a live read of one that is missing there; the owners of a Pod are read live, metadata only,
// and those that lead to a HelmRelease are cached for a minute. All reads of a review share three seconds. Pods are not cached.
//
// The handlers write nothing, and call neither clusters nor other webhooks. They are safe for concurrent use.
package webhook
