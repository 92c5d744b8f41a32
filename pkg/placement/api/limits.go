// SPDX-License-Identifier: Apache-2.0

package api

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/limits"
)

// exceeded collects the limits that a Placement exceeds (docs/spec/differences.md C2a).
type exceeded struct {
	errs field.ErrorList
}

// check adds an error if the field has more items than the limit, and reports whether it has not.
func (e *exceeded) check(limit limits.Limit, path *field.Path, count int) bool {
	err := limit.Check(path, count)
	if err != nil {
		e.errs = append(e.errs, err)
	}
	return err == nil
}

// selector checks the requirements of one selector at a path, and their values.
func (e *exceeded) selector(path *field.Path, matchNames int, labels, claims selectorPart) {
	if !e.check(limits.Requirements, path, matchNames+len(labels.requirements)+len(claims.requirements)) {
		return
	}
	for _, part := range []selectorPart{labels, claims} {
		for i, requirement := range part.requirements {
			e.check(limits.Values, part.path.Index(i).Child("values"), len(requirement.Values))
		}
	}
}

// selectorPart are the requirements at a path.
type selectorPart struct {
	path         *field.Path
	requirements []metav1.LabelSelectorRequirement
}

// exceededV1beta1 returns an error for each limit that a v1beta1 Placement exceeds.
func exceededV1beta1(placement *clusterv1beta1.PlacementSpec) field.ErrorList {
	var e exceeded
	spec := field.NewPath("spec")
	predicates := spec.Child("predicates")
	if e.check(limits.Predicates, predicates, len(placement.Predicates)) {
		cel := 0
		for i, predicate := range placement.Predicates {
			required := predicate.RequiredClusterSelector
			e.clusterSelector(predicates.Index(i).Child("requiredClusterSelector"), required.LabelSelector, required.ClaimSelector)
			for _, expression := range required.CelSelector.CelExpressions {
				cel += len(expression)
			}
		}
		e.check(limits.CELBytes, predicates, cel)
	}

	e.check(limits.Tolerations, spec.Child("tolerations"), len(placement.Tolerations))
	e.check(limits.Prioritizers, spec.Child("prioritizerPolicy", "configurations"), len(placement.PrioritizerPolicy.Configurations))
	e.check(limits.SpreadConstraints, spec.Child("spreadPolicy", "spreadConstraints"), len(placement.SpreadPolicy.SpreadConstraints))
	groups := spec.Child("decisionStrategy", "groupStrategy", "decisionGroups")
	if e.check(limits.DecisionGroups, groups, len(placement.DecisionStrategy.GroupStrategy.DecisionGroups)) {
		for i, group := range placement.DecisionStrategy.GroupStrategy.DecisionGroups {
			e.clusterSelector(groups.Index(i).Child("groupClusterSelector"), group.ClusterSelector.LabelSelector, group.ClusterSelector.ClaimSelector)
		}
	}
	return e.errs
}

func (e *exceeded) clusterSelector(at *field.Path, labels metav1.LabelSelector, claims clusterv1beta1.ClusterClaimSelector) {
	e.selector(at, len(labels.MatchLabels),
		selectorPart{at.Child("labelSelector", "matchExpressions"), labels.MatchExpressions},
		selectorPart{at.Child("claimSelector", "matchExpressions"), claims.MatchExpressions})
}

// exceededV1alpha1 returns an error for each limit that a v1alpha1 Placement exceeds.
func exceededV1alpha1(placement *placementv1alpha1.PlacementSpec) field.ErrorList {
	var e exceeded
	predicates := field.NewPath("spec", "predicates")
	if !e.check(limits.Predicates, predicates, len(placement.Predicates)) {
		return e.errs
	}

	for i, predicate := range placement.Predicates {
		at := predicates.Index(i)
		e.selector(at, len(predicate.LabelSelector.MatchLabels)+len(predicate.ClaimSelector.MatchClaims),
			selectorPart{at.Child("labelSelector", "matchExpressions"), predicate.LabelSelector.MatchExpressions},
			selectorPart{at.Child("claimSelector", "matchExpressions"), predicate.ClaimSelector.MatchExpressions})
	}
	return e.errs
}
