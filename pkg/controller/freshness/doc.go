// Package freshness proves that a decision was not made on an old view of the hub (docs/spec/differences.md B10).
//
// Placements, ManagedClusters, ManagedClusterSets, ManagedClusterSetBindings and AddOnPlacementScores arrive by separate watches, any of which
// can be behind the others for as long as its connection is broken. A view in which one kind is new and another one is old may show a
// world that never existed, and a placement that is evaluated on it can lose every cluster.
//
// Before a write that takes clusters away, Checker reads the metadata of the objects that decide about these clusters from the API server,
// and compares their resourceVersions with those that the event handlers have taken in (Observed). Where the event handlers are behind,
// Checker waits for them for a bounded time.
//
// The requests of a proof are not answered at one moment. What makes them a proof is that they begin after the result was computed: an
// object that is read later in the version that the view had by then was in this version at the moment of the result, so all of them were.
// A result that is computed after the requests have begun needs a proof of its own.
//
// Single objects are read by quorum GETs. Many clusters are compared with one consistent list, which is shared by
// every question within a second for which it is conclusive: a list of revision L shows the state at L, so a view whose objects are
// all as they were at L existed at that moment.
package freshness
