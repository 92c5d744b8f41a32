// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"fmt"
	"slices"
	"time"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

// MissingScore says that a cluster has no valid score of an AddOnPlacementScore that a prioritizer reads.
type MissingScore struct {
	// Expired is when the score has expired; zero if there is none.
	Expired time.Time
	// Counted is the unweighted score that counts instead.
	Counted int64
}

// String returns "no score, counted as 0", or "score expired at 2026-01-02T03:04:05Z, counted as -100".
func (m MissingScore) String() string {
	if m.Expired.IsZero() {
		return fmt.Sprintf("no score, counted as %d", m.Counted)
	}
	return fmt.Sprintf("score expired at %s, counted as %d", m.Expired.UTC().Format(time.RFC3339), m.Counted)
}

// MissingScore returns what counts in place of the score of a cluster; false if it has a valid score, and for built-in prioritizers.
func (r *Result) MissingScore(p Prioritizer, info *clusterinfo.ClusterInfo) (MissingScore, bool) {
	if _, valid := addOnScore(p, info, r.now); valid || !p.isAddOn() {
		return MissingScore{}, false
	}
	missing := MissingScore{Counted: r.Request.missingScore(p)}
	set := info.Scores[p.Resource]
	if _, has := set.Values[p.Score]; has {
		missing.Expired = set.ValidUntil
	}
	return missing, true
}

// missingScore returns the unweighted score of a cluster without a valid score (docs/spec/differences.md C3).
func (r *Request) missingScore(p Prioritizer) int64 {
	switch {
	case !r.MissingIsWorst:
		return 0
	case p.Weight < 0:
		return maxScore
	default:
		return minScore
	}
}

// missingScores returns ", its score has expired, counted as 0" for a feasible cluster with missing scores, and ", its score has expired" for
// one that the predicates reject and whose expired scores they read. It is empty for others. It has no time, because it is a part of Events.
func (r *Result) missingScores(v Verdict) string {
	if v.Stage == StagePredicate && r.readsExpired(v.Cluster) {
		return scoreExpired
	}
	if !v.Feasible() {
		return ""
	}
	var expired, absent bool
	for _, prioritizer := range r.Request.Prioritizers {
		if missing, is := r.MissingScore(prioritizer, v.Cluster); is {
			expired, absent = expired || !missing.Expired.IsZero(), absent || missing.Expired.IsZero()
		}
	}

	text, counted := "", ", counted as 0"
	if expired {
		text = scoreExpired
	}
	if absent {
		text += ", no score"
	}
	if r.Request.MissingIsWorst {
		counted = ", counted as the worst"
	}
	if text != "" {
		text += counted
	}
	return text
}

const scoreExpired = ", its score has expired"

// readsExpired reports whether CEL expressions of the predicates read expired scores of a cluster, of which they see none.
func (r *Result) readsExpired(info *clusterinfo.ClusterInfo) bool {
	return slices.ContainsFunc(r.Request.Predicates, func(predicate Predicate) bool {
		return slices.ContainsFunc(predicate.Selector.Reads(), func(read clusterinfo.Property) bool {
			return read.Kind == clusterinfo.Score && info.Scores[read.Name].Expired(r.now)
		})
	})
}
