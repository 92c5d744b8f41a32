package scope

import authorizationv1 "k8s.io/api/authorization/v1"

// Review is the question to the API server that Allowed answers from RBAC: whether the account of a namespace may bind a set,
// which must be named: to the API server the name "" is one that a rule can hold, not every name.
func Review(namespace, set string) authorizationv1.SubjectAccessReviewSpec {
	return authorizationv1.SubjectAccessReviewSpec{
		User:               userPrefix + namespace + accountOfNamespace,
		Groups:             []string{allAccounts, groupPrefix + namespace, allAuthenticated},
		ResourceAttributes: BindingOf(set),
	}
}

// BindingOf is the request that a subject must be allowed to make to bind a set, whoever the subject is.
func BindingOf(set string) *authorizationv1.ResourceAttributes {
	return &authorizationv1.ResourceAttributes{Verb: verb, Group: group, Resource: object, Subresource: subresource, Name: set}
}
