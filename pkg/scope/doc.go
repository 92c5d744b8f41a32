// Package scope says by RBAC who may place where: the cluster sets that the ServiceAccount named placement of a namespace may bind
// (docs/spec/scope.md S6 to S10).
//
// An OfRules makes the rules of a ClusterRole a Grant, the sets that it lets a subject create managedclustersets/bind of. An AudienceOf
// the subjects of a ClusterRoleBinding names the namespaces whose account is one of them. Allowed puts both together.
//
// Promises: the answer is the one that the API server's own RBAC authorizer gives for that account, neither more nor less; it does not
// depend on any order; what a function returns may be shared between goroutines, and is never changed afterwards.
//
// Review is the same question in the words of the API server, for those who can ask it.
//
// RoleBindings never count, because managedclustersets have no namespace. The package talks to no API server.
package scope
