// SPDX-License-Identifier: Apache-2.0

// Package recorder records in a process of the hub what happens to decisions (docs/spec/history.md), on the leader and on standbys alike.
//
// A Recorder has event handlers of its own for the informers that the hub has anyway. Those of the kinds that decisions depend on note changes in a
// Log of package changes; those of PlacementDecisions begin a round of their Placement. When no more events of a round come, the decisions before and
// after it are compared, and a difference becomes a row of a history.Ring with the changes that may have caused it. The process that writes decisions
// calls Begin and End around the writes, so that a round is as long as they take, and End adds the reasons of the evaluation.
//
// Caches keep no managedFields. Transform takes them aside, without copying them, until the event handler has looked at the object.
//
// It promises that an object without a relevant change costs comparisons alone, that all of it stays within a number of bytes, and that an error
// loses rows and nothing else. It writes nothing to the API server.
package recorder
