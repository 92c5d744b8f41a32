// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"iter"
	"strconv"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// filterPlugin rejects clusters: by batch and rejects before the clusters are ranked, by keep and rejectRanked afterwards. Its functions
// may be nil where they have nothing to do.
type filterPlugin struct {
	// stage names the filter in verdicts, and step in metrics; a filter without a step is not timed on its own.
	stage Stage
	step  Step
	// reads adds what the filter reads to the dependencies of the Request.
	reads func(*Request, *inventory.Dependencies)

	// batch returns those of the clusters that the filter does not reject. Only Schedule calls it. The inventory applies a filter without it.
	batch func(*evaluation, *filtered) *filtered
	// rejects reports whether the filter rejects a cluster, and records in the Verdict what its text needs. Only the reference calls it, and
	// RejectionsOf.
	rejects func(*evaluation, *clusterinfo.ClusterInfo, *Verdict) bool

	// keep returns those of the remaining clusters that may be selected together. It marks the others in ranked, which has all feasible
	// clusters, best first.
	keep func(r *Request, ranked, remaining []Verdict) []Verdict
	// rejectRanked sets the stage of those undecided clusters that the filter rejects because of the selected ones.
	rejectRanked func(*selection, []Verdict)

	// text returns why the filter rejected the cluster of a Verdict: its clause, or with all details of the cluster.
	text func(*reasons, Verdict, detail) string
	// count adds the clauses of the clusters that batch rejected. Without it each of these clusters is counted by its text.
	count func(e *evaluation, before, after *filtered, h histogram)
}

// prioritizerPlugin scores the feasible clusters.
type prioritizerPlugin struct {
	// name is the name in the Placement API, in reports and in metrics. defaultWeight is the weight in Placements that configure none.
	name          string
	defaultWeight int32
	// reads returns what the scores depend on of the clusters that match the predicates, and scopeReads of every cluster in scope; nil for
	// nothing. Unless it warns, it reads nothing while the Result does not depend on ranks.
	reads      func(Prioritizer) []clusterinfo.Property
	scopeReads func(*Request) []clusterinfo.Property
	warns      bool
	// readsDecisions reports whether the scores depend on the decisions of other Placements.
	readsDecisions bool
	// relative reports whether the score of a cluster depends on properties of other clusters.
	relative bool
	// scores iterates over the indices of candidates and their scores, each in [-100, 100]. Those that it leaves out have 0. The weighted sum of
	// as many scores as fit into an object is far from the bounds of int64.
	scores func(*candidates, Prioritizer) iter.Seq2[int, int64]
	// hasScore reports whether the prioritizer has a score for the cluster. A cluster without a score counts as 0 and has no entry, as
	// upstream. Without it every cluster has a score.
	hasScore func(*clusterinfo.ClusterInfo) bool
}

// filtered has the clusters that passed the filters so far. It may be shared and must not be modified.
type filtered struct {
	// available is the number of clusters in scope that are not terminating, and terminating that of the others.
	available, terminating int
	// indices and clusters have the remaining clusters, sorted by name, and tainted those of them that have taints.
	indices  []uint
	clusters []*clusterinfo.ClusterInfo
	tainted  inventory.Members
	// avoid has by name the number of PreferNoSelect taints that are not tolerated.
	avoid map[string]int
	// removed identifies the clusters that were removed from those that match the predicates; empty for none.
	removed string
}

// bytes estimates the size, without the ClusterInfos.
func (f *filtered) bytes() int {
	const fixed, perCluster, bitsPerByte = 256, 16, 8
	return fixed + len(f.indices)*perCluster + int(f.tainted.Len()/bitsPerByte) + len(f.removed)
}

// without returns the clusters except for the removed ones. The result is shared by all Requests with the same sets and predicates.
func (e *evaluation) without(f *filtered, rejected inventory.Members) *filtered {
	var removed strings.Builder
	for _, word := range rejected.Words() {
		removed.WriteString(strconv.FormatUint(word, 36) + ",")
	}
	return memoize(e, removed.String(), func() *filtered {
		left := f.without(rejected)
		left.removed = removed.String()
		return left
	}, (*filtered).bytes)
}

// without returns the clusters except for the rejected ones.
func (f *filtered) without(rejected inventory.Members) *filtered {
	most := len(f.indices) - int(rejected.Count())
	left := *f
	left.tainted = f.tainted.Difference(rejected)
	left.indices, left.clusters = make([]uint, 0, most), make([]*clusterinfo.ClusterInfo, 0, most)
	for i, index := range f.indices {
		if !rejected.Test(index) {
			left.indices, left.clusters = append(left.indices, index), append(left.clusters, f.clusters[i])
		}
	}
	return &left
}

// selection is what rejectRanked needs to know of the selected clusters.
type selection struct {
	spreads []Spread
	// room reports whether fewer clusters are selected than are wanted.
	room bool
}

// needs reports whether the cluster would be selected but for a constraint: there is room, or a constraint never allows it.
func (s *selection) needs(info *clusterinfo.ClusterInfo) bool {
	return s.room || hasNoDomain(s.spreads, info)
}

// detail is how much the text of a rejection says.
type detail bool

// A text is the clause of a rejection, which is the same for many clusters, or has all details of the cluster.
const (
	clauseOnly detail = false
	allDetails detail = true
)

// reasons is what the texts of rejections are made from.
type reasons struct {
	result *Result
	// evalContext has the cost of the texts of predicates, which evaluate CEL expressions again.
	evalContext *selector.EvalContext
	// hard are the hard constraints with the distribution of the selected clusters.
	hard []hardConstraint
	// matched are the results of the predicates on the cluster matchedOn, as far as they are known.
	matchedOn *clusterinfo.ClusterInfo
	matched   []*selector.Verdict
}
