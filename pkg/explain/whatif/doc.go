// Package whatif changes an explain.World the way somebody could change a hub, without changing anything: a Change makes another World.
// "What if this cluster had that label" is an evaluation of the world that Label makes.
//
// A Change copies on write: the given world and its objects stay as they are, and what does not differ is shared, so that a comparison of
// pointers finds what does. It is as strict as a hub: a cluster, set, binding or placement that does not exist, and a value that the API
// server would refuse, are errors that say what to do. A change that changes nothing is none.
//
// What other parts of a hub would do follows where it decides placements: taints get the time at which they are added, and a cluster that
// is added without a set, or loses the label of its set, is in the set default. Clusters are taken for as available as they say: no taint
// unavailable or unreachable is added. Bindings that follow from RBAC count as bindings.
//
// The package never reads a clock, a file or an API server.
package whatif
