// SPDX-License-Identifier: Apache-2.0

// Package freshness proves that a decision was not made on an old view of the hub (docs/spec/differences.md B10, B11, B13, B14).
//
// Placements, ManagedClusters, ManagedClusterSets, ManagedClusterSetBindings and AddOnPlacementScores arrive by separate watches, any of which
// can be behind the others for as long as its connection is broken. A view in which one kind is new and another one is old may show a state
// that never existed, and a Placement that is scheduled on it can lose every cluster. Other objects that ask for clusters depend on the same
// kinds, and on some of their own, such as their Namespace.
//
// Before a write that removes clusters, Checker reads the metadata of the objects that decide about these clusters from the API server, and
// waits for a bounded time until the event handlers have processed their versions (Observed). These objects are the clusters that leave and,
// where one of them is outranked, the selected ones, or every cluster where scores and constraints compare each with all.
//
// The requests of a proof are not answered at one moment. They are a proof because the view has shown no change of what the result reads from
// the first request on, or from the snapshot if that is earlier, until it has reached the versions that were read: when the first request was
// answered, each object said what the snapshot has. What the view does not have, such as the time and the decisions of other Placements,
// counts as it was at the snapshot. Versions that change nothing that the result reads, such as heartbeats, do not count. After a change the
// result is computed and proved again. A change that is undone while the watch is broken is not seen: the list that follows shows the object
// as it was.
//
// The requests of a proof are sent together, except for the sets of bindings that the view does not show. Single objects are read by quorum
// GETs. The bindings of a namespace are read by one consistent list, and many clusters or sets are compared with one consistent list per kind,
// whose pages show the moment of the first one. While the watch of the clusters is broken, a few clusters are read whole, so that an agent that
// writes all the time keeps nothing selected.
//
// Proofs share the requests of a second, also those that have no response yet. A list of a large fleet takes longer. Proofs to which every
// cluster counts share it for twice as long as it takes, for ten seconds at most: those that wait for it use it at that age, too. The
// reader waits for up to half a second before it sends a list of several pages. Removals by bindings that a user creates in 100 namespaces then share
// this list.
//
// A request that was sent before the snapshot serves if the view has shown no change since that concerns the removal, so that there is one moment
// at which all that was read held. An event of a cluster that makes it leave is itself such a change: the first proof after the event sends
// the requests, and the other proofs of the same event use them. The object of the removal and the further objects that decide about it are
// read for each proof, because their versions in the result may come from a cache that is ahead of the view. The API server must show the
// object as it was evaluated, and earlier requests serve only if the view has shown that version before. A request that failed is sent
// again. Requests of different namespaces are different, so that many objects in one namespace cost no proof of another one.
//
// A proof ages while a plan is carried out. Plan lets the next write that removes clusters pass while the object is as it was evaluated and
// the proof is not older than Validity.
//
// A new leader compares every object once, in the background and by page, because the watches of a standby may have been broken.
//
// Versions order states only as long as the API server keeps its history. When a consistent read shows an earlier version than was seen
// before, as after etcd was restored from a backup, nothing is proved any more, and WatchHistory ends the process.
package freshness
