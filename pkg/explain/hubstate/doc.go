// SPDX-License-Identifier: Apache-2.0

// Package hubstate reads an explain.State from a hub; the sub-package statefile reads one from files.
//
// A Source reads the same from files (Files) as from a hub (API), so that commands do not know which.
//
// FromCluster reads the inputs of some Placements, and AllFromCluster those of all; FederatedFromCluster, PodsFromCluster and
// RequestsFromCluster read those of delivered objects, of Pods and of ClusterRequests. All of them loop over explain.Kinds, which says what is read
// for which results and what reports lack without a kind. The first two read only kinds that the scheduler reads,
// by lists of at most 500 objects a request, and never write or watch; a Watcher serves the same reads from watches. The kinds are read one
// after the other, so the state of one kind can be older than that of another, as in the caches of the controller.
//
// An API of Placements that the hub does not serve has no decisions. An API whose decisions may not be listed is named in State.Uncounted,
// unless Placements of that API are to be evaluated.
//
// Find, Written and WrittenUnsatisfied need fewer rights: they return which Placements exist, and the decisions and status that the hub has
// written.
//
// TakeSnapshot writes the objects of all kinds down, and a SnapshotClient reads them as a hub is read.
//
// An error names the missing kinds or rights and what to do next, all missing rights at once.
package hubstate
