package integration

import (
	"math/rand/v2"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// pick takes one of the choices.
func pick[T any](random *rand.Rand, choices ...T) T { return choices[random.IntN(len(choices))] }

// some makes up to n of a thing.
func some[T any](random *rand.Rand, n int, one func(*rand.Rand) T) []T {
	things := make([]T, random.IntN(n+1))
	for i := range things {
		things[i] = one(random)
	}

	return things
}

// mixture is a spec of which each part is more often right than wrong. The CustomResourceDefinition lets all of it through, and
// everything it would fill in is there.
func mixture(random *rand.Rand) clusterv1beta1.PlacementSpec {
	spec := clusterv1beta1.PlacementSpec{
		NumberOfClusters: pick(random, nil, nil, nil, ptr.To[int32](0), ptr.To[int32](1), ptr.To[int32](7), ptr.To[int32](-7)),
		Predicates:       some(random, 2, mixedPredicate),
		Tolerations:      some(random, 2, mixedToleration),
		PrioritizerPolicy: clusterv1beta1.PrioritizerPolicy{
			Mode:           pick(random, clusterv1beta1.PrioritizerPolicyModeExact, "Exact", "Exact", "Additive", "Additive", "Additive", "additive"),
			Configurations: some(random, 2, mixedPrioritizer),
		},
	}
	spec.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup = pick(random,
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
		MatchLabels: pick(random, nil, nil, nil, nil, map[string]string{"region": "eu", "example.com/a_b": ""},
			map[string]string{"no key!": "eu"}, map[string]string{"region": "-"}),
		MatchExpressions: some(random, 2, func(random *rand.Rand) metav1.LabelSelectorRequirement {
			return mixedRequirement(random, "region", "zone", "example.com/zone", "region", "zone", "example.com/zone", "a/b/c")
		}),
	}
}

func mixedClaims(random *rand.Rand) clusterv1beta1.ClusterClaimSelector {
	return clusterv1beta1.ClusterClaimSelector{
		MatchExpressions: some(random, 2, func(random *rand.Rand) metav1.LabelSelectorRequirement {
			return mixedRequirement(random, "arn:aws", "region", "a b", "ä", strings.Repeat("long", 30), "")
		}),
	}
}

func mixedRequirement(random *rand.Rand, keys ...string) metav1.LabelSelectorRequirement {
	requirement := pick(random, []metav1.LabelSelectorRequirement{
		{Operator: metav1.LabelSelectorOpIn, Values: []string{"a", ""}}, {Operator: metav1.LabelSelectorOpNotIn, Values: []string{"b"}},
		{Operator: metav1.LabelSelectorOpExists}, {Operator: metav1.LabelSelectorOpDoesNotExist},
	}...)
	if random.IntN(8) == 0 {
		requirement = pick(random, []metav1.LabelSelectorRequirement{
			{Operator: metav1.LabelSelectorOpIn}, {Operator: metav1.LabelSelectorOpNotIn}, {Operator: "Like"},
			{Operator: metav1.LabelSelectorOpExists, Values: []string{"c"}}, {Operator: "in", Values: []string{"c"}},
			{Operator: metav1.LabelSelectorOpDoesNotExist, Values: []string{"c"}},
			{Operator: metav1.LabelSelectorOpIn, Values: []string{"ok", "no value!"}},
		}...)
	}

	requirement.Key = pick(random, keys...)

	return requirement
}

func mixedToleration(random *rand.Rand) clusterv1beta1.Toleration {
	return clusterv1beta1.Toleration{
		Key:      pick(random, "gpu", "zone", "example.com/gpu", "gpu", "zone", ""),
		Operator: pick(random, clusterv1beta1.TolerationOpEqual, clusterv1beta1.TolerationOpExists, "Like"),
		Value:    pick(random, "", "", "", "", "a100", "\"quoted\"\t"),
	}
}

func mixedPrioritizer(random *rand.Rand) clusterv1beta1.PrioritizerConfig {
	return pick(random, builtIn(scheduled(random), 1), builtIn(scheduled(random), -10), demoScore(2), clusterv1beta1.PrioritizerConfig{
		ScoreCoordinate: &clusterv1beta1.ScoreCoordinate{
			Type: pick(random, clusterv1beta1.ScoreCoordinateTypeAddOn, "BuiltIn", "BuiltIn"), BuiltIn: "Steady",
		},
		Weight: 1,
	})
}

func scheduled(random *rand.Rand) string {
	return pick(random, "Balance", "Steady", "ResourceAllocatableMemory", cpu, "Balance", "Steady", cpu, "Fastest", "")
}
