// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/limits"
)

const (
	// Placements is the number of hostile Placements, which are edited in turn.
	Placements = 64
	// Reviews is the number of Pods that are created at once.
	Reviews = 250
	// Requests is the number of hostile ClusterRequests that exist at a time.
	Requests = 200
)

// AttackingPlacement returns hostile Placement i as it is after n edits, each of which leaves nothing of the former evaluation to be used
// again. There are four kinds in turn.
func AttackingPlacement(tenant, i, n int) *clusterv1beta1.Placement {
	placement := &clusterv1beta1.Placement{ObjectMeta: in(tenant, fmt.Sprintf("attack-%03d", i))}
	if tenant == Bystander {
		placement.Annotations = map[string]string{clusterv1beta1.PlacementDisableAnnotation: "true"}
	}
	mark := fmt.Sprintf("edit-%d-%d", i, n)
	switch i % 4 {
	case 0:
		placement.Spec = largest(mark)
	case 1: // Five expressions that cost nearly as much as they may.
		for k := range 5 {
			placement.Spec.Predicates = append(placement.Spec.Predicates, predicates(costly(fmt.Sprintf("%s-%d", mark, k)))...)
		}
	case 2: // More than it may be.
		placement.Spec.Predicates = predicates(loops(4, mark))
	default: // The decisions of all others count.
		placement.Spec.Predicates = predicates("!(" + costly(mark) + ")")
		placement.Spec.NumberOfClusters = ptr.To(int32(1 + n%100))
	}
	return placement
}

func predicates(expression string) []clusterv1beta1.ClusterPredicate {
	return []clusterv1beta1.ClusterPredicate{{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
		CelSelector: clusterv1beta1.ClusterCelSelector{CelExpressions: []string{expression}},
	}}}
}

// costly returns an expression that is false for every cluster and costs two thirds of what it may at 1,000 clusters.
func costly(mark string) string { return loops(2, mark) + " || " + loops(2, mark+"-again") }

// loops returns an expression that is false for every cluster after loops over its claims within one another.
func loops(depth int, mark string) string {
	var expression strings.Builder
	sum := append(make([]string, 0, depth+1), `""`)
	for level := range depth {
		fmt.Fprintf(&expression, "managedCluster.status.clusterClaims.exists(c%d, ", level)
		sum = append(sum, fmt.Sprintf("c%d.name", level))
	}
	fmt.Fprintf(&expression, "%s == %q%s", strings.Join(sum, " + "), mark, strings.Repeat(")", depth))
	return expression.String()
}

// largest returns a spec that is at the limits, in which the last requirement of each predicate, and of each group, decides.
func largest(mark string) clusterv1beta1.PlacementSpec {
	var spec clusterv1beta1.PlacementSpec
	for i := range limits.Predicates.Max {
		spec.Predicates = append(spec.Predicates, clusterv1beta1.ClusterPredicate{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
			LabelSelector: requirements(fmt.Sprintf("%s-%d", mark, i)),
		}})
	}
	spec.Predicates[0] = clusterv1beta1.ClusterPredicate{}
	for i := range limits.Tolerations.Max {
		spec.Tolerations = append(spec.Tolerations, clusterv1beta1.Toleration{
			Key: fmt.Sprintf("%s-%d", mark, i), Operator: clusterv1beta1.TolerationOpExists,
		})
	}
	for i := range limits.DecisionGroups.Max {
		spec.DecisionStrategy.GroupStrategy.DecisionGroups = append(spec.DecisionStrategy.GroupStrategy.DecisionGroups,
			clusterv1beta1.DecisionGroup{
				GroupName:       fmt.Sprintf("group-%d", i),
				ClusterSelector: clusterv1beta1.GroupClusterSelector{LabelSelector: requirements(fmt.Sprintf("%s-%d", mark, i))},
			})
	}
	return spec
}

// requirements returns as many requirements as a selector may have, of which all but the last hold for every cluster.
func requirements(mark string) metav1.LabelSelector {
	var selector metav1.LabelSelector
	for i := range limits.Requirements.Max {
		selector.MatchExpressions = append(selector.MatchExpressions, metav1.LabelSelectorRequirement{
			Key: fmt.Sprintf("key-%d", i), Operator: metav1.LabelSelectorOpDoesNotExist,
		})
	}
	last := &selector.MatchExpressions[limits.Requirements.Max-1]
	last.Key, last.Operator = mark, metav1.LabelSelectorOpExists
	return selector
}

// Bomb returns the policies of T12 (docs/spec/trust.md): 31 of 165 kB together, whose required terms multiply.
func Bomb() []*kupidv1alpha1.PodSchedulingPolicy {
	const number = 31
	policies := make([]*kupidv1alpha1.PodSchedulingPolicy, 0, number)
	for i := range number {
		policy := &kupidv1alpha1.PodSchedulingPolicy{ObjectMeta: in(Attacker, fmt.Sprintf("bomb-%02d", i))}
		policy.Spec.PodSelector = &metav1.LabelSelector{}
		terms := []corev1.NodeSelectorTerm{existing(fmt.Sprintf("many-%d", i), 170)}
		if i < 8 {
			terms = []corev1.NodeSelectorTerm{existing(fmt.Sprintf("one-%d", i), 1), existing(fmt.Sprintf("other-%d", i), 1)}
		}
		policy.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms},
		}}
		policies = append(policies, policy)
	}
	return policies
}

// existing returns a term of so many keys.
func existing(prefix string, n int) corev1.NodeSelectorTerm {
	var term corev1.NodeSelectorTerm
	for i := range n {
		term.MatchExpressions = append(term.MatchExpressions, corev1.NodeSelectorRequirement{
			Key: fmt.Sprintf("%s-%d", prefix, i), Operator: corev1.NodeSelectorOpExists,
		})
	}
	return term
}
