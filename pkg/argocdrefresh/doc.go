// SPDX-License-Identifier: Apache-2.0

// Package argocdrefresh decides which ApplicationSets of Argo CD (argoproj.io) are refreshed when PlacementDecisions change, and when.
//
// An ApplicationSet follows PlacementDecisions by the generator clusterDecisionResource, which reads them every requeueAfterSeconds. Argo CD
// reads them at once when the ApplicationSet has the annotation of AnnotationRefresh, and removes the annotation afterwards.
//
// Promises: the package is pure, and takes the time as an argument. Each change of the clusters of an ApplicationSet is followed by a refresh,
// unless a later change has the same refresh. Two refreshes of an ApplicationSet are at least Pace.Interval apart, and two refreshes of any at
// least Pace.Spacing. An ApplicationSet that has the annotation is not refreshed until Argo CD has removed it. A Refresher must not be used
// concurrently.
package argocdrefresh
