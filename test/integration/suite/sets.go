// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// SetCondition returns "status reason: message" of the condition ClusterSetEmpty, "" if there is none.
func SetCondition(ctx context.Context, g Gomega, set *clusterv1beta2.ManagedClusterSet) string {
	fresh := &clusterv1beta2.ManagedClusterSet{}
	g.Expect(Client.Get(ctx, client.ObjectKeyFromObject(set), fresh)).To(Succeed())
	for _, condition := range fresh.Status.Conditions {
		if condition.Type == clusterv1beta2.ManagedClusterSetConditionEmpty {
			return ConditionText(condition) + ": " + condition.Message
		}
	}
	return ""
}

// ExpectSetCondition waits until the condition ClusterSetEmpty of a set is "status reason: message".
func ExpectSetCondition(ctx context.Context, set *clusterv1beta2.ManagedClusterSet, want string) {
	GinkgoHelper()
	Eventually(func(g Gomega) string { return SetCondition(ctx, g, set) }).
		WithContext(ctx).WithTimeout(Timeout).Should(Equal(want))
}

// Set creates an exclusive set and binds it.
func (f *Fixture) Set(ctx context.Context, short string) *clusterv1beta2.ManagedClusterSet {
	GinkgoHelper()
	set := f.UnboundSet(ctx, short)
	f.Bind(ctx, short)
	return set
}

// UnboundSet creates an exclusive set.
func (f *Fixture) UnboundSet(ctx context.Context, short string) *clusterv1beta2.ManagedClusterSet {
	GinkgoHelper()
	set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: f.Name(short)}}
	f.Create(ctx, set)
	return set
}

// LabelSet creates a set of the clusters of this fixture that match a selector, and binds it; an empty selector matches every cluster of the
// fixture.
func (f *Fixture) LabelSet(ctx context.Context, short string, selector metav1.LabelSelector) *clusterv1beta2.ManagedClusterSet {
	GinkgoHelper()

	selector.MatchExpressions = append(selector.MatchExpressions, metav1.LabelSelectorRequirement{
		Key: FixtureLabel, Operator: metav1.LabelSelectorOpIn, Values: []string{f.Namespace},
	})
	set := &clusterv1beta2.ManagedClusterSet{
		ObjectMeta: metav1.ObjectMeta{Name: f.Name(short)},
		Spec: clusterv1beta2.ManagedClusterSetSpec{ClusterSelector: clusterv1beta2.ManagedClusterSelector{
			SelectorType: clusterv1beta2.LabelSelector, LabelSelector: &selector,
		}},
	}
	f.Create(ctx, set)
	f.Bind(ctx, short)

	return set
}

// Bind creates a binding of a set of this fixture.
func (f *Fixture) Bind(ctx context.Context, short string) *clusterv1beta2.ManagedClusterSetBinding {
	GinkgoHelper()
	return f.BindAny(ctx, f.Name(short))
}

// BindAny creates a binding of a set by its full name.
func (f *Fixture) BindAny(ctx context.Context, set string) *clusterv1beta2.ManagedClusterSetBinding {
	GinkgoHelper()
	binding := &clusterv1beta2.ManagedClusterSetBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: set},
		Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: set},
	}
	f.Create(ctx, binding)
	return binding
}

// AwaitClusters waits until the hub has seen every cluster that is in a set of this fixture. Clusters and placements come by separate
// watches; a placement that comes first selects the clusters one by one, and its groups depend on the order in which they come.
func (f *Fixture) AwaitClusters(ctx context.Context) {
	GinkgoHelper()
	sets, clusters := &clusterv1beta2.ManagedClusterSetList{}, &clusterv1.ManagedClusterList{}
	for _, list := range []client.ObjectList{sets, clusters} {
		Expect(Client.List(ctx, list, client.MatchingLabels{FixtureLabel: f.Namespace})).To(Succeed())
	}

	for i := range sets.Items {
		selector := labels.SelectorFromSet(labels.Set{clusterv1beta2.ClusterSetLabel: sets.Items[i].Name})
		if of := sets.Items[i].Spec.ClusterSelector; of.SelectorType == clusterv1beta2.LabelSelector {
			var err error
			selector, err = metav1.LabelSelectorAsSelector(of.LabelSelector)
			Expect(err).NotTo(HaveOccurred())
		}
		count := 0

		for _, cluster := range clusters.Items {
			if selector.Matches(labels.Set(cluster.Labels)) {
				count++
			}
		}
		if count > 0 {
			ExpectSetCondition(ctx, &sets.Items[i], fmt.Sprintf("False ClustersSelected: %d ManagedClusters selected", count))
		}
	}
}
