// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Labeled returns an edit that gives a cluster a label.
func Labeled(key, value string) func(*clusterv1.ManagedCluster) {
	return func(c *clusterv1.ManagedCluster) { c.Labels[key] = value }
}

// Claiming returns an edit that gives a cluster a claim.
func Claiming(name, value string) func(*clusterv1.ManagedCluster) {
	return func(c *clusterv1.ManagedCluster) {
		c.Status.ClusterClaims = append(c.Status.ClusterClaims, clusterv1.ManagedClusterClaim{Name: name, Value: value})
	}
}

// Tainted returns an edit that gives a cluster a taint that was added now.
func Tainted(key, value string, effect clusterv1.TaintEffect) func(*clusterv1.ManagedCluster) {
	return TaintedAt(key, value, effect, time.Now())
}

// TaintedAt returns an edit that gives a cluster a taint that was added at a time, of which the API keeps whole seconds.
func TaintedAt(key, value string, effect clusterv1.TaintEffect, added time.Time) func(*clusterv1.ManagedCluster) {
	return func(c *clusterv1.ManagedCluster) {
		c.Spec.Taints = append(c.Spec.Taints, clusterv1.Taint{Key: key, Value: value, Effect: effect, TimeAdded: metav1.NewTime(added)})
	}
}

// Offering returns an edit that gives a cluster allocatable cores and gigabytes; its capacity is 100 of each.
func Offering(cpu, memory string) func(*clusterv1.ManagedCluster) {
	return func(c *clusterv1.ManagedCluster) {
		c.Status.Allocatable = clusterv1.ResourceList{
			clusterv1.ResourceCPU: resource.MustParse(cpu), clusterv1.ResourceMemory: resource.MustParse(memory + "Gi"),
		}
		c.Status.Capacity = clusterv1.ResourceList{
			clusterv1.ResourceCPU: resource.MustParse("100"), clusterv1.ResourceMemory: resource.MustParse("100Gi"),
		}
	}
}

// ByLabel returns a predicate on one value of a label.
func ByLabel(key, value string) clusterv1beta1.ClusterPredicate {
	return clusterv1beta1.ClusterPredicate{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
		LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{key: value}},
	}}
}

// ByClaim returns a predicate on a claim.
func ByClaim(name string, operator metav1.LabelSelectorOperator, values ...string) clusterv1beta1.ClusterPredicate {
	return clusterv1beta1.ClusterPredicate{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
		ClaimSelector: clusterv1beta1.ClusterClaimSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: name, Operator: operator, Values: values},
		}},
	}}
}

// ByCEL returns a predicate of CEL expressions, all of which must hold.
func ByCEL(expressions ...string) clusterv1beta1.ClusterPredicate {
	return clusterv1beta1.ClusterPredicate{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
		CelSelector: clusterv1beta1.ClusterCelSelector{CelExpressions: expressions},
	}}
}

// BuiltIn returns the configuration of a built-in prioritizer with a weight.
func BuiltIn(name string, weight int32) clusterv1beta1.PrioritizerConfig {
	return clusterv1beta1.PrioritizerConfig{
		ScoreCoordinate: &clusterv1beta1.ScoreCoordinate{Type: clusterv1beta1.ScoreCoordinateTypeBuiltIn, BuiltIn: name}, Weight: weight,
	}
}

// The AddOnPlacementScore of the specs and its entry.
const (
	ScoreObject = "demo"
	ScoreEntry  = "size"
)

// DemoScore returns the configuration of a prioritizer by the entry ScoreEntry of the AddOnPlacementScore ScoreObject.
func DemoScore(weight int32) clusterv1beta1.PrioritizerConfig {
	return clusterv1beta1.PrioritizerConfig{
		ScoreCoordinate: &clusterv1beta1.ScoreCoordinate{
			Type:  clusterv1beta1.ScoreCoordinateTypeAddOn,
			AddOn: &clusterv1beta1.AddOnScore{ResourceName: ScoreObject, ScoreName: ScoreEntry},
		},
		Weight: weight,
	}
}

