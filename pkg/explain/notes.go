// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// MaxWarnings bounds the warnings of one Placement that are shown: scores mostly expire on many clusters at once.
const MaxWarnings = 3

// stalledMessage says why there is no result, or why it is not applied, and what to correct; where is the place of the Placement.
func stalledMessage(evaluation Evaluation, where string) string {
	result := evaluation.Result
	texts := make([]string, 0, len(result.Errors)+len(result.BrokenSets))
	for _, mistake := range result.Errors {
		texts = append(texts, strings.TrimSuffix(mistake.Error(), ".")+"; correct it "+where)
	}
	for _, set := range result.BrokenSets {
		texts = append(texts, set.Err.Error()+"; correct this set on the hub first")
	}

	removal := meta.FindStatusCondition(evaluation.Status.Conditions, removalbudget.Condition)
	if result.Outcome() != scheduling.Invalid && removal != nil {
		texts = append(texts, removal.Message)
	}
	return strings.Join(texts, "; ")
}

// notesOf returns notes on cluster sets that the Placement asks for and cannot use, on conditions that report a problem, and on warnings.
func notesOf(evaluation Evaluation, state *State) []string {
	result := evaluation.Result
	switch {
	case result != nil && result.KeepsLeaving() && evaluation.LimitUnknown:
		return []string{"warning: " + unknownLimit}
	case result == nil, result.Outcome() != scheduling.Decided:
		return nil
	}
	notes := append(unboundSetNotes(result, state), uncountedNotes(result, state)...)

	for _, condition := range evaluation.Status.Conditions {
		if IsNotable(condition) {
			notes = append(notes, fmt.Sprintf("%s=%s (%s): %s", condition.Type, condition.Status, condition.Reason, condition.Message))
		}
	}
	if evaluation.LimitUnknown {
		notes = append(notes, "warning: "+unknownLimit)
	}

	for i, warning := range result.Warnings() {
		if i == MaxWarnings {
			notes = append(notes, fmt.Sprintf("warnings not shown: %d", len(result.Warnings())-MaxWarnings))
			break
		}
		notes = append(notes, "warning: "+warning.Source+": "+warning.Message)
	}
	return notes
}

// uncountedNotes returns notes on PlacementDecisions that the prioritizers of a result could not count.
func uncountedNotes(result *scheduling.Result, state *State) []string {
	var counting []string
	for _, prioritizer := range result.Request.Prioritizers {
		if prioritizer.ReadsDecisions() {
			counting = append(counting, prioritizer.Name())
		}
	}
	if len(counting) == 0 {
		return nil
	}

	notes := make([]string, 0, len(state.Uncounted))
	for _, adapter := range state.Uncounted {
		notes = append(notes, fmt.Sprintf("%s cannot count the placementdecisions.%s, which this user may not list: "+
			"ranks can differ from the hub's; ask for that right if it matters", strings.Join(counting, " and "), adapter.Name()))
	}
	return notes
}

func unboundSetNotes(result *scheduling.Result, state *State) []string {
	var notes []string
	for _, name := range result.Request.ClusterSets {
		exists := slices.ContainsFunc(state.ClusterSets, func(set *clusterv1beta2.ManagedClusterSet) bool { return set.Name == name })
		switch {
		case !exists && !state.SetsHidden:
			suggestion := ""
			if similar := federation.Similar(name, setNames(state)); similar != "" {
				suggestion = fmt.Sprintf("; did you mean %s?", similar)
			}
			notes = append(notes, fmt.Sprintf("ManagedClusterSet %s does not exist: correct spec.clusterSets, or create it%s", name, suggestion))
		case !slices.Contains(result.Eligible, name):
			notes = append(notes, fmt.Sprintf("ManagedClusterSet %s is not bound to namespace %s: create the ManagedClusterSetBinding %s there",
				name, result.Request.Key.Namespace, name))
		}
	}

	return notes
}

func setNames(state *State) []string {
	names := make([]string, 0, len(state.ClusterSets))
	for _, set := range state.ClusterSets {
		names = append(names, set.Name)
	}
	slices.Sort(names)
	return names
}

// IsNotable reports whether a condition has more information than its normal state.
func IsNotable(condition metav1.Condition) bool {
	switch condition.Type {
	case clusterv1beta1.PlacementConditionSatisfied:
		return condition.Status != metav1.ConditionTrue
	case clusterv1beta1.PlacementConditionMisconfigured:
		return condition.Status != metav1.ConditionFalse || strings.Contains(condition.Message, "could not be evaluated")
	case placement.ConditionProfilesFound:
		return condition.Status != metav1.ConditionTrue || strings.Contains(condition.Message, placement.ProfilesNotBelieved)
	case removalbudget.Condition:
		return condition.Status != metav1.ConditionFalse || condition.Reason == removalbudget.ReasonInvalidAnnotation
	default:
		return condition.Status != metav1.ConditionTrue
	}
}

// missingClusters returns a note on clusters that are kept in decisions although their ManagedClusters do not exist.
func missingClusters(evaluation Evaluation) []string {
	kept := evaluation.Existing.Incumbents()
	maps.DeleteFunc(kept, func(cluster string, _ bool) bool { return evaluation.Result.Cluster(cluster) != nil })
	if len(kept) == 0 {
		return nil
	}
	return []string{"kept in the decisions, though there is no such ManagedCluster any more: " +
		strings.Join(slices.Sorted(maps.Keys(kept)), ", ")}
}
