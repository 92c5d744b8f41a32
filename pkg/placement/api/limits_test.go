// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/limits"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

func keys(count int) []metav1.LabelSelectorRequirement {
	requirements := make([]metav1.LabelSelectorRequirement, 0, count)
	for n := range count {
		requirements = append(requirements, metav1.LabelSelectorRequirement{Key: fmt.Sprintf("k%d", n), Operator: metav1.LabelSelectorOpExists})
	}
	return requirements
}

func valuesOf(count int) []metav1.LabelSelectorRequirement {
	return []metav1.LabelSelectorRequirement{{
		Key: "a", Operator: metav1.LabelSelectorOpIn, Values: slices.Repeat([]string{"a"}, count),
	}}
}

// C2a: a v1beta1 Placement at a limit is valid; beyond it, it has one error that names path, count and limit, and nothing is compiled.
func TestLimitsOfV1beta1(t *testing.T) {
	for _, c := range []struct {
		limit limits.Limit
		path  string
		fill  func(spec *clusterv1beta1.PlacementSpec, count int)
	}{
		{limits.Predicates, "spec.predicates", func(spec *clusterv1beta1.PlacementSpec, count int) {
			spec.Predicates = make([]clusterv1beta1.ClusterPredicate, count)
		}},
		{limits.Requirements, "spec.predicates[0].requiredClusterSelector", func(spec *clusterv1beta1.PlacementSpec, count int) {
			required := &spec.Predicates[0].RequiredClusterSelector
			required.LabelSelector.MatchLabels = map[string]string{"a": "b"}
			required.LabelSelector.MatchExpressions = keys(count - 3)
			required.ClaimSelector.MatchExpressions = keys(2)
		}},
		{
			limits.Requirements, "spec.decisionStrategy.groupStrategy.decisionGroups[0].groupClusterSelector",
			func(spec *clusterv1beta1.PlacementSpec, count int) {
				spec.DecisionStrategy.GroupStrategy.DecisionGroups = make([]clusterv1beta1.DecisionGroup, 1)
				spec.DecisionStrategy.GroupStrategy.DecisionGroups[0].ClusterSelector.LabelSelector.MatchExpressions = keys(count)
			},
		},
		{
			limits.Values, "spec.predicates[0].requiredClusterSelector.labelSelector.matchExpressions[0].values",
			func(spec *clusterv1beta1.PlacementSpec, count int) {
				spec.Predicates[0].RequiredClusterSelector.LabelSelector.MatchExpressions = valuesOf(count)
			},
		},
		{
			limits.Values, "spec.predicates[0].requiredClusterSelector.claimSelector.matchExpressions[0].values",
			func(spec *clusterv1beta1.PlacementSpec, count int) {
				spec.Predicates[0].RequiredClusterSelector.ClaimSelector.MatchExpressions = valuesOf(count)
			},
		},
		{limits.Tolerations, "spec.tolerations", func(spec *clusterv1beta1.PlacementSpec, count int) {
			spec.Tolerations = slices.Repeat([]clusterv1beta1.Toleration{{Key: "a"}}, count)
		}},
		{limits.Prioritizers, "spec.prioritizerPolicy.configurations", func(spec *clusterv1beta1.PlacementSpec, count int) {
			spec.PrioritizerPolicy.Configurations = slices.Repeat([]clusterv1beta1.PrioritizerConfig{{
				ScoreCoordinate: &clusterv1beta1.ScoreCoordinate{Type: clusterv1beta1.ScoreCoordinateTypeBuiltIn, BuiltIn: scheduling.Steady},
			}}, count)
		}},
		{limits.SpreadConstraints, "spec.spreadPolicy.spreadConstraints", func(spec *clusterv1beta1.PlacementSpec, count int) {
			spec.SpreadPolicy.SpreadConstraints = slices.Repeat([]clusterv1beta1.SpreadConstraintsTerm{{
				TopologyKey: "zone", TopologyKeyType: clusterv1beta1.TopologyKeyTypeLabel,
			}}, count)
		}},
		{limits.DecisionGroups, "spec.decisionStrategy.groupStrategy.decisionGroups", func(spec *clusterv1beta1.PlacementSpec, count int) {
			spec.DecisionStrategy.GroupStrategy.DecisionGroups = make([]clusterv1beta1.DecisionGroup, count)
		}},
		{limits.CELBytes, "spec.predicates", func(spec *clusterv1beta1.PlacementSpec, count int) {
			const short, long = "true", "true || '' == ''"
			spec.Predicates[0].RequiredClusterSelector.CelSelector.CelExpressions = []string{
				short, strings.Replace(long, "== '", "== '"+strings.Repeat("x", count-len(short)-len(long)), 1),
			}
		}},
	} {
		t.Run(c.path, func(t *testing.T) {
			convert := func(count int) *scheduling.Request {
				placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p"}}
				placement.Spec.Predicates = make([]clusterv1beta1.ClusterPredicate, 1)
				c.fill(&placement.Spec, count)
				return V1beta1.Read(placement).Request(selector.NewCompiler())
			}
			if at := convert(c.limit.Max); len(at.Errors) > 0 {
				t.Errorf("at the limit: %v", at.Errors)
			}

			beyond := convert(c.limit.Max + 1)
			expectExceeded(t, beyond, c.limit, c.path)
			if len(beyond.Predicates) > 0 || len(beyond.Tolerations) > 0 || len(beyond.Groups) > 0 {
				t.Error("a Placement beyond the limits is converted")
			}
		})
	}
}

