// Package fleet keeps what follows from the ManagedClusters as a whole: the ConfigMap with the words that a Placement can use, which the
// admission policies look into (vocabulary).
//
// Promises: a storm of changes has it look at the whole fleet once in a second at most, and nothing is written when nothing changed.
package fleet
