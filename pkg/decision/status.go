package decision

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// The reasons of the two conditions (upstream-placement.md 1.11).
const (
	ReasonMisconfigured         = "Misconfigured"
	ReasonSucceedConfigured     = "Succeedconfigured"
	ReasonNoBindings            = "NoManagedClusterSetBindings"
	ReasonNoIntersection        = "NoIntersection"
	ReasonAllSetsEmpty          = "AllManagedClusterSetsEmpty"
	ReasonNoClusterMatched      = "NoManagedClusterMatched"
	ReasonAllScheduled          = "AllDecisionsScheduled"
	ReasonNotAllScheduled       = "NotAllDecisionsScheduled"
	longestMessage              = 32768
	configurationsPassedMessage = "Placement configurations check pass"
)

// ConditionSpreadSatisfied says whether the selected clusters are spread as the constraints ask; it is there only when there are some
// (ours.md D2).
const ConditionSpreadSatisfied = "PlacementSpreadSatisfied"

// ReasonSpread is the reason of a spread condition that is True.
const ReasonSpread = "Spread"

var ourConditions = []string{
	clusterv1beta1.PlacementConditionMisconfigured, clusterv1beta1.PlacementConditionSatisfied, ConditionSpreadSatisfied,
}

// NewStatus is the status of the placement once the plan is written. The transition time of a condition moves to now only when its
// status changes, and conditions of others stay, after ours.
func NewStatus(result *scheduling.Result, plan Plan, placement *clusterv1beta1.Placement, now metav1.Time) clusterv1beta1.PlacementStatus {
	return status(plan, placement, now, append([]metav1.Condition{misconfigured(result), satisfied(result, plan, placement)},
		spread(result, placement)...))
}

// NewFailedStatus is the status when decisions could not be written: it tells what really stands, and why that is not all. The cause
// must be a stable text.
func NewFailedStatus(result *scheduling.Result, present Present, cause string, now metav1.Time) clusterv1beta1.PlacementStatus {
	groups, selected := describe(keep(present))

	return status(Plan{Groups: groups, Selected: selected}, present.Placement, now, append([]metav1.Condition{misconfigured(result), {
		Type: clusterv1beta1.PlacementConditionSatisfied, Status: metav1.ConditionFalse, Reason: ReasonNotAllScheduled,
		Message: "The decisions could not all be written: " + cause,
	}}, spreadBefore(present.Placement)...))
}

// status puts our conditions before those of others, in our order.
func status(
	plan Plan, placement *clusterv1beta1.Placement, now metav1.Time, ours []metav1.Condition,
) clusterv1beta1.PlacementStatus {
	status := *placement.Status.DeepCopy()
	status.NumberOfSelectedClusters = int32(plan.Selected)
	status.DecisionGroups = plan.Groups

	others := slices.DeleteFunc(slices.Clone(status.Conditions), func(c metav1.Condition) bool {
		return slices.Contains(ourConditions, c.Type)
	})

	for i := range ours {
		ours[i].ObservedGeneration = placement.Generation
		ours[i].LastTransitionTime = now

		if len(ours[i].Message) > longestMessage {
			ours[i].Message = strings.ToValidUTF8(ours[i].Message[:longestMessage-3], "") + "..."
		}

		before := meta.FindStatusCondition(status.Conditions, ours[i].Type)
		if before != nil && before.Status == ours[i].Status && !before.LastTransitionTime.IsZero() {
			ours[i].LastTransitionTime = before.LastTransitionTime
		}
	}

	status.Conditions = slices.Concat(ours, others)

	return status
}

func misconfigured(result *scheduling.Result) metav1.Condition {
	condition := metav1.Condition{Type: clusterv1beta1.PlacementConditionMisconfigured}

	if len(result.Mistakes) > 0 {
		texts := make([]string, 0, len(result.Mistakes))
		for _, mistake := range result.Mistakes {
			texts = append(texts, mistake.Error())
		}

		condition.Status, condition.Reason, condition.Message = metav1.ConditionTrue, ReasonMisconfigured, strings.Join(texts, "; ")

		return condition
	}

	texts := []string{configurationsPassedMessage}
	for _, failed := range result.EvaluationErrors {
		texts = append(texts, fmt.Sprintf("%s could not be evaluated on %d clusters, where it counts as not matching; the first is %s: %v",
			failed.Path, failed.Clusters, failed.First, failed.Err))
	}

	condition.Status, condition.Reason, condition.Message = metav1.ConditionFalse, ReasonSucceedConfigured, strings.Join(texts, "; ")

	return condition
}