func expectExceeded(t *testing.T, request *scheduling.Request, limit limits.Limit, path string) {
	t.Helper()
	want := limit.Check(field.NewPath(path), limit.Max+1).Error()
	if len(request.Errors) != 1 || request.Errors[0].Error() != want {
		t.Errorf("beyond the limit: %v, want %s", request.Errors, want)
	}
}

// C2a: the same for v1alpha1.
func TestLimitsOfV1alpha1(t *testing.T) {
	for _, c := range []struct {
		limit limits.Limit
		path  string
		fill  func(spec *placementv1alpha1.PlacementSpec, count int)
	}{
		{limits.Predicates, "spec.predicates", func(spec *placementv1alpha1.PlacementSpec, count int) {
			spec.Predicates = make([]placementv1alpha1.ClusterPredicate, count)
		}},
		{limits.Requirements, "spec.predicates[0]", func(spec *placementv1alpha1.PlacementSpec, count int) {
			spec.Predicates[0].LabelSelector.MatchLabels = map[string]string{"a": "b"}
			spec.Predicates[0].LabelSelector.MatchExpressions = keys(count - 4)
			spec.Predicates[0].ClaimSelector.MatchClaims = map[string]string{"a": "b"}
			spec.Predicates[0].ClaimSelector.MatchExpressions = keys(2)
		}},
		{limits.Values, "spec.predicates[0].labelSelector.matchExpressions[0].values", func(spec *placementv1alpha1.PlacementSpec, count int) {
			spec.Predicates[0].LabelSelector.MatchExpressions = valuesOf(count)
		}},
		{limits.Values, "spec.predicates[0].claimSelector.matchExpressions[0].values", func(spec *placementv1alpha1.PlacementSpec, count int) {
			spec.Predicates[0].ClaimSelector.MatchExpressions = valuesOf(count)
		}},
	} {
		t.Run(c.path, func(t *testing.T) {
			convert := func(count int) *scheduling.Request {
				placement := &placementv1alpha1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p"}}
				placement.Spec.Predicates = make([]placementv1alpha1.ClusterPredicate, 1)
				c.fill(&placement.Spec, count)
				return V1alpha1.Read(placement).Request(selector.NewCompiler())
			}
			if at := convert(c.limit.Max); len(at.Errors) > 0 {
				t.Errorf("at the limit: %v", at.Errors)
			}
			expectExceeded(t, convert(c.limit.Max+1), c.limit, c.path)
		})
	}
}
