// SPDX-License-Identifier: Apache-2.0

// Package unreadable records which fields of an object the hub could not decode.
//
// The CustomResourceDefinitions admit values that the Go types cannot hold: a quantity "1e1.5", a time in lower case, an integer beyond 32
// bits. Package decoding decodes such an object without those fields and marks it with the annotation of this package, which exists only in
// the memory of the hub: the decoder removes it from every object of the API server, so that no client can set it.
//
// The hub does not keep the last readable value of such a field: the value would differ between a leader, its standby, a restarted hub and
// the command explain, and keeping the object would freeze readable labels and taints. Instead its behaviour follows from the object alone:
//
//   - A ManagedCluster keeps all readable fields, and has the taint Taint with the effect NoSelectIfNew. Decisions that have the
//     cluster keep it, unless a readable field removes it; it precedes all other clusters that are equally preferred, and no CEL
//     expression removes it. Other decisions do not select it.
//   - An AddOnPlacementScore counts as absent for new decisions, and removes no cluster from existing ones.
//   - A Placement is misconfigured, by the path of the field: its decisions stay.
//   - A ManagedClusterSet with an unreadable spec is broken, as with an invalid selector: the decisions of its Placements stay.
//   - All other objects are used without the field.
package unreadable
