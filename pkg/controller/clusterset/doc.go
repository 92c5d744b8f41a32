// Package clusterset keeps what says who may place where: the condition ClusterSetEmpty of ManagedClusterSets and the sets default and global
// (clusterset), the condition Bound of ManagedClusterSetBindings (clustersetbinding), the bindings that follow from the RBAC of the
// ServiceAccounts named placement (clustersetbinding-rbac), and the ClusterRoles by which an admin hands a set to people
// (clusterset-roles).
//
// Promises: a condition is written only when it changes, and nothing is written when nothing changed; of a standard set only the selector
// is put back, and not where its annotation opts out; a set whose selector is broken keeps the condition it has; a ClusterRole that
// somebody else made is left alone, and none is deleted here; a binding is deleted only if it is marked as one that follows from RBAC, and
// only when every look of a second has found that it does not any more, or of ten while one cannot be made that may take its place; and
// neither is one deleted nor made without asking the API server, because what was read may be old. Neither a cache that is being filled nor
// a failed read is taken for a revocation.
package clusterset
