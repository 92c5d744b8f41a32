// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

// Warning is a problem that the user should know although the Result is valid.
type Warning struct {
	// Source is the name of the prioritizer.
	Source string
	// Message describes the problem.
	Message string
}

// Warnings returns the warnings, sorted by source and message.
func (r *Result) Warnings() []Warning {
	if r.candidates == nil {
		return nil
	}
	return r.candidates.warnings()
}

// Unreadable describes what could not be decoded of the clusters in scope and of the scores that the prioritizers read, by cluster and
// score. It returns nil when the Outcome is Invalid.
func (r *Result) Unreadable() []string {
	var texts []string
	for _, v := range r.Verdicts() {
		if v.Stage == StageScope {
			continue
		}
		if fields := v.Cluster.Unreadable; len(fields) > 0 {
			texts = append(texts, fmt.Sprintf("ManagedCluster %s cannot be read as a whole: %s; decisions that have it keep it, others do not get it",
				v.Cluster.Name, fields))
		}

		for _, prioritizer := range r.Request.Prioritizers {
			if fields := v.Cluster.Scores[prioritizer.Resource].Unreadable; prioritizer.isAddOn() && len(fields) > 0 {
				texts = append(texts, fmt.Sprintf("AddOnPlacementScore %s/%s cannot be read as a whole: %s; its scores count as absent, "+
					"and decisions that have the cluster keep it", v.Cluster.Name, prioritizer.Resource, fields))
			}
		}
	}

	return texts
}

// countExpired counts the expired scores, and calls requeueAfter with the validUntil of each score (docs/spec/differences.md C3).
func (c *candidates) countExpired(requeueAfter func(validUntil time.Time)) (expired int) {
	c.eachScoreSet(func(_ Prioritizer, _ *clusterinfo.ClusterInfo, set clusterinfo.ScoreSet) {
		requeueAfter(set.ValidUntil)
		if set.Expired(c.now) {
			expired++
		}
	})
	return expired
}

func (c *candidates) eachScoreSet(visit func(Prioritizer, *clusterinfo.ClusterInfo, clusterinfo.ScoreSet)) {
	for _, prioritizer := range c.request.Prioritizers {
		if !prioritizer.isAddOn() {
			continue
		}
		for _, info := range c.clusters {
			if set, found := info.Scores[prioritizer.Resource]; found {
				visit(prioritizer, info, set)
			}
		}
	}
}

func (c *candidates) warnings() []Warning {
	var warnings []Warning
	c.eachScoreSet(func(p Prioritizer, info *clusterinfo.ClusterInfo, set clusterinfo.ScoreSet) {
		if set.Expired(c.now) {
			warnings = append(warnings, Warning{
				Source: p.Name(), Message: fmt.Sprintf("AddOnPlacementScores %s/%s expired", info.Name, p.Resource),
			})
		}
	})

	slices.SortFunc(warnings, func(a, b Warning) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Message, b.Message))
	})
	return warnings
}
