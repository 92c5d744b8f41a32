// SPDX-License-Identifier: Apache-2.0

package clustersets

import authorizationv1 "k8s.io/api/authorization/v1"

// Review returns the SubjectAccessReview of whether the account of a namespace may bind a set. The set must not be empty: to the API server
// "" is a name that a rule can contain, not every name.
func Review(namespace, set string) authorizationv1.SubjectAccessReviewSpec {
	return authorizationv1.SubjectAccessReviewSpec{
		User:               userPrefix + namespace + accountOfNamespace,
		Groups:             []string{allAccounts, groupPrefix + namespace, allAuthenticated},
		ResourceAttributes: BindingOf(set),
	}
}

// BindingOf returns the request that must be allowed to a subject for it to bind a set.
func BindingOf(set string) *authorizationv1.ResourceAttributes {
	return &authorizationv1.ResourceAttributes{Verb: verb, Group: group, Resource: object, Subresource: subresource, Name: set}
}
