package scheduling

import (
	"fmt"
	"slices"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/selector"
	"github.com/placement-hub/placement-hub/pkg/unreadable"
)

// passesUnreadable reports whether a cluster passes a predicate whatever its CEL expressions return, because the cluster is in the
// decisions and the expressions may read a field that could not be decoded. Labels and claims are strings, which can always be decoded.
func (e *evaluation) passesUnreadable(predicate Predicate, f *clusterinfo.ClusterInfo) bool {
	if !predicate.Selector.HasCEL() || !e.incumbents[f.Name] || !f.HasUnreadable() {
		return false
	}

	unread := len(f.Unreadable) > 0

	for name, set := range f.Scores {
		// The event of a score that the predicate does not read does not enqueue the Placement when the score can be decoded again.
		if len(set.Unreadable) > 0 && clusterinfo.Affects(predicate.Selector.Reads(), []clusterinfo.Property{{Kind: clusterinfo.Score, Name: name}}) {
			unread = true
		}
	}

	return unread && predicate.Selector.WithoutCEL().Matches(f, &selector.EvalContext{})
}

// kept returns the indices of the feasible clusters that are in the decisions and whose score may be wrong because a field could not be
// decoded; nil without any. Such a cluster precedes the others, so that it is not removed for an unreadable field.
func (c *candidates) kept() map[int]bool {
	var kept map[int]bool

	for i, f := range c.clusters {
		if c.incumbents[f.Name] && len(c.unreadable(f)) > 0 {
			if kept == nil {
				kept = map[int]bool{}
			}

			kept[i] = true
		}
	}

	return kept
}

// unreadable returns the fields that could not be decoded of the cluster and of the scores that the prioritizers read.
func (c *candidates) unreadable(f *clusterinfo.ClusterInfo) unreadable.Fields {
	fields := f.Unreadable

	for _, prioritizer := range c.request.Prioritizers {
		if prioritizer.BuiltIn == "" {
			fields = append(slices.Clip(fields), f.Scores[prioritizer.Resource].Unreadable...)
		}
	}

	return fields
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
			if fields := v.Cluster.Scores[prioritizer.Resource].Unreadable; prioritizer.BuiltIn == "" && len(fields) > 0 {
				texts = append(texts, fmt.Sprintf("AddOnPlacementScore %s/%s cannot be read as a whole: %s; its scores count as absent, "+
					"and decisions that have the cluster keep it", v.Cluster.Name, prioritizer.Resource, fields))
			}
		}
	}

	return texts
}
