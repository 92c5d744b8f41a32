// Package sets keeps what says who may place where: the condition ClusterSetEmpty of ManagedClusterSets and the sets default and global
// (clusterset), and the condition Bound of ManagedClusterSetBindings (clustersetbinding).
//
// Promises: a condition is written only when it changes, and nothing is written when nothing changed; of a standard set only the selector
// is put back, and not where its annotation opts out; a set whose selector is broken keeps the condition it has.
package sets
