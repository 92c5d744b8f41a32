// SPDX-License-Identifier: Apache-2.0

package attack

import (
	"fmt"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// newPlacement makes a placement of an API that asks for something.
func (h *arenaHub) newPlacement(adapter api.Adapter, name string) api.Object {
	metadata := metav1.ObjectMeta{Namespace: h.namespace, Name: name}
	if adapter == api.V1alpha1 {
		return &placementv1alpha1.Placement{ObjectMeta: metadata, Spec: h.specV1alpha1()}
	}
	return &clusterv1beta1.Placement{ObjectMeta: metadata, Spec: h.specV1beta1()}
}

// specV1beta1 is a random question. Most of them have a certain answer.
func (h *arenaHub) specV1beta1() clusterv1beta1.PlacementSpec {
	asked := clusterv1beta1.PlacementSpec{ClusterSets: h.requestedSets(), DecisionStrategy: h.strategy()}
	for range h.IntN(3) {
		asked.Predicates = append(asked.Predicates, h.predicate())
	}
	if h.chance(2) {
		asked.Tolerations = []clusterv1beta1.Toleration{{Key: maintenanceTaint, Operator: clusterv1beta1.TolerationOpExists}}
	}

	switch h.IntN(8) {
	case 0, 1:
		asked.NumberOfClusters, asked.PrioritizerPolicy = h.number(), exactly(demoScore(1))
	case 2:
		asked.NumberOfClusters, asked.PrioritizerPolicy = h.number(), exactly(builtIn("Steady", 1))
	case 3:
		asked.NumberOfClusters = h.number() // Balance and Steady
	case 4:
		asked.SpreadPolicy.SpreadConstraints = []clusterv1beta1.SpreadConstraintsTerm{{
			TopologyKey: regionLabel, TopologyKeyType: clusterv1beta1.TopologyKeyTypeLabel, MaxSkew: 1,
			WhenUnsatisfiable: oneOf(h.Rand, clusterv1beta1.DoNotSchedule, clusterv1beta1.ScheduleAnyway),
		}}
		asked.NumberOfClusters = h.number()
	case 5:
		asked.Tolerations = []clusterv1beta1.Toleration{{
			Key: maintenanceTaint, Operator: clusterv1beta1.TolerationOpExists, TolerationSeconds: ptr.To(oneOf[int64](h.Rand, 1, 3600)),
		}}
	}

	return asked
}

func (h *arenaHub) specV1alpha1() placementv1alpha1.PlacementSpec {
	asked := placementv1alpha1.PlacementSpec{ClusterSets: h.requestedSets()}
	for range h.IntN(3) {
		predicate := placementv1alpha1.ClusterPredicate{
			LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{regionLabel: oneOf(h.Rand, regions...)}},
		}
		if h.chance(2) {
			predicate = placementv1alpha1.ClusterPredicate{
				ClaimSelector: placementv1alpha1.ClusterClaimSelector{MatchClaims: map[string]string{platformClaim: oneOf(h.Rand, platforms...)}},
			}
		}
		asked.Predicates = append(asked.Predicates, predicate)
	}

	if h.chance(3) {
		asked.NumberOfClusters = h.number()
	}
	if h.chance(4) {
		asked.AntiAffinity = placementv1alpha1.AntiAffinity{TopologyKey: platformClaim, TopologyKeyType: placementv1alpha1.TopologyKeyTypeClaim}
	}
	return asked
}

// requestedSets are the sets that a placement asks for; mostly all.
func (h *arenaHub) requestedSets() []string {
	if h.chance(3) {
		return []string{oneOf(h.Rand, append([]string{h.labelSet}, h.sets...)...)}
	}
	return nil
}

func (h *arenaHub) number() *int32 { return ptr.To(int32(1 + h.IntN(len(h.clusters)))) }

// strategy has one group, small ones, named ones, or one for each cluster, which makes the longest status.
func (h *arenaHub) strategy() clusterv1beta1.DecisionStrategy {
	strategy := clusterv1beta1.GroupStrategy{
		ClustersPerDecisionGroup: oneOf(h.Rand, intstr.FromString("100%"), intstr.FromString("100%"), intstr.FromString("30%"), intstr.FromInt32(7),
			intstr.FromInt32(1)),
	}

	if h.chance(3) {
		strategy.DecisionGroups = []clusterv1beta1.DecisionGroup{{
			GroupName: "canary", ClusterSelector: clusterv1beta1.GroupClusterSelector{
				LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{tierLabel: oneOf(h.Rand, tiers...)}},
			},
		}}
	}
	return clusterv1beta1.DecisionStrategy{GroupStrategy: strategy}
}

func (h *arenaHub) predicate() clusterv1beta1.ClusterPredicate {
	switch h.IntN(3) {
	case 0:
		return byRegions(oneOf(h.Rand, regions...), oneOf(h.Rand, regions...))
	case 1:
		return byPlatforms(oneOf(h.Rand, platforms...), oneOf(h.Rand, platforms...))
	default:
		return byCEL(oneOf(h.Rand, regions...), oneOf(h.Rand, regions...))
	}
}

func byRegions(values ...string) clusterv1beta1.ClusterPredicate {
	return byLabel(regionLabel, values...)
}

func byLabel(key string, values ...string) clusterv1beta1.ClusterPredicate {
	return clusterv1beta1.ClusterPredicate{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
		LabelSelector: metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: key, Operator: metav1.LabelSelectorOpIn, Values: values},
		}},
	}}
}

func byPlatforms(values ...string) clusterv1beta1.ClusterPredicate {
	return clusterv1beta1.ClusterPredicate{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
		ClaimSelector: clusterv1beta1.ClusterClaimSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: platformClaim, Operator: metav1.LabelSelectorOpIn, Values: values},
		}},
	}}
}

func byCEL(values ...string) clusterv1beta1.ClusterPredicate {
	return clusterv1beta1.ClusterPredicate{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
		CelSelector: clusterv1beta1.ClusterCelSelector{CelExpressions: []string{
			fmt.Sprintf(`managedCluster.metadata.labels[%q] in [%s]`, regionLabel, quoted(values)),
		}},
	}}
}

func exactly(configurations ...clusterv1beta1.PrioritizerConfig) clusterv1beta1.PrioritizerPolicy {
	return clusterv1beta1.PrioritizerPolicy{Mode: clusterv1beta1.PrioritizerPolicyModeExact, Configurations: configurations}
}

func builtIn(name string, weight int32) clusterv1beta1.PrioritizerConfig {
	return clusterv1beta1.PrioritizerConfig{
		ScoreCoordinate: &clusterv1beta1.ScoreCoordinate{Type: clusterv1beta1.ScoreCoordinateTypeBuiltIn, BuiltIn: name}, Weight: weight,
	}
}

func demoScore(weight int32) clusterv1beta1.PrioritizerConfig {
	return clusterv1beta1.PrioritizerConfig{
		ScoreCoordinate: &clusterv1beta1.ScoreCoordinate{
			Type: clusterv1beta1.ScoreCoordinateTypeAddOn, AddOn: &clusterv1beta1.AddOnScore{ResourceName: scoreObject, ScoreName: scoreEntry},
		},
		Weight: weight,
	}
}

// quoted lists texts as CEL writes them.
func quoted(texts []string) string {
	quoted := make([]string, 0, len(texts))
	for _, text := range texts {
		quoted = append(quoted, strconv.Quote(text))
	}
	return strings.Join(quoted, ", ")
}
