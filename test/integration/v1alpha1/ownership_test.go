// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("P13, P15: PlacementDecisions and others", func() {
	// settled is a fixture with a placement "p" of two clusters, of which the first is available.
	settled := func(ctx context.Context) (*suite.Fixture, *placementv1alpha1.PlacementDecision) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Cluster(ctx, "set", "c001", reachable)
		f.Cluster(ctx, "set", "c002")
		f.AlphaPlacement(ctx, "p", placementv1alpha1.PlacementSpec{})
		f.ExpectAlpha(ctx, "p", suite.AllScheduled, suite.Shorts(1, 2)...)
		f.ExpectAvailable(ctx, "c001")
		return f, &f.AlphaPages(ctx, Default, "p")[0]
	}

	It("B4: what others break is mended in place, and what is theirs stays", func(ctx SpecContext) {
		f, page := settled(ctx)
		other := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: "other"}}
		f.Create(ctx, other)
		theirs := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "other", UID: other.UID}
		for what, damage := range map[string]func(*placementv1alpha1.PlacementDecision){
			"no label":      func(p *placementv1alpha1.PlacementDecision) { delete(p.Labels, placementv1alpha1.PlacementLabel) },
			"another label": func(p *placementv1alpha1.PlacementDecision) { p.Labels[placementv1alpha1.PlacementLabel] = "q" },
			"no owner":      func(p *placementv1alpha1.PlacementDecision) { p.OwnerReferences = nil },
			"an owner before ours": func(p *placementv1alpha1.PlacementDecision) {
				p.OwnerReferences = []metav1.OwnerReference{theirs, p.OwnerReferences[0]}
			},
			"other decisions": func(p *placementv1alpha1.PlacementDecision) { p.Decisions[0].ClusterName = "stranger" },
			"no decisions":    func(p *placementv1alpha1.PlacementDecision) { p.Decisions = []placementv1alpha1.ClusterDecision{} },
			"available":       func(p *placementv1alpha1.PlacementDecision) { p.Decisions[1].Available = true },
		} {
			By(what)
			suite.Edit(ctx, page, func(p *placementv1alpha1.PlacementDecision) {
				p.Labels["example.com/team"] = "blue"
				damage(p)
			})
			Eventually(func(g Gomega) {
				seen := f.LookAlpha(ctx, g, "p")
				g.Expect(seen.Selected).To(HaveExactElements(suite.Shorts(1, 2)))
				g.Expect(seen.Available).To(HaveExactElements("c001"))
				g.Expect(f.AlphaPages(ctx, g, "p")).To(HaveExactElements(And(
					HaveField("UID", page.UID), HaveField("Labels", HaveKeyWithValue("example.com/team", "blue")))))
			}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		}
	})

	It("B4: a page of our name that belongs to somebody else is left alone, and the next number is used", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 2)
		other := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: "other"}}
		f.Create(ctx, other)

		theirs := &placementv1alpha1.PlacementDecision{
			ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: "p-decision-1", OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "v1", Kind: "ConfigMap", Name: "other", UID: other.UID, Controller: ptr.To(true),
			}}},
			Decisions: []placementv1alpha1.ClusterDecision{{ClusterName: "stranger"}},
		}
		f.Create(ctx, theirs)
		f.AlphaPlacement(ctx, "p", placementv1alpha1.PlacementSpec{})
		f.ExpectAlpha(ctx, "p", suite.AllScheduled, suite.Shorts(1, 2)...)
		Expect(f.LookAlpha(ctx, Default, "p").Pages).To(HaveExactElements("p-decision-2: 2"))

		now := &placementv1alpha1.PlacementDecision{}
		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(theirs), now)).To(Succeed())
		Expect(now.ResourceVersion).To(Equal(theirs.ResourceVersion), "it is not touched")
	})

	It("C5: experimental-scheduling-disable means hands off, status included, until it is removed", func(ctx SpecContext) {
		f, page := settled(ctx)
		placement := f.ReadAlpha(ctx, Default, "p")
		suite.Edit(ctx, placement, func(p *placementv1alpha1.Placement) {
			p.Annotations = map[string]string{clusterv1beta1.PlacementDisableAnnotation: "true"}
			p.Spec.NumberOfClusters = ptr.To[int32](1)
		})
		before := f.AwaitIdle(ctx).Writes

		suite.Edit(ctx, page, func(p *placementv1alpha1.PlacementDecision) { p.Decisions[0].ClusterName = "elsewhere" })
		reach(ctx, f, "c001", metav1.ConditionFalse, "it is out of reach")
		f.Clusters(ctx, "set", 3, 3)
		f.ExpectNoWrite(ctx, before)

		suite.Edit(ctx, placement, func(p *placementv1alpha1.Placement) { p.Annotations = nil })
		f.ExpectAlpha(ctx, "p", suite.AllScheduled, "c002")
		f.ExpectAvailable(ctx)
	})

	It("of both APIs do not mind placements of one name in one namespace, and 34: go with their own one", func(ctx SpecContext) {
		f, page := settled(ctx)
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{ClusterSets: []string{"absent"}})
		f.ExpectSelected(ctx, "p", suite.NoIntersection)

		Expect(f.Pages(ctx, Default, "p")[0].Name).To(Equal(page.Name), "their pages have the same name")
		Expect(f.LookAlpha(ctx, Default, "p").Satisfied).To(Equal(suite.AllScheduled))

		By("what happens to the one leaves the other alone")
		placement := f.ReadAlpha(ctx, Default, "p")
		f.EditPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { s.ClusterSets, s.NumberOfClusters = nil, ptr.To[int32](2) })
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(1, 2)...)
		f.AwaitIdle(ctx)
		Expect(f.AlphaPages(ctx, Default, "p")).To(HaveExactElements(*page))
		Expect(f.ReadAlpha(ctx, Default, "p")).To(Equal(placement))

		twin, twinPage := f.Read(ctx, Default, "p"), f.Pages(ctx, Default, "p")
		editAlpha(ctx, f, "p", func(s *placementv1alpha1.PlacementSpec) { s.Predicates = anyOf(withLabel("no", "such")).Predicates })
		f.ExpectAlpha(ctx, "p", suite.AllScheduled)
		f.AwaitIdle(ctx)
		Expect(f.Read(ctx, Default, "p")).To(Equal(twin))
		Expect(f.Pages(ctx, Default, "p")).To(Equal(twinPage))

		By("the garbage collector takes the pages of the one that is deleted")
		Expect(suite.Client.Delete(ctx, placement)).To(Succeed())
		suite.ExpectGoneWithin(ctx, suite.CollectTimeout, page)
		Consistently(func(g Gomega) {
			g.Expect(f.AlphaPages(ctx, g, "p")).To(BeEmpty())
			g.Expect(f.Pages(ctx, g, "p")).To(Equal(twinPage))
		}).WithContext(ctx).WithTimeout(time.Second).Should(Succeed())
	})

	It("of both APIs count for Balance", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.AwaitNoOtherDecisions(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 4)

		one := ptr.To[int32](1)
		f.AlphaPlacement(ctx, "a", placementv1alpha1.PlacementSpec{NumberOfClusters: one})
		f.ExpectAlpha(ctx, "a", suite.AllScheduled, "c001")
		f.Placement(ctx, "a", clusterv1beta1.PlacementSpec{NumberOfClusters: one})
		f.ExpectSelected(ctx, "a", suite.AllScheduled, "c002")
		f.AlphaPlacement(ctx, "b", placementv1alpha1.PlacementSpec{NumberOfClusters: one})
		f.ExpectAlpha(ctx, "b", suite.AllScheduled, "c003")
	})

	It("go with the namespace, and nothing fails", func(ctx SpecContext) {
		f, page := settled(ctx)
		errors := f.Activity(Default).Errors
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.Namespace}}
		Expect(suite.Client.Delete(ctx, namespace)).To(Succeed())
		suite.ExpectGoneWithin(ctx, suite.CollectTimeout, page)
		placement := &placementv1alpha1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: "p"}}
		suite.ExpectGoneWithin(ctx, suite.CollectTimeout, placement)
		suite.ExpectGoneWithin(ctx, suite.CollectTimeout, namespace)
		Expect(f.AwaitIdle(ctx).Errors).To(Equal(errors))
	})
})
