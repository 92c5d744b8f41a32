// SPDX-License-Identifier: Apache-2.0

// Package setlist lists the ManagedClusterSets that a user may use in a namespace: those that the user may bind, and those that are bound.
//
// Read sends requests as that user: it lists the sets, sends one SelfSubjectAccessReview for each, and lists the ManagedClusterSetBindings of
// the namespace, or of all namespaces. It writes nothing. A user who may not list the sets gets those that are bound, and List.Unlisted names
// the missing right. Membership selects the clusters that are in a set.
package setlist
