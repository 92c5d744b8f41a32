// Package freshness proves that a decision was not made on an old view of the hub (docs/spec/differences.md B10).
//
// Placements, ManagedClusters, ManagedClusterSets, ManagedClusterSetBindings and AddOnPlacementScores arrive by separate watches, any of
// which can be behind the others for as long as its connection is broken. A view in which one kind is new and another one is old may show a
// state that never existed, and a Placement that is scheduled on it can lose every cluster. Other objects that ask for clusters depend on
// the same kinds, and on some of their own, such as their Namespace.
//
// Before a write that removes clusters, Checker reads the metadata of the objects that decide about these clusters from the API server, and
// compares their resourceVersions with those that the event handlers have processed (Observed). Where the event handlers are behind,
// Checker waits for them for a bounded time.
//
// The requests of a proof are not answered at one moment. They are a proof because they begin after the result was computed: an object that
// is read later in the version that the view had at that time was in this version at the moment of the result, so all of them were. A
// result that is computed after the requests have begun needs a proof of its own.
//
// The requests of a proof are sent together. Single objects are read by quorum GETs. Many clusters are compared with one consistent list, which
// all proofs within a second share if it is conclusive for them: a list of revision L shows the state at L, so a view whose objects are all as
// they were at L existed at that moment.
package freshness
