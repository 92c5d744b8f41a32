// SPDX-License-Identifier: Apache-2.0

package scheduling

import "github.com/placement-hub/placement-hub/pkg/clusterinfo"

// Stage is the name of the filter that rejected a cluster, or StageSelected. Compare orders stages; the operators < and > compare names.
type Stage string

// StageSelected is the stage of the clusters that are selected.
const StageSelected Stage = "Selected"

// undecided is the stage of a cluster while no filter has rejected it.
const undecided Stage = ""

// String returns the name of the stage in tables.
func (s Stage) String() string { return string(s) }

// Verdict is the result for one cluster.
type Verdict struct {
	// Cluster is the cluster in the Snapshot.
	Cluster *clusterinfo.ClusterInfo
	// Stage is the first filter that rejected the cluster, or StageSelected.
	Stage Stage
	// Rank is the position among the feasible clusters, best first, from 1; 0 for clusters that are not feasible.
	Rank int
	// Score is the weighted sum of the prioritizers; 0 for clusters that are not feasible.
	Score int64
	// Avoid is the number of PreferNoSelect taints that are not tolerated; 0 for clusters that are not feasible.
	Avoid int

	// candidate is the index among the candidates; 0 for clusters that are not feasible.
	candidate int
	taint     int
	// kept reports whether the cluster precedes those with a higher score because a field of it could not be decoded.
	kept bool
	// conflict is the rank of the better cluster with the same value of the anti-affinity key, noAntiAffinityKey when the cluster has no
	// value, or 0 when anti-affinity allows the cluster.
	conflict int
}

// Feasible reports whether the cluster passed every filter that comes before the ranking.
func (v Verdict) Feasible() bool { return v.Rank > 0 }

// stageCounts has the number of clusters in scope by stage, without stages of no cluster.
type stageCounts map[Stage]int

func (s stageCounts) add(stage Stage, clusters int) {
	if clusters > 0 {
		s[stage] += clusters
	}
}
