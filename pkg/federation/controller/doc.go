// SPDX-License-Identifier: Apache-2.0

// Package controller has the controller federation/objects, which delivers objects of the hub to member clusters by ManifestWorks:
// docs/spec/federated-selector.md. What is delivered where is decided by the pure package pkg/federation; this package connects it to the
// informers, and carries its evaluations out.
//
// Objects are watched by their metadata only, and read from the API server when their content is needed, so that no Secret is cached.
// ManifestWorks are cached without their payload. The clusters are those of the inventory that all controllers share.
//
// Promises: a work is written only if its hash differs from the wanted one, so a restart over a settled hub writes nothing. Clusters gain an
// object before others lose it, and lose it only after what decides about them was compared with the API server. An error keeps the works
// that exist. Of the user's object only the finalizer is written.
//
// What the controller remembers of an object is lost with the process: the grace period of clusters that have left its scope begins again,
// works that were withdrawn before do not count for the removal budget, and the budget applies until the works were written completely once.
package controller
