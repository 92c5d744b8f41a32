// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"fmt"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
)

const (
	// namespaces is how many come and go in a round, each with a set, as many clusters and four placements.
	namespaces = 8
	clusters   = 3
	// residents are the clusters that stay, and roundLabel marks what does not.
	residents  = 200
	roundLabel = "soak"
)

// churn makes everything come and go.
type churn struct {
	hub    client.Client
	g      *WithT
	rounds int
}

func (c *churn) create(ctx context.Context, object client.Object) {
	labels := object.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[roundLabel] = "comes"
	object.SetLabels(labels)
	c.g.Expect(c.hub.Create(ctx, object)).To(Succeed())
}

func cluster(name, set string) *clusterv1.ManagedCluster {
	return &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{clusterv1beta2.ClusterSetLabel: set}}}
}

// stays makes the clusters that stay, of the set "residents".
func (c *churn) stays(ctx context.Context) {
	c.g.Expect(c.hub.Create(ctx, &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "residents"}})).To(Succeed())
	for n := range residents {
		c.g.Expect(c.hub.Create(ctx, cluster(fmt.Sprintf("resident-%d", n), "residents"))).To(Succeed())
	}
}

// round makes namespaces with all that belongs to them, waits until their placements are decided, deletes everything and waits until it is
// gone.
func (c *churn) round(ctx context.Context) {
	c.rounds++

	names := make([]string, 0, namespaces)
	for n := range namespaces {
		names = append(names, fmt.Sprintf("round-%d-%d", c.rounds, n))
	}
	for _, name := range names {
		c.comes(ctx, name)
	}
	for _, name := range names {
		c.decided(ctx, name)
	}

	mine := client.MatchingLabels{roundLabel: "comes"}
	for n, name := range names {
		if n%2 == 0 { // The other half ends with its namespace.
			c.g.Expect(c.hub.DeleteAllOf(ctx, &clusterv1beta1.Placement{}, client.InNamespace(name))).To(Succeed())
		}
		c.g.Expect(c.hub.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})).To(Succeed())
	}
	c.g.Expect(c.hub.DeleteAllOf(ctx, &clusterv1.ManagedCluster{}, mine)).To(Succeed())
	c.g.Expect(c.hub.DeleteAllOf(ctx, &clusterv1beta2.ManagedClusterSet{}, mine)).To(Succeed())
	c.gone(ctx, mine)
}

// comes makes a namespace with a set of its own, and clusters in it, of which the first has the name and the scores.
func (c *churn) comes(ctx context.Context, name string) {
	in := func(object string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: name, Name: object} }
	c.create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	c.create(ctx, &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: name}})
	for _, set := range []string{name, "residents"} {
		c.create(ctx, &clusterv1beta2.ManagedClusterSetBinding{
			ObjectMeta: in(set), Spec: clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: set},
		})
	}

	for n := range clusters {
		c.create(ctx, cluster(fmt.Sprintf("%s-%d", name, n), name))
	}
	c.create(ctx, cluster(name, name))
	score := &clusterv1alpha1.AddOnPlacementScore{ObjectMeta: in("demo")}
	c.create(ctx, score)
	score.Status.Scores = []clusterv1alpha1.AddOnPlacementScoreItem{{Name: "x", Value: 1}}
	c.g.Expect(c.hub.Status().Update(ctx, score)).To(Succeed())

	for _, placement := range c.placements(name) {
		c.create(ctx, placement)
	}
}

// placements are broad ones, two of which ask the same, one that has an expression and a score of its own, and one of the older API.
func (*churn) placements(name string) []client.Object {
	required := func(selector clusterv1beta1.ClusterSelector) []clusterv1beta1.ClusterPredicate {
		return []clusterv1beta1.ClusterPredicate{{RequiredClusterSelector: selector}}
	}
	broad := required(clusterv1beta1.ClusterSelector{LabelSelector: metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: "nobody", Operator: metav1.LabelSelectorOpNotIn, Values: []string{name}},
	}}})
	of := func(placement string, spec clusterv1beta1.PlacementSpec) client.Object {
		return &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: placement}, Spec: spec}
	}
	return []client.Object{
		of("one", clusterv1beta1.PlacementSpec{Predicates: broad}),
		of("same", clusterv1beta1.PlacementSpec{Predicates: broad}),
		of("cel", clusterv1beta1.PlacementSpec{
			Predicates: required(clusterv1beta1.ClusterSelector{CelSelector: clusterv1beta1.ClusterCelSelector{
				CelExpressions: []string{fmt.Sprintf("managedCluster.metadata.name.startsWith(%q)", name)},
			}}),
			PrioritizerPolicy: clusterv1beta1.PrioritizerPolicy{Configurations: []clusterv1beta1.PrioritizerConfig{
				{ScoreCoordinate: &clusterv1beta1.ScoreCoordinate{
					Type: clusterv1beta1.ScoreCoordinateTypeAddOn, AddOn: &clusterv1beta1.AddOnScore{ResourceName: "demo", ScoreName: "x"},
				}, Weight: 1},
			}},
		}),
		&placementv1alpha1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "older"}},
	}
}

// decided waits until the placements of a namespace have their clusters.
func (c *churn) decided(ctx context.Context, name string) {
	for placement, want := range map[string]int{"one": residents + clusters + 1, "same": residents + clusters + 1, "cel": clusters + 1} {
		c.g.Eventually(func(g Gomega) {
			object := &clusterv1beta1.Placement{}
			g.Expect(c.hub.Get(ctx, client.ObjectKey{Namespace: name, Name: placement}, object)).To(Succeed())
			g.Expect(object.Status.NumberOfSelectedClusters).To(BeNumerically("==", want))
		}).WithContext(ctx).WithTimeout(settle).Should(Succeed(), "Placement %s/%s", name, placement)
	}
}

// gone waits until nothing of the round is there.
func (c *churn) gone(ctx context.Context, mine client.MatchingLabels) {
	for _, list := range []client.ObjectList{
		&corev1.NamespaceList{}, &clusterv1.ManagedClusterList{}, &clusterv1beta2.ManagedClusterSetList{}, &clusterv1beta1.PlacementList{},
	} {
		c.g.Eventually(func(g Gomega) {
			g.Expect(c.hub.List(ctx, list, mine, client.Limit(1))).To(Succeed())
			g.Expect(list).To(HaveField("Items", BeEmpty()))
		}).WithContext(ctx).WithTimeout(settle).Should(Succeed(), "%T", list)
	}
}
