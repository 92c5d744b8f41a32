// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// NewStatus returns the status of the Placement after the plan was applied, with further conditions of the hub. The transition time of a
// condition changes to now only when its status changes, and conditions of others stay, after those of the hub.
func NewStatus(
	result *scheduling.Result, plan Plan, placement *api.Placement, now metav1.Time, further ...metav1.Condition,
) api.Status {
	ours := []metav1.Condition{misconfiguredCondition(result), satisfiedCondition(result, plan, placement)}
	return truncateGroups(placement, api.Status{
		Selected: plan.Selected, Groups: plan.Groups, LastScoreUpdate: plan.ScoresAt,
	}, slices.Concat(ours, spreadCondition(result, placement), further, postponedCondition(result)), now)
}

// NewFailedStatus returns the status after a page could not be written, with further conditions of the hub: it describes the decisions that
// exist, and the cause. The cause must be a stable text.
func NewFailedStatus(
	result *scheduling.Result, existing Existing, cause string, now metav1.Time, further ...metav1.Condition,
) api.Status {
	ours := []metav1.Condition{misconfiguredCondition(result), {
		Type: ConditionSatisfied, Status: metav1.ConditionFalse, Reason: ReasonNotAllScheduled,
		Message: "The decisions could not all be written: " + cause,
	}}
	status := api.Status{LastScoreUpdate: existing.Placement.Status.LastScoreUpdate}
	status.Groups, status.Selected = existing.describe()
	return truncateGroups(existing.Placement, status, slices.Concat(ours, existingCondition(existing.Placement, ConditionSpreadSatisfied),
		existingCondition(existing.Placement, ConditionProfilesFound), further), now)
}

// conditions puts the conditions of the hub before those of others. A condition of others whose time could not be decoded gets the present
// one, without which an API server would refuse the status (docs/spec/differences.md B15).
func conditions(placement *api.Placement, ours []metav1.Condition, now metav1.Time) []metav1.Condition {
	others := slices.DeleteFunc(slices.Clone(placement.Status.Conditions), func(c metav1.Condition) bool {
		return slices.Contains(ownConditions, c.Type)
	})
	for i := range others {
		if others[i].LastTransitionTime.IsZero() {
			others[i].LastTransitionTime = now
		}
	}

	for i := range ours {
		ours[i].ObservedGeneration = placement.Generation
		ours[i].LastTransitionTime = now
		if len(ours[i].Message) > maxMessageBytes {
			ours[i].Message = strings.ToValidUTF8(ours[i].Message[:maxMessageBytes-3], "") + "..."
		}
		before := meta.FindStatusCondition(placement.Status.Conditions, ours[i].Type)
		if before != nil && before.Status == ours[i].Status && !before.LastTransitionTime.IsZero() {
			ours[i].LastTransitionTime = before.LastTransitionTime
		}
	}

	return slices.Concat(ours, others)
}

