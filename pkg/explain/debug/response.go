// SPDX-License-Identifier: Apache-2.0

package debug

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// Response is the body of every response, errors included. The names of the fields up to Error are those of the upstream controller; those
// that follow are the names of explain.Report.
type Response struct {
	// Placement is the evaluated object of its API, with defaults and the metadata that the upstream controller returns. It is absent when
	// there is no result.
	Placement map[string]any `json:"placement,omitempty"`
	// Filters are the clusters that pass each filter, in their order. They are absent when the result is stalled.
	Filters []Filter `json:"filteredPipelineResults,omitempty"`
	// Prioritizers are the summands of the score, in their order.
	Prioritizers []Prioritizer `json:"prioritizeResults,omitempty"`
	// Scores are those of the feasible clusters, highest first, then by name.
	Scores []Score `json:"aggregatedScores,omitempty"`
	// Error says why there is no result, or why the existing decisions stay.
	Error string `json:"error,omitempty"`

	// Skipped is the reason why the controller does not schedule the Placement: the other fields are the result without that reason.
	Skipped string `json:"skipped,omitempty"`
	// Stalled reports that the existing decisions stay, because the Placement or a cluster set that it needs is invalid.
	Stalled bool `json:"stalled,omitempty"`
	// Selected are the clusters in the decisions: best first, or by name when stalled.
	Selected []string `json:"selected,omitempty"`
	// Groups are the decision groups, and Conditions those of the status, after the decisions were written.
	Groups     []explain.GroupReport `json:"groups,omitempty"`
	Conditions []metav1.Condition    `json:"conditions,omitempty"`
	// Warnings are problems that do not invalidate the result.
	Warnings []string `json:"warnings,omitempty"`
	// ChangesAt is the earliest time at which the result can change without an event.
	ChangesAt *metav1.Time `json:"changesAt,omitempty"`
	// Verdicts are the verdicts on the clusters in the sets that the Placement may use, and on those that are held, in the order of a Report.
	Verdicts []explain.ClusterReport `json:"verdicts,omitempty"`
	// OutOfScope counts the other clusters, which have no verdict here.
	OutOfScope       int    `json:"outOfScope,omitempty"`
	OutOfScopeReason string `json:"outOfScopeReason,omitempty"`
}

// Filter has the clusters that pass a filter.
type Filter struct {
	// Name lists the filters so far: "Predicate", then "Predicate,TaintToleration".
	Name string `json:"name"`
	// Clusters are sorted by name.
	Clusters []string `json:"filteredClusters"`
}

// Prioritizer is one summand of the score.
type Prioritizer struct {
	// Name is "Balance", or "AddOn/<resourceName>/<scoreName>".
	Name string `json:"name"`
	// Weight is in [-10, 10] and not 0.
	Weight int32 `json:"weight"`
	// Scores are unweighted.
	Scores map[string]int64 `json:"scores"`
}

// Score is the weighted sum for a cluster.
type Score struct {
	Cluster string `json:"clusterName"`
	Score   int64  `json:"score"`
}

func newResponse(evaluation explain.Evaluation) (*Response, error) {
	placement, err := newPlacement(evaluation.Placement)
	if err != nil {
		return nil, err
	}
	report := explain.NewReport(evaluation, false)
	response := &Response{
		Placement: placement, Skipped: report.Skipped, Stalled: report.Stalled, Selected: report.Selected, Groups: report.Groups,
		Conditions: report.Conditions, Warnings: report.Warnings, ChangesAt: report.ChangesAt, Verdicts: report.Clusters,
		OutOfScope: report.OutOfScope, OutOfScopeReason: report.OutOfScopeReason,
	}
	if report.Stalled {
		response.Error = stalledMessage(evaluation)
		return response, nil
	}

	result := evaluation.Result
	response.Filters = filtersOf(result)
	for _, scores := range result.Prioritizers() {
		response.Prioritizers = append(response.Prioritizers, Prioritizer{
			Name: scores.Prioritizer.Name(), Weight: scores.Prioritizer.Weight, Scores: scores.Scores,
		})
	}
	for cluster, score := range result.Scores() {
		response.Scores = append(response.Scores, Score{Cluster: cluster.Name, Score: score})
	}

	slices.SortFunc(response.Scores, func(a, b Score) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Cluster, b.Cluster))
	})
	return response, nil
}

// filtersOf returns the clusters that pass each filter, by name.
func filtersOf(result *scheduling.Result) []Filter {
	steps := scheduling.FilterSteps()
	filters, name := make([]Filter, 0, len(steps)), ""
	for _, step := range steps {
		name = strings.TrimPrefix(name+","+string(step), ",")
		filter := Filter{Name: name, Clusters: []string{}}
		for _, verdict := range result.Verdicts() {
			if verdict.Passed(step) {
				filter.Clusters = append(filter.Clusters, verdict.Cluster.Name)
			}
		}
		filters = append(filters, filter)
	}

	return filters
}

// stalledMessage returns the message of the condition that reports why a result is stalled.
func stalledMessage(evaluation explain.Evaluation) string {
	for _, name := range []string{placement.ConditionMisconfigured, placement.ConditionSatisfied} {
		condition := meta.FindStatusCondition(evaluation.Status.Conditions, name)
		if condition != nil && (condition.Status == metav1.ConditionTrue) == (name == placement.ConditionMisconfigured) {
			return condition.Message
		}
	}
	return ""
}

// newPlacement returns an object that clients can decode into the type of the API, with the status that the hub has.
func newPlacement(placement *api.Placement) (map[string]any, error) {
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(placement.Object)
	if err != nil {
		return nil, fmt.Errorf("reading Placement %s: %w", placement.Key(), err)
	}

	// The result does not depend on other fields of the metadata.
	metadata, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&metav1.ObjectMeta{
		Name: placement.Name, Namespace: placement.Namespace, Labels: placement.Labels, Annotations: placement.Annotations,
	})
	if err != nil {
		return nil, fmt.Errorf("reading the metadata of Placement %s: %w", placement.Key(), err)
	}
	delete(metadata, "creationTimestamp")

	status, err := json.Marshal(placement.API.Status(placement.Status))
	if err != nil {
		return nil, fmt.Errorf("reading the status of Placement %s: %w", placement.Key(), err)
	}
	owner := placement.API.Kind()
	return map[string]any{
		"apiVersion": owner.GroupVersion().String(), "kind": owner.Kind, "metadata": metadata, "spec": object["spec"],
		"status": json.RawMessage(status),
	}, nil
}
