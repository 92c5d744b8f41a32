package integration

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// labeled gives a cluster a label.
func labeled(key, value string) func(*clusterv1.ManagedCluster) {
	return func(c *clusterv1.ManagedCluster) { c.Labels[key] = value }
}

// claiming gives a cluster a claim.
func claiming(name, value string) func(*clusterv1.ManagedCluster) {
	return func(c *clusterv1.ManagedCluster) {
		c.Status.ClusterClaims = append(c.Status.ClusterClaims, clusterv1.ManagedClusterClaim{Name: name, Value: value})
	}
}

// tainted gives a cluster a taint that was added now.
func tainted(key, value string, effect clusterv1.TaintEffect) func(*clusterv1.ManagedCluster) {
	return taintedAt(key, value, effect, time.Now())
}

// taintedAt gives a cluster a taint that was added at some time; the API keeps whole seconds.
func taintedAt(key, value string, effect clusterv1.TaintEffect, added time.Time) func(*clusterv1.ManagedCluster) {
	return func(c *clusterv1.ManagedCluster) {
		c.Spec.Taints = append(c.Spec.Taints, clusterv1.Taint{Key: key, Value: value, Effect: effect, TimeAdded: metav1.NewTime(added)})
	}
}

// offering gives a cluster allocatable cores and gigabytes; its capacity is 100 of each.
func offering(cpu, memory string) func(*clusterv1.ManagedCluster) {
	return func(c *clusterv1.ManagedCluster) {
		c.Status.Allocatable = clusterv1.ResourceList{
			clusterv1.ResourceCPU: resource.MustParse(cpu), clusterv1.ResourceMemory: resource.MustParse(memory + "Gi"),
		}
		c.Status.Capacity = clusterv1.ResourceList{
			clusterv1.ResourceCPU: resource.MustParse("100"), clusterv1.ResourceMemory: resource.MustParse("100Gi"),
		}
	}
}

// byLabel is a predicate on a label of one value.
func byLabel(key, value string) clusterv1beta1.ClusterPredicate {
	return clusterv1beta1.ClusterPredicate{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
		LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{key: value}},
	}}
}

// byClaim is a predicate on a claim.
func byClaim(name string, operator metav1.LabelSelectorOperator, values ...string) clusterv1beta1.ClusterPredicate {
	return clusterv1beta1.ClusterPredicate{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
		ClaimSelector: clusterv1beta1.ClusterClaimSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: name, Operator: operator, Values: values},
		}},
	}}
}

// byCEL is a predicate of CEL expressions.
func byCEL(expressions ...string) clusterv1beta1.ClusterPredicate {
	return clusterv1beta1.ClusterPredicate{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
		CelSelector: clusterv1beta1.ClusterCelSelector{CelExpressions: expressions},
	}}
}

// builtIn weighs a built-in prioritizer.
func builtIn(name string, weight int32) clusterv1beta1.PrioritizerConfig {
	return clusterv1beta1.PrioritizerConfig{
		ScoreCoordinate: &clusterv1beta1.ScoreCoordinate{Type: clusterv1beta1.ScoreCoordinateTypeBuiltIn, BuiltIn: name}, Weight: weight,
	}
}

// The AddOnPlacementScore of the specs and its entry.
const (
	scoreObject = "demo"
	scoreEntry  = "size"
)

// demoScore weighs the entry "size" of the AddOnPlacementScore "demo".
func demoScore(weight int32) clusterv1beta1.PrioritizerConfig {
	return clusterv1beta1.PrioritizerConfig{
		ScoreCoordinate: &clusterv1beta1.ScoreCoordinate{
			Type:  clusterv1beta1.ScoreCoordinateTypeAddOn,
			AddOn: &clusterv1beta1.AddOnScore{ResourceName: scoreObject, ScoreName: scoreEntry},
		},
		Weight: weight,
	}
}

// exactly is the policy of these prioritizers and no others.
func exactly(configurations ...clusterv1beta1.PrioritizerConfig) clusterv1beta1.PrioritizerPolicy {
	return clusterv1beta1.PrioritizerPolicy{Mode: clusterv1beta1.PrioritizerPolicyModeExact, Configurations: configurations}
}

// besides is the policy of these prioritizers on top of the default ones.
func besides(configurations ...clusterv1beta1.PrioritizerConfig) clusterv1beta1.PrioritizerPolicy {
	return clusterv1beta1.PrioritizerPolicy{Mode: clusterv1beta1.PrioritizerPolicyModeAdditive, Configurations: configurations}
}

// score writes the entry "size" of the AddOnPlacementScore "demo" of a cluster, which is made if needed; validUntil may be nil.
func (w *world) score(ctx context.Context, short string, value int32, validUntil *metav1.Time) {
	GinkgoHelper()

	cluster := w.name(short)
	key := client.ObjectKey{Namespace: cluster, Name: scoreObject}

	if client.IgnoreNotFound(hub.Get(ctx, client.ObjectKey{Name: cluster}, &corev1.Namespace{})) == nil {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: cluster, Labels: map[string]string{worldLabel: w.namespace}}}
		Expect(client.IgnoreAlreadyExists(hub.Create(ctx, namespace))).To(Succeed())
	}

	created := &clusterv1alpha1.AddOnPlacementScore{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	Expect(client.IgnoreAlreadyExists(hub.Create(ctx, created))).To(Succeed())
	Eventually(func(g Gomega) {
		score := &clusterv1alpha1.AddOnPlacementScore{}
		g.Expect(hub.Get(ctx, key, score)).To(Succeed())
		score.Status.Scores = []clusterv1alpha1.AddOnPlacementScoreItem{{Name: scoreEntry, Value: value}}
		score.Status.ValidUntil = validUntil
		g.Expect(hub.Status().Update(ctx, score)).To(Succeed())
	}).WithContext(ctx).WithTimeout(settle).Should(Succeed())
}