// Exactly returns the policy of these prioritizers and no others.
func Exactly(configurations ...clusterv1beta1.PrioritizerConfig) clusterv1beta1.PrioritizerPolicy {
	return clusterv1beta1.PrioritizerPolicy{Mode: clusterv1beta1.PrioritizerPolicyModeExact, Configurations: configurations}
}

// Besides returns the policy of these prioritizers on top of the default ones.
func Besides(configurations ...clusterv1beta1.PrioritizerConfig) clusterv1beta1.PrioritizerPolicy {
	return clusterv1beta1.PrioritizerPolicy{Mode: clusterv1beta1.PrioritizerPolicyModeAdditive, Configurations: configurations}
}

// Score writes the entry ScoreEntry of the AddOnPlacementScore ScoreObject of a cluster, which it creates if needed; validUntil may be nil.
func (f *Fixture) Score(ctx context.Context, short string, value int32, validUntil *metav1.Time) {
	GinkgoHelper()
	cluster := f.Name(short)
	key := client.ObjectKey{Namespace: cluster, Name: ScoreObject}
	if client.IgnoreNotFound(Client.Get(ctx, client.ObjectKey{Name: cluster}, &corev1.Namespace{})) == nil {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: cluster, Labels: map[string]string{FixtureLabel: f.Namespace}}}
		Expect(client.IgnoreAlreadyExists(Client.Create(ctx, namespace))).To(Succeed())
	}

	created := &clusterv1alpha1.AddOnPlacementScore{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	Expect(client.IgnoreAlreadyExists(Client.Create(ctx, created))).To(Succeed())
	Eventually(func(g Gomega) {
		score := &clusterv1alpha1.AddOnPlacementScore{}
		g.Expect(Client.Get(ctx, key, score)).To(Succeed())
		score.Status.Scores = []clusterv1alpha1.AddOnPlacementScoreItem{{Name: ScoreEntry, Value: value}}
		score.Status.ValidUntil = validUntil
		g.Expect(Client.Status().Update(ctx, score)).To(Succeed())
	}).WithContext(ctx).WithTimeout(Timeout).Should(Succeed())
}

// CanaryStrategy returns a decision strategy with groups of at most length clusters; with canaries, the clusters that have the label
// group=canary come first, in groups of that name.
func CanaryStrategy(length int, canaries bool) clusterv1beta1.DecisionStrategy {
	strategy := clusterv1beta1.GroupStrategy{ClustersPerDecisionGroup: intstr.FromInt(length)}
	if canaries {
		strategy.DecisionGroups = []clusterv1beta1.DecisionGroup{{
			GroupName: "canary", ClusterSelector: clusterv1beta1.GroupClusterSelector{
				LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"group": "canary"}},
			},
		}}
	}
	return clusterv1beta1.DecisionStrategy{GroupStrategy: strategy}
}

// IsAvailable returns an edit that gives a cluster the condition ManagedClusterConditionAvailable.
func IsAvailable(status metav1.ConditionStatus) func(*clusterv1.ManagedCluster) {
	return func(c *clusterv1.ManagedCluster) {
		c.Status.Conditions = []metav1.Condition{{
			Type: clusterv1.ManagedClusterConditionAvailable, Status: status, Reason: "Specified", LastTransitionTime: metav1.Now(),
		}}
	}
}

// Spec is the spec of a Placement of v1beta1.
type Spec = clusterv1beta1.PlacementSpec

// Matching returns the spec of a Placement with these predicates and nothing else.
func Matching(predicates ...clusterv1beta1.ClusterPredicate) Spec {
	return Spec{Predicates: predicates}
}

// The built-in prioritizers that several packages name.
const (
	PrioritizerCPU    = "ResourceAllocatableCPU"
	PrioritizerMemory = "ResourceAllocatableMemory"
	PrioritizerSteady = "Steady"
)

// ScoresUpdated returns status.lastScoreUpdateTime of a placement, which may be nil.
func (f *Fixture) ScoresUpdated(ctx context.Context, g Gomega, name string) *metav1.Time {
	return f.Read(ctx, g, name).Status.LastScoreUpdateTime
}

// Spreading is the built-in prioritizer that prefers clusters in domains of which few clusters are selected.
const Spreading = "Spread"
