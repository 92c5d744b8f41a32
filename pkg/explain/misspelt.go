// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// Bounds of the search for misspelt values in a Placement.
const (
	maxClausesSearched = 20
	maxValuesSearched  = 3
)

// misspeltNotes returns notes on required values and on tolerations that fit no cluster in scope, although some clusters have a similar value, if
// predicates or taints reject clusters. They name values of clusters in scope alone, which the verdicts show too.
func misspeltNotes(result *scheduling.Result) []string {
	var (
		inScope []*clusterinfo.ClusterInfo
		notes   []string
	)
	for _, verdict := range result.Verdicts() {
		if verdict.Stage != scheduling.StageScope {
			inScope = append(inScope, verdict.Cluster)
		}
	}
	searched := 0
	search := func(what string, values []string, valuesOf func(*clusterinfo.ClusterInfo) []string) {
		searched++
		if searched <= maxClausesSearched && len(notes) < MaxWarnings {
			notes = append(notes, misspelt(what, values, inScope, valuesOf)...)
		}
	}

	for _, predicate := range result.Request.Predicates {
		if result.Count(scheduling.StagePredicate) == 0 {
			break
		}
		required, _ := predicate.Selector.RequiredValues()
		for _, one := range required {
			search(one.Key.String()+"=", one.Values, func(info *clusterinfo.ClusterInfo) []string { return valuesOf(info, one.Key) })
		}
	}
	for _, toleration := range result.Request.Tolerations {
		if toleration.Key == "" || result.Count(scheduling.StageTaint) == 0 {
			continue
		}
		search("taint ", []string{toleration.Key}, func(info *clusterinfo.ClusterInfo) []string { return taintsOf(info, "") })
		if toleration.Operator != clusterv1beta1.TolerationOpExists {
			search("taint "+toleration.Key+"=", []string{toleration.Value}, func(info *clusterinfo.ClusterInfo) []string {
				return taintsOf(info, toleration.Key)
			})
		}
	}
	return notes
}

// misspelt returns a note if no cluster has one of the values, and some have one that is similar to the first ones.
func misspelt(what string, values []string, clusters []*clusterinfo.ClusterInfo, valuesOf func(*clusterinfo.ClusterInfo) []string) []string {
	counts := map[string]int{}
	for _, info := range clusters {
		for _, value := range valuesOf(info) {
			counts[value]++
		}
	}
	if slices.ContainsFunc(values, func(value string) bool { return counts[value] > 0 }) {
		return nil
	}
	known := slices.Sorted(maps.Keys(counts))
	for _, value := range values[:min(len(values), maxValuesSearched)] {
		if similar := federation.Similar(value, known); similar != "" && withoutDigits(similar) != withoutDigits(value) {
			return []string{fmt.Sprintf("no cluster in scope has %s%s; did you mean %s (%s)?", what, value, similar,
				document.Count(counts[similar], "cluster"))}
		}
	}
	return nil
}

// withoutDigits returns a text without its digits: another number is another version or place, and no misspelling.
func withoutDigits(text string) string {
	return strings.Map(func(letter rune) rune {
		if unicode.IsDigit(letter) {
			return -1
		}
		return letter
	}, text)
}

// valuesOf returns the value of a name, label or claim of a cluster, if it has one.
func valuesOf(info *clusterinfo.ClusterInfo, key clusterinfo.Property) []string {
	values := map[clusterinfo.PropertyKind]map[string]string{clusterinfo.Label: info.Labels, clusterinfo.Claim: info.Claims}[key.Kind]
	if key.Kind == clusterinfo.Name {
		return []string{info.Name}
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