func satisfied(result *scheduling.Result, plan Plan, placement *clusterv1beta1.Placement) metav1.Condition {
	condition := metav1.Condition{Type: clusterv1beta1.PlacementConditionSatisfied, Status: metav1.ConditionFalse}

	switch {
	case len(result.Mistakes) > 0 && plan.Selected > 0:
		condition.Reason = ReasonNotAllScheduled
		condition.Message = "The placement keeps its last decisions until it is corrected: see the condition PlacementMisconfigured"
	case len(result.Mistakes) > 0:
		condition.Reason = ReasonNoClusterMatched
		condition.Message = "The placement has no decisions until it is corrected: see the condition PlacementMisconfigured"
	case len(result.BrokenSets) > 0:
		condition.Reason = ReasonNotAllScheduled
		condition.Message = "The decisions stay as they are, because the members of a cluster set cannot be told: " + brokenSets(result)
	case len(result.Bound) == 0:
		condition.Reason = ReasonNoBindings
		condition.Message = "No valid ManagedClusterSetBindings found in placement namespace"
	case len(result.Eligible) == 0:
		condition.Reason = ReasonNoIntersection
		condition.Message = fmt.Sprintf("None of ManagedClusterSets [%s] is bound to placement namespace",
			strings.Join(placement.Spec.ClusterSets, ","))
	case result.Available == 0:
		condition.Reason = ReasonAllSetsEmpty
		condition.Message = fmt.Sprintf("All ManagedClusterSets [%s] have no member ManagedCluster", strings.Join(result.Eligible, ","))
	case len(result.Selected) == 0:
		condition.Reason = ReasonNoClusterMatched
		condition.Message = "No ManagedCluster matches any of the cluster predicate"
	case result.Unscheduled > 0:
		condition.Reason = ReasonNotAllScheduled
		condition.Message = fmt.Sprintf("%d cluster decisions unscheduled", result.Unscheduled)
	default:
		condition.Status, condition.Reason = metav1.ConditionTrue, ReasonAllScheduled
		condition.Message = "All cluster decisions scheduled"
	}

	return condition
}

func brokenSets(result *scheduling.Result) string {
	texts := make([]string, 0, len(result.BrokenSets))
	for _, set := range result.BrokenSets {
		texts = append(texts, set.Err.Error())
	}

	return strings.Join(texts, "; ")
}

// labelFits reports whether the name can label its decisions.
func labelFits(name string) bool { return len(validation.IsValidLabelValue(name)) == 0 }

// sameStatus compares two states of a status as the API server would store them.
func sameStatus(a, b clusterv1beta1.PlacementStatus) bool { return equality.Semantic.DeepEqual(a, b) }

// spread is the condition of the spread constraints, which tells the first problem; none without constraints. While the result is held
// the last one stays with the decisions.
func spread(result *scheduling.Result, placement *clusterv1beta1.Placement) []metav1.Condition {
	switch {
	case result.Held():
		return spreadBefore(placement)
	case len(result.Spreads) == 0:
		return nil
	}

	condition := metav1.Condition{
		Type: ConditionSpreadSatisfied, Status: metav1.ConditionTrue, Reason: ReasonSpread, Message: "The clusters are spread as asked",
	}

	for _, s := range result.Spreads {
		if reason, message := s.Problem(); reason != "" {
			condition.Status, condition.Reason, condition.Message = metav1.ConditionFalse, reason, message

			break
		}
	}

	return []metav1.Condition{condition}
}

// spreadBefore is the spread condition as it is.
func spreadBefore(placement *clusterv1beta1.Placement) []metav1.Condition {
	before := meta.FindStatusCondition(placement.Status.Conditions, ConditionSpreadSatisfied)
	if before == nil {
		return nil
	}

	return []metav1.Condition{*before}
}
