// Package managedcluster keeps what follows from the ManagedClusters: the ConfigMap with the words that a Placement can use, which the admission
// policies look into (vocabulary), and the taints of clusters that are not available (managedcluster-taints).
//
// Promises: a storm of changes has vocabulary look at the whole fleet once in a second at most; of a cluster's taints only the two that
// say whether it is available are touched, in one write, and never with a moment without their time; nothing is written when nothing
// changed.
package managedcluster
