// Package clusterinfo is the ground floor of the hub: what it knows of one ManagedCluster, normalised once per change.
//
// It promises three things. Facts are immutable once made, so they may be shared between goroutines and snapshots. Every fact that a
// placement can ask for has a Key, so that a reader can say what it reads. Diff names every Key whose answer may differ between two
// states of a cluster: it may name too many, never too few.
//
// The package never talks to an API server and never reads a clock.
package clusterinfo
