package debug

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/placement-hub/placement-hub/pkg/decision"
	"github.com/placement-hub/placement-hub/pkg/decision/record"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// Response is the body of every answer. The names of the fields up to Error are those of the upstream controller; those that follow are the ones
// of explain.Report.
type Response struct {
	// Placement is the question as a whole object of its API, defaults filled in, with as much of its metadata as the upstream controller tells.
	// It is absent when there is no answer.
	Placement map[string]any `json:"placement,omitempty"`
	// Filters are what each of the filters has left, in their order. They are absent when the answer is held.
	Filters []Filter `json:"filteredPipelineResults,omitempty"`
	// Prioritizers are what the score is made of, in their order.
	Prioritizers []Prioritizer `json:"prioritizeResults,omitempty"`
	// Scores are those of the feasible clusters, highest first, then by name.
	Scores []Score `json:"aggregatedScores,omitempty"`
	// Error says why there is no answer, or none but to keep the present decisions.
	Error string `json:"error,omitempty"`

	// Skipped says why the controller leaves the placement alone: this is what it would answer if it did not.
	Skipped string `json:"skipped,omitempty"`
	// Stalled says that the present decisions stay, because the placement or a cluster set that it needs is broken.
	Stalled bool `json:"stalled,omitempty"`
	// Selected are the clusters in the decisions: best first, or by name when held.
	Selected []string `json:"selected,omitempty"`
	// Groups are the decision groups, and Conditions those of the status, after this answer was written.
	Groups     []explain.GroupReport `json:"groups,omitempty"`
	Conditions []metav1.Condition    `json:"conditions,omitempty"`
	// Warnings are what the caller should know although the answer stands.
	Warnings []string `json:"warnings,omitempty"`
	// ChangesAt is the earliest time at which the answer can change although nothing else does.
	ChangesAt *metav1.Time `json:"changesAt,omitempty"`
	// Verdicts are what became of each cluster in the sets that the placement may use: selected ones first.
	Verdicts []explain.ClusterReport `json:"verdicts,omitempty"`
	// OutOfScope counts the other clusters, of which nothing is told.
	OutOfScope       int    `json:"outOfScope,omitempty"`
	OutOfScopeReason string `json:"outOfScopeReason,omitempty"`
}

// Filter is what a filter has left.
type Filter struct {
	// Name has the filters so far: "Predicate", then "Predicate,TaintToleration".
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
	question, err := newPlacement(evaluation.Placement)
	if err != nil {
		return nil, err
	}

	report := explain.NewReport(evaluation, false)
	answer := &Response{
		Placement: question, Skipped: report.Skipped, Stalled: report.Stalled, Selected: report.Selected, Groups: report.Groups,
		Conditions: report.Conditions, Warnings: report.Warnings, ChangesAt: report.ChangesAt, Verdicts: report.Clusters,
		OutOfScope: report.OutOfScope, OutOfScopeReason: report.OutOfScopeReason,
	}

	if report.Stalled {
		answer.Error = stalledMessage(evaluation)

		return answer, nil
	}

	result := evaluation.Result
	answer.Filters = []Filter{
		{Name: "Predicate", Clusters: passed(result, scheduling.StagePredicate)},
		{Name: "Predicate,TaintToleration", Clusters: passed(result, scheduling.StageTaint)},
	}

	for _, scores := range result.Prioritizers() {
		answer.Prioritizers = append(answer.Prioritizers, Prioritizer{
			Name: scores.Prioritizer.Name(), Weight: scores.Prioritizer.Weight, Scores: scores.Scores,
		})
	}

	for cluster, score := range result.Scores() {
		answer.Scores = append(answer.Scores, Score{Cluster: cluster.Name, Score: score})
	}

	slices.SortFunc(answer.Scores, func(a, b Score) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Cluster, b.Cluster))
	})

	return answer, nil
}

// passed are the clusters in scope that came further than a stage, by name.
func passed(result *scheduling.Result, stage scheduling.Stage) []string {
	names := []string{}

	for _, verdict := range result.Verdicts() {
		if verdict.Stage > stage {
			names = append(names, verdict.Cluster.Name)
		}
	}

	return names
}

// stalledMessage is what the conditions say of a result that is held.
func stalledMessage(evaluation explain.Evaluation) string {
	for _, name := range []string{decision.ConditionMisconfigured, decision.ConditionSatisfied} {
		condition := meta.FindStatusCondition(evaluation.Status.Conditions, name)
		if condition != nil && (condition.Status == metav1.ConditionTrue) == (name == decision.ConditionMisconfigured) {
			return condition.Message
		}
	}

	return ""
}

// newPlacement is an object that clients decode into the type of the API. Its status is that of the hub.
func newPlacement(placement *record.Placement) (map[string]any, error) {
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(placement.Object)
	if err != nil {
		return nil, fmt.Errorf("reading Placement %s: %w", placement.Key(), err)
	}

	// Other fields than these have nothing to do with the question.
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

	owner := placement.API.Form().Owner()

	return map[string]any{
		"apiVersion": owner.GroupVersion().String(), "kind": owner.Kind, "metadata": metadata, "spec": object["spec"],
		"status": json.RawMessage(status),
	}, nil
}
