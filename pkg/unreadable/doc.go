// Package unreadable says which fields of an object the hub could not decode.
//
// The CustomResourceDefinitions admit values that the Go types cannot hold: a quantity "1e1.5", a time in lower case, an integer beyond 32
// bits. Package lenient decodes such an object without those fields and marks it with this package's annotation, which exists in the memory
// of the hub only: a decoder removes it from everything that the API server sends, so nobody can set it from outside.
//
// An object that lacks fields is not kept as it was last known: a value of the past would differ between a leader, its standby, a restarted
// hub and the command explain, and it would freeze labels and taints that can be read. What the hub does instead follows from the object
// alone:
//
//   - A ManagedCluster keeps everything that can be read, and has the taint Taint with the effect NoSelectIfNew. Decisions that have the
//     cluster keep it, unless something that can be read takes it away; it comes before all others that are as preferred, and no CEL
//     expression takes it away. Decisions that do not have it do not get it.
//   - An AddOnPlacementScore counts as absent for new decisions, and takes no cluster out of those that exist.
//   - A Placement is misconfigured, by the path of the field: its decisions stay.
//   - A ManagedClusterSet of which the spec cannot be read is broken, as one with a wrong selector: the decisions of its placements stay.
//   - Everything else is used without the field.
package unreadable
