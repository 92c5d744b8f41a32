// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/test/history"
)

// RecordAlphaPages starts to record the PlacementDecisions of v1alpha1, in the form of v1beta1.
func (f *Fixture) RecordAlphaPages(ctx context.Context) *Recording {
	GinkgoHelper()
	return f.RecordWith(ctx, history.Adapter{
		List: &placementv1alpha1.PlacementDecisionList{}, Convert: func(object runtime.Object) *clusterv1beta1.PlacementDecision {
			page, ok := object.(*placementv1alpha1.PlacementDecision)
			if !ok {
				return nil
			}
			return ptr.To(AsV1beta1(page))
		},
	})
}

// AsV1beta1 returns a PlacementDecision of v1beta1 with the metadata and the clusters of one of v1alpha1.
func AsV1beta1(page *placementv1alpha1.PlacementDecision) clusterv1beta1.PlacementDecision {
	clusters := []string{}
	for _, decision := range page.Decisions {
		clusters = append(clusters, decision.ClusterName)
	}
	return *PageOf(page.ObjectMeta, clusters)
}

// AlphaOutcome is the result of a Placement of placement.open-cluster-management.io/v1alpha1, called alpha in the specs to tell it from
// one of v1beta1.
type AlphaOutcome struct {
	// Selected are the short names of the clusters in all pages, sorted; a cluster that stands in two pages stands here twice.
	Selected []string
	// Available are the short names of the clusters whose decisions say that they are available, sorted.
	Available []string
	// Pages are "name: clusters" in the order of their numbers.
	Pages []string
	// Satisfied and Misconfigured are "status reason".
	Satisfied, Misconfigured string
}

// AlphaPlacement creates a Placement of v1alpha1.
func (f *Fixture) AlphaPlacement(ctx context.Context, name string, spec placementv1alpha1.PlacementSpec) {
	GinkgoHelper()
	f.Create(ctx, &placementv1alpha1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: name}, Spec: spec})
}

// ReadAlpha returns a Placement of v1alpha1.
func (f *Fixture) ReadAlpha(ctx context.Context, g Gomega, name string) *placementv1alpha1.Placement {
	placement := &placementv1alpha1.Placement{}
	g.Expect(Client.Get(ctx, client.ObjectKey{Namespace: f.Namespace, Name: name}, placement)).To(Succeed())
	return placement
}

// AlphaPages returns the PlacementDecisions of a Placement of v1alpha1 in the order of their numbers.
func (f *Fixture) AlphaPages(ctx context.Context, g Gomega, name string) []placementv1alpha1.PlacementDecision {
	list := &placementv1alpha1.PlacementDecisionList{}
	g.Expect(Client.List(ctx, list, client.InNamespace(f.Namespace), client.MatchingLabels{placementv1alpha1.PlacementLabel: name})).To(Succeed())
	slices.SortFunc(list.Items, func(a, b placementv1alpha1.PlacementDecision) int {
		return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	return list.Items
}

// LookAlpha reads status and PlacementDecisions of a Placement of v1alpha1, and demands of both what every consumer relies on.
func (f *Fixture) LookAlpha(ctx context.Context, g Gomega, name string) AlphaOutcome {
	placement := f.ReadAlpha(ctx, g, name)
	conditions := placement.Status.Conditions
	g.Expect(len(conditions)).To(BeNumerically(">=", 2), "conditions (A5)")
	g.Expect(conditions[0].Type).To(Equal(placementv1alpha1.ConditionMisconfigured))
	g.Expect(conditions[1].Type).To(Equal(placementv1alpha1.ConditionSatisfied))
	for _, condition := range conditions[:2] {
		g.Expect(condition.ObservedGeneration).To(Equal(placement.Generation), "observedGeneration of %s", condition.Type)
		g.Expect(condition.Message).NotTo(BeEmpty())
	}

	seen := AlphaOutcome{
		Selected: []string{}, Available: []string{},
		Misconfigured: ConditionText(conditions[0]), Satisfied: ConditionText(conditions[1]),
	}

	for _, page := range f.AlphaPages(ctx, g, name) {
		expectAlphaPage(g, placement, &page)
		seen.Pages = append(seen.Pages, fmt.Sprintf("%s: %d", page.Name, len(page.Decisions)))
		for _, decision := range page.Decisions {
			seen.Selected = append(seen.Selected, f.ShortName(decision.ClusterName))
			if decision.Available {
				seen.Available = append(seen.Available, f.ShortName(decision.ClusterName))
			}
		}
	}

	g.Expect(seen.Pages).NotTo(BeEmpty(), "there is always a page (B3)")
	slices.Sort(seen.Selected)
	slices.Sort(seen.Available)
	return seen
}

// expectAlphaPage demands of a page what docs/spec/placement-v1alpha1.md P13 says of every PlacementDecision.
func expectAlphaPage(g Gomega, placement *placementv1alpha1.Placement, page *placementv1alpha1.PlacementDecision) {
	g.Expect(page.Name).To(MatchRegexp("^" + regexp.QuoteMeta(placement.Name) + "-decision-[1-9][0-9]*$"))
	g.Expect(page.Labels).To(HaveKeyWithValue("placement.open-cluster-management.io", placement.Name))
	g.Expect(page.OwnerReferences).NotTo(BeEmpty(), "ownerReferences of %s", page.Name)
	g.Expect(page.OwnerReferences[0]).To(Equal(metav1.OwnerReference{
		APIVersion: "placement.open-cluster-management.io/v1alpha1", Kind: "Placement", Name: placement.Name, UID: placement.UID,
		Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
	}))
	g.Expect(len(page.Decisions)).To(BeNumerically("<=", PageSize))
	g.Expect(slices.IsSortedFunc(page.Decisions, func(a, b placementv1alpha1.ClusterDecision) int {
		return cmp.Compare(a.ClusterName, b.ClusterName)
	})).To(BeTrue(), "the decisions of %s are sorted by name", page.Name)
}

// ExpectAlpha waits until a Placement of v1alpha1 has selected exactly the clusters of these short names; satisfied is "status reason".
func (f *Fixture) ExpectAlpha(ctx context.Context, name, satisfied string, shorts ...string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		seen := f.LookAlpha(ctx, g, name)
		g.Expect(seen.Selected).To(HaveExactElements(shorts))
		g.Expect(seen.Satisfied).To(Equal(satisfied))
		g.Expect(seen.Misconfigured).To(Equal(Configured))
	}).WithContext(ctx).WithTimeout(Timeout).Should(Succeed(), "Placement %s", name)
}

// ExpectAvailable waits until the decisions of the Placement "p" of v1alpha1 call exactly these clusters available.
func (f *Fixture) ExpectAvailable(ctx context.Context, shorts ...string) {
	GinkgoHelper()
	Eventually(func(g Gomega) []string { return f.LookAlpha(ctx, g, "p").Available }).
		WithContext(ctx).WithTimeout(Timeout).Should(HaveExactElements(shorts))
}
