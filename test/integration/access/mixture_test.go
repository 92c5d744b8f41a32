// SPDX-License-Identifier: Apache-2.0

package access

import (
	"math/rand/v2"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// mixture is a spec of which each part is more often right than wrong. The CustomResourceDefinition lets all of it through, and
// everything it would fill in is there.
func mixture(random *rand.Rand) clusterv1beta1.PlacementSpec {
	spec := clusterv1beta1.PlacementSpec{
		NumberOfClusters: suite.Pick(random, nil, nil, nil, ptr.To[int32](0), ptr.To[int32](1), ptr.To[int32](7), ptr.To[int32](-7)),
		Predicates:       suite.Some(random, 2, mixedPredicate),
		Tolerations:      suite.Some(random, 2, mixedToleration),
		PrioritizerPolicy: clusterv1beta1.PrioritizerPolicy{
			Mode: suite.Pick(random,
				clusterv1beta1.PrioritizerPolicyModeExact, "Exact", "Exact", "Additive", "Additive", "Additive", "additive"),
			Configurations: suite.Some(random, 2, mixedPrioritizer),
		},
	}
	spec.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup = suite.Pick(random,
		intstr.FromInt32(0), intstr.FromInt32(3), intstr.FromInt32(-3), intstr.FromString("100%"), intstr.FromString("25"),
		intstr.FromString("2147483647"), intstr.FromString("2147483648"))

	if random.IntN(3) == 0 {
		spec.DecisionStrategy.GroupStrategy.DecisionGroups = []clusterv1beta1.DecisionGroup{{
			GroupName: "canary", ClusterSelector: clusterv1beta1.GroupClusterSelector{
				LabelSelector: mixedLabels(random), ClaimSelector: mixedClaims(random),
			},
		}}
	}
	return spec
}

func mixedPredicate(random *rand.Rand) clusterv1beta1.ClusterPredicate {
	return clusterv1beta1.ClusterPredicate{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
		LabelSelector: mixedLabels(random), ClaimSelector: mixedClaims(random),
	}}
}

func mixedLabels(random *rand.Rand) metav1.LabelSelector {
	return metav1.LabelSelector{
		MatchLabels: suite.Pick(random, nil, nil, nil, nil, map[string]string{"region": "eu", "example.com/a_b": ""},
			map[string]string{"no key!": "eu"}, map[string]string{"region": "-"}),
		MatchExpressions: suite.Some(random, 2, func(random *rand.Rand) metav1.LabelSelectorRequirement {
			return mixedRequirement(random, "region", "zone", "example.com/zone", "region", "zone", "example.com/zone", "a/b/c")
		}),
	}
}

func mixedClaims(random *rand.Rand) clusterv1beta1.ClusterClaimSelector {
	return clusterv1beta1.ClusterClaimSelector{
		MatchExpressions: suite.Some(random, 2, func(random *rand.Rand) metav1.LabelSelectorRequirement {
			return mixedRequirement(random, "arn:aws", "region", "a b", "ä", strings.Repeat("long", 30), "")
		}),
	}
}

func mixedRequirement(random *rand.Rand, keys ...string) metav1.LabelSelectorRequirement {
	requirement := suite.Pick(random, []metav1.LabelSelectorRequirement{
		{Operator: metav1.LabelSelectorOpIn, Values: []string{"a", ""}}, {Operator: metav1.LabelSelectorOpNotIn, Values: []string{"b"}},
		{Operator: metav1.LabelSelectorOpExists}, {Operator: metav1.LabelSelectorOpDoesNotExist},
	}...)
	if random.IntN(8) == 0 {
		requirement = suite.Pick(random, []metav1.LabelSelectorRequirement{
			{Operator: metav1.LabelSelectorOpIn}, {Operator: metav1.LabelSelectorOpNotIn}, {Operator: "Like"},
			{Operator: metav1.LabelSelectorOpExists, Values: []string{"c"}}, {Operator: "in", Values: []string{"c"}},
			{Operator: metav1.LabelSelectorOpDoesNotExist, Values: []string{"c"}},
			{Operator: metav1.LabelSelectorOpIn, Values: []string{"ok", "no value!"}},
		}...)
	}

	requirement.Key = suite.Pick(random, keys...)
	return requirement
}

func mixedToleration(random *rand.Rand) clusterv1beta1.Toleration {
	return clusterv1beta1.Toleration{
		Key:      suite.Pick(random, "gpu", "zone", "example.com/gpu", "gpu", "zone", ""),
		Operator: suite.Pick(random, clusterv1beta1.TolerationOpEqual, clusterv1beta1.TolerationOpExists, "Like"),
		Value:    suite.Pick(random, "", "", "", "", "a100", "\"quoted\"\t"),
	}
}

func mixedPrioritizer(random *rand.Rand) clusterv1beta1.PrioritizerConfig {
	return suite.Pick(random,
		suite.BuiltIn(scheduled(random), 1), suite.BuiltIn(scheduled(random), -10), suite.DemoScore(2), clusterv1beta1.PrioritizerConfig{
			ScoreCoordinate: &clusterv1beta1.ScoreCoordinate{
				Type: suite.Pick(random, clusterv1beta1.ScoreCoordinateTypeAddOn, "BuiltIn", "BuiltIn"), BuiltIn: "Steady",
			},
			Weight: 1,
		})
}

func scheduled(random *rand.Rand) string {
	return suite.Pick(random, "Balance", "Steady", "ResourceAllocatableMemory", suite.PrioritizerCPU,
		"Balance", "Steady", suite.PrioritizerCPU, "Fastest", "")
}
