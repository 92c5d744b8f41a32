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
func (w *arenaHub) newPlacement(adapter api.Adapter, name string) api.Object {
	metadata := metav1.ObjectMeta{Namespace: w.namespace, Name: name}
	if adapter == api.V1alpha1 {
		return &placementv1alpha1.Placement{ObjectMeta: metadata, Spec: w.specV1alpha1()}
	}
	return &clusterv1beta1.Placement{ObjectMeta: metadata, Spec: w.specV1beta1()}
}

// specV1beta1 is a random question. Most of them have a certain answer.
func (w *arenaHub) specV1beta1() clusterv1beta1.PlacementSpec {
	asked := clusterv1beta1.PlacementSpec{ClusterSets: w.requestedSets(), DecisionStrategy: w.strategy()}
	for range w.IntN(3) {
		asked.Predicates = append(asked.Predicates, w.predicate())
	}
	if w.chance(2) {
		asked.Tolerations = []clusterv1beta1.Toleration{{Key: maintenanceTaint, Operator: clusterv1beta1.TolerationOpExists}}
	}

	switch w.IntN(8) {
	case 0, 1:
		asked.NumberOfClusters, asked.PrioritizerPolicy = w.number(), exactly(demoScore(1))
	case 2:
		asked.NumberOfClusters, asked.PrioritizerPolicy = w.number(), exactly(builtIn("Steady", 1))
	case 3:
		asked.NumberOfClusters = w.number() // Balance and Steady
	case 4:
		asked.SpreadPolicy.SpreadConstraints = []clusterv1beta1.SpreadConstraintsTerm{{
			TopologyKey: regionLabel, TopologyKeyType: clusterv1beta1.TopologyKeyTypeLabel, MaxSkew: 1,
			WhenUnsatisfiable: oneOf(w.Rand, clusterv1beta1.DoNotSchedule, clusterv1beta1.ScheduleAnyway),
		}}
		asked.NumberOfClusters = w.number()
	case 5:
		asked.Tolerations = []clusterv1beta1.Toleration{{
			Key: maintenanceTaint, Operator: clusterv1beta1.TolerationOpExists, TolerationSeconds: ptr.To(oneOf[int64](w.Rand, 1, 3600)),
		}}
	}

	return asked
}

func (w *arenaHub) specV1alpha1() placementv1alpha1.PlacementSpec {
	asked := placementv1alpha1.PlacementSpec{ClusterSets: w.requestedSets()}
	for range w.IntN(3) {
		predicate := placementv1alpha1.ClusterPredicate{
			LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{regionLabel: oneOf(w.Rand, regions...)}},
		}
		if w.chance(2) {
			predicate = placementv1alpha1.ClusterPredicate{
				ClaimSelector: placementv1alpha1.ClusterClaimSelector{MatchClaims: map[string]string{platformClaim: oneOf(w.Rand, platforms...)}},
			}
		}
		asked.Predicates = append(asked.Predicates, predicate)
	}

	if w.chance(3) {
		asked.NumberOfClusters = w.number()
	}
	if w.chance(4) {
		asked.AntiAffinity = placementv1alpha1.AntiAffinity{TopologyKey: platformClaim, TopologyKeyType: placementv1alpha1.TopologyKeyTypeClaim}
	}
	return asked
}

// requestedSets are the sets that a placement asks for; mostly all.
func (w *arenaHub) requestedSets() []string {
	if w.chance(3) {
		return []string{oneOf(w.Rand, append([]string{w.labelSet}, w.sets...)...)}
	}
	return nil
}

func (w *arenaHub) number() *int32 { return ptr.To(int32(1 + w.IntN(len(w.clusters)))) }

// strategy has one group, small ones, named ones, or one for each cluster, which makes the longest status.
func (w *arenaHub) strategy() clusterv1beta1.DecisionStrategy {
	strategy := clusterv1beta1.GroupStrategy{
		ClustersPerDecisionGroup: oneOf(w.Rand, intstr.FromString("100%"), intstr.FromString("100%"), intstr.FromString("30%"), intstr.FromInt32(7),
			intstr.FromInt32(1)),
	}

	if w.chance(3) {
		strategy.DecisionGroups = []clusterv1beta1.DecisionGroup{{
			GroupName: "canary", ClusterSelector: clusterv1beta1.GroupClusterSelector{
				LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{tierLabel: oneOf(w.Rand, tiers...)}},
			},
		}}
	}
	return clusterv1beta1.DecisionStrategy{GroupStrategy: strategy}
}

func (w *arenaHub) predicate() clusterv1beta1.ClusterPredicate {
	switch w.IntN(3) {
	case 0:
		return byRegions(oneOf(w.Rand, regions...), oneOf(w.Rand, regions...))
	case 1:
		return byPlatforms(oneOf(w.Rand, platforms...), oneOf(w.Rand, platforms...))
	default:
		return byCEL(oneOf(w.Rand, regions...), oneOf(w.Rand, regions...))
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
