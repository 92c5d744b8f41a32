// SPDX-License-Identifier: Apache-2.0

// Package clustersets derives from RBAC which cluster sets a namespace may bind: those that its ServiceAccount named placement may bind
// (docs/spec/scope.md S6 to S10).
//
// OfRules converts the rules of a ClusterRole into a Grant, the sets of which they allow a subject to create managedclustersets/bind.
// AudienceOf converts the subjects of a ClusterRoleBinding into an Audience, the namespaces whose account is among them. Allowed combines
// both. Review is the same request as a SubjectAccessReview, for callers that may create it.
//
// The result equals that of the API server's RBAC authorizer for the account, and does not depend on any order. Returned values may be
// shared between goroutines, and are never changed afterwards.
//
// RoleBindings never count, because managedclustersets have no namespace.
//
// The package also has the rules of the other controllers of sets and clusters: AvailabilityTaint, StandardSelector, and Assumptions, by which
// decisions take a cluster or a set as a controller of the hub is about to write it (docs/spec/differences.md B20).
//
// The package never talks to an API server.
package clustersets
