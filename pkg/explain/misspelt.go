// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// maxClausesSearched bounds the search for misspelt values in a Placement.
const maxClausesSearched = 20

// misspeltSearch looks for the values of a Placement that no cluster in scope has, although some have a similar one.
type misspeltSearch struct {
	inScope  iter.Seq[*clusterinfo.ClusterInfo]
	searched int
	notes    []string
}

// look adds a note if no cluster has one of the values, and some have one that is similar to the first ones.
func (s *misspeltSearch) look(what string, values []string, valuesOf func(*clusterinfo.ClusterInfo) []string) {
	s.searched++
	if s.searched <= maxClausesSearched && len(s.notes) < MaxWarnings {
		s.notes = append(s.notes, misspelt(what, values, s.inScope, valuesOf)...)
	}
}

// misspeltNotes returns notes on values that fit no cluster in scope, although some clusters have a similar value: of required and compared labels
// and claims, and of their keys, if predicates reject clusters, and of decision groups; of tolerations if taints reject clusters, and of scores.
// They name values of clusters in scope alone, which the verdicts show too.
func misspeltNotes(result *scheduling.Result) []string {
	s := &misspeltSearch{inScope: result.InScope()}
	if result.Count(scheduling.StagePredicate) > 0 {
		for _, predicate := range result.Request.Predicates {
			s.lookAt(predicate.Selector)
		}
	}
	for _, group := range result.Request.Groups {
		s.lookAt(group.Selector)
	}
	for _, toleration := range result.Request.Tolerations {
		if toleration.Key == "" || result.Count(scheduling.StageTaint) == 0 {
			continue
		}
		s.look("taint ", []string{toleration.Key}, func(info *clusterinfo.ClusterInfo) []string { return taintsOf(info, "") })
		if toleration.Operator != clusterv1beta1.TolerationOpExists {
			s.look("taint "+toleration.Key+"=", []string{toleration.Value}, func(info *clusterinfo.ClusterInfo) []string {
				return taintsOf(info, toleration.Key)
			})
		}
	}
	for _, prioritizer := range result.Request.Prioritizers {
		if prioritizer.BuiltIn == "" {
			s.look("AddOnPlacementScore ", []string{prioritizer.Resource}, scoreObjectsOf)
			s.look("score "+prioritizer.Resource+"/", []string{prioritizer.Score}, func(info *clusterinfo.ClusterInfo) []string {
				return slices.Collect(maps.Keys(info.Scores[prioritizer.Resource].Values))
			})
		}
	}
	return s.notes
}

// lookAt looks at the labels and claims that a selector requires or compares, and at the keys and the scores that it reads.
func (s *misspeltSearch) lookAt(by *selector.Selector) {
	required, _ := by.RequiredValues()
	for _, one := range append(required, by.ComparedValues()...) {
		s.look(one.Key.String()+"=", one.Values, func(info *clusterinfo.ClusterInfo) []string { return valuesOf(info, one.Key) })
	}
	for _, read := range by.Reads() {
		switch {
		case read.Name == "":
		case read.Kind == clusterinfo.Score:
			s.look("AddOnPlacementScore ", []string{read.Name}, scoreObjectsOf)
		case read.Kind == clusterinfo.Label:
			s.look("label ", []string{read.Name}, func(info *clusterinfo.ClusterInfo) []string { return slices.Collect(maps.Keys(info.Labels)) })
		case read.Kind == clusterinfo.Claim:
			s.look("claim ", []string{read.Name}, func(info *clusterinfo.ClusterInfo) []string { return slices.Collect(maps.Keys(info.Claims)) })
		}
	}
}

// scoreObjectsOf returns the names of the AddOnPlacementScores of a cluster.
func scoreObjectsOf(info *clusterinfo.ClusterInfo) []string {
	return slices.Collect(maps.Keys(info.Scores))
}

// misspelt returns a note if no cluster has one of the values, and some have one that is similar.
func misspelt(
	what string, values []string, clusters iter.Seq[*clusterinfo.ClusterInfo], valuesOf func(*clusterinfo.ClusterInfo) []string,
) []string {
	counts := map[string]int{}
	for info := range clusters {
		for _, value := range valuesOf(info) {
			if slices.Contains(values, value) { // Most values of most Placements are some cluster's.
				return nil
			}
			counts[value]++
		}
	}
	value, similar := federation.SimilarValue(values, counts)
	if similar == "" {
		return nil
	}
	return []string{fmt.Sprintf("no cluster in scope has %s%s; did you mean %s (%s)?", what, value, similar,
		document.Count(counts[similar], "cluster"))}
}

// valuesOf returns the value of a name, label or claim of a cluster, if it has one.
func valuesOf(info *clusterinfo.ClusterInfo, key clusterinfo.Property) []string {
	values := info.Labels
	switch key.Kind {
	case clusterinfo.Name:
		return []string{info.Name}
	case clusterinfo.Claim:
		values = info.Claims
	case clusterinfo.Label:
	default:
		return nil
	}
	if value, has := values[key.Name]; has {
		return []string{value}
	}
	return nil
}

// taintsOf returns the keys of the taints of a cluster, each once, or the values of those with a key.
func taintsOf(info *clusterinfo.ClusterInfo, key string) []string {
	var found []string
	for _, taint := range info.Taints {
		switch key {
		case "":
			found = append(found, taint.Key)
		case taint.Key:
			found = append(found, taint.Value)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
