// SPDX-License-Identifier: Apache-2.0

// Package controller refreshes the ApplicationSets of one namespace when the PlacementDecisions that they read change (package argocdrefresh).
//
// Promises: it writes nothing but the annotation argocdrefresh.AnnotationRefresh, with the resourceVersion of the ApplicationSet, and reads
// ConfigMaps only before a refresh, from the API server. Objects that exist when it starts are no change. Before its first refresh, and every
// ProofInterval after that, it asks the API server by a dry run whether it could write spec of an ApplicationSet; if that is not refused it stops
// with an error, because its account could deploy anything.
package controller
