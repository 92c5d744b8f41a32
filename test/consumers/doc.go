// SPDX-License-Identifier: Apache-2.0

// Package consumers runs the work manager of Open Cluster Management (ManifestWorkReplicaSets) on the decisions of the built hub, with a
// real kube-apiserver between them. Whatever happens to clusters, placements and the hub: no ManifestWork of a cluster that stays selected
// is ever deleted or created anew, which its UID shows.
package consumers