func misconfiguredCondition(result *scheduling.Result) metav1.Condition {
	condition := metav1.Condition{Type: ConditionMisconfigured}
	if len(result.Errors) > 0 {
		texts := make([]string, 0, len(result.Errors))
		for _, mistake := range result.Errors {
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

// satisfiedCondition returns the condition with the texts of the upstream controller; when clusters are missing, the rejections follow
// (docs/spec/differences.md E2).
func satisfiedCondition(result *scheduling.Result, plan Plan, placement *api.Placement) metav1.Condition {
	condition := metav1.Condition{Type: ConditionSatisfied, Status: metav1.ConditionFalse}
	switch result.Outcome() {
	case scheduling.Decided:
		decidedCondition(&condition, result, placement)
	case scheduling.Invalid:
		invalidCondition(&condition, result, plan)
	case scheduling.Held:
		condition.Reason = ReasonNotAllScheduled
		condition.Message = "Clusters that would leave stay in the decisions, because they are too many: see the condition " + removalbudget.Condition
	case scheduling.Postponed:
		condition.Reason = ReasonNotAllScheduled
		condition.Message = "Clusters that would leave stay in the decisions until the hub has the latest state: see the condition " +
			ConditionRemovalPostponed
	}

	return condition
}

func invalidCondition(condition *metav1.Condition, result *scheduling.Result, plan Plan) {
	switch {
	case len(result.Errors) > 0 && plan.Selected > 0:
		condition.Reason = ReasonNotAllScheduled
		condition.Message = "The placement keeps its last decisions until it is corrected: see the condition PlacementMisconfigured"
	case len(result.Errors) > 0:
		condition.Reason = ReasonNoClusterMatched
		condition.Message = "The placement has no decisions until it is corrected: see the condition PlacementMisconfigured"
	default:
		condition.Reason = ReasonNotAllScheduled
		condition.Message = "The decisions stay as they are, because the members of a cluster set cannot be told: " + brokenSets(result)
	}
}

func decidedCondition(condition *metav1.Condition, result *scheduling.Result, placement *api.Placement) {
	switch {
	case result.Satisfied():
		condition.Status, condition.Reason = metav1.ConditionTrue, ReasonAllScheduled
		condition.Message = "All cluster decisions scheduled"
	case len(result.Bound) == 0:
		condition.Reason = ReasonNoBindings
		condition.Message = "No valid ManagedClusterSetBindings found in placement namespace"
	case len(result.Eligible) == 0:
		condition.Reason = ReasonNoIntersection
		condition.Message = fmt.Sprintf("None of ManagedClusterSets [%s] is bound to placement namespace",
			strings.Join(placement.ClusterSets, ","))
	case result.Available == 0:
		condition.Reason = ReasonAllSetsEmpty
		condition.Message = fmt.Sprintf("All ManagedClusterSets [%s] have no member ManagedCluster", strings.Join(result.Eligible, ",")) +
			rejectionsText(result)
	case len(result.Selected) == 0 && !result.Request.NoneIsEnough:
		condition.Reason = ReasonNoClusterMatched
		condition.Message = "No ManagedCluster matches any of the cluster predicate" + rejectionsText(result)
	default:
		condition.Reason = ReasonNotAllScheduled
		condition.Message = fmt.Sprintf("%d cluster decisions unscheduled", result.Unscheduled) + rejectionsText(result)
	}
}

func brokenSets(result *scheduling.Result) string {
	texts := make([]string, 0, len(result.BrokenSets))
	for _, set := range result.BrokenSets {
		texts = append(texts, set.Err.Error())
	}
	return strings.Join(texts, "; ")
}

// isLabelValue reports whether the name is a valid label value.
func isLabelValue(name string) bool { return len(validation.IsValidLabelValue(name)) == 0 }

// sameStatus compares two statuses as the API would store them. The comparison without encoding is mostly sufficient.
func sameStatus(adapter api.Adapter, a, b api.Status) bool {
	same := a.Selected == b.Selected && a.LastScoreUpdate.Equal(b.LastScoreUpdate) &&
		slices.EqualFunc(a.Conditions, b.Conditions, sameCondition) && slices.EqualFunc(a.Groups, b.Groups, sameGroup)
	return same || equality.Semantic.DeepEqual(adapter.Status(a), adapter.Status(b))
}

func sameCondition(a, b metav1.Condition) bool {
	same := a.LastTransitionTime.Equal(&b.LastTransitionTime)
	a.LastTransitionTime = b.LastTransitionTime
	return same && a == b
}

func sameGroup(a, b api.GroupStatus) bool {
	return a.Group == b.Group && a.Clusters == b.Clusters && slices.Equal(a.Pages, b.Pages)
}

// spreadCondition returns the condition of the spread constraints with the first problem; none without constraints. A stalled result keeps
// the existing condition.
func spreadCondition(result *scheduling.Result, placement *api.Placement) []metav1.Condition {
	switch {
	case result.Outcome() != scheduling.Decided:
		return existingCondition(placement, ConditionSpreadSatisfied)
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

// existingCondition returns an existing condition unchanged; none when it does not exist.
func existingCondition(placement *api.Placement, conditionType string) []metav1.Condition {
	before := meta.FindStatusCondition(placement.Status.Conditions, conditionType)
	if before == nil {
		return nil
	}
	return []metav1.Condition{*before}
}

// postponedCondition returns the condition of a result whose removals must wait; none for others.
func postponedCondition(result *scheduling.Result) []metav1.Condition {
	why := result.Postponement()
	if why == nil {
		return nil
	}
	return []metav1.Condition{{
		Type: ConditionRemovalPostponed, Status: metav1.ConditionTrue, Reason: why.Reason, Message: why.Message,
	}}
}
