// SPDX-License-Identifier: Apache-2.0

// Package counterfactual explains the result of one Placement for one cluster: what each stage of the scheduler says of the cluster,
// including the stages behind the first that rejects it, and the nearest counterfactuals: the changes that would select the cluster.
//
// There is no second copy of any scheduling rule here. An explanation consists of the data of scheduling.Result. Candidates of
// counterfactuals are derived from that data (a clause, a taint, a set, a score), and returned only if the scheduler selects the cluster
// after the change. Single changes are tried before pairs; there are no larger sets. If each single change lets another cluster leave, a higher
// numberOfClusters beside it is tried. Changes by which no cluster leaves come first, and the others name the clusters that would leave.
//
// The package never talks to an API server, never opens a file and never reads a clock.
package counterfactual
