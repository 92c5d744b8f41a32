package integration

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
)

var _ = Describe("P13, P15: PlacementDecisions and others", func() {
	// settled is a world with a placement "p" of two clusters, of which the first is available.
	settled := func(ctx context.Context) (*world, *placementv1alpha1.PlacementDecision) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.cluster(ctx, "set", "c001", reachable)
		w.cluster(ctx, "set", "c002")
		w.alpha(ctx, "p", placementv1alpha1.PlacementSpec{})
		w.expectAlpha(ctx, "p", allScheduled, shorts(1, 2)...)
		w.expectAvailable(ctx, "c001")

		return w, &w.alphaPages(ctx, Default, "p")[0]
	}

	It("B4: what others break is mended in place, and what is theirs stays", func(ctx SpecContext) {
		w, page := settled(ctx)
		other := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "other"}}
		w.create(ctx, other)
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
			edit(ctx, page, func(p *placementv1alpha1.PlacementDecision) {
				p.Labels["example.com/team"] = "blue"
				damage(p)
			})
			Eventually(func(g Gomega) {
				seen := w.lookAlpha(ctx, g, "p")
				g.Expect(seen.Selected).To(HaveExactElements(shorts(1, 2)))
				g.Expect(seen.Available).To(HaveExactElements("c001"))
				g.Expect(w.alphaPages(ctx, g, "p")).To(HaveExactElements(And(
					HaveField("UID", page.UID), HaveField("Labels", HaveKeyWithValue("example.com/team", "blue")))))
			}).WithContext(ctx).WithTimeout(settle).Should(Succeed())
		}
	})

	It("B4: a page of our name that belongs to somebody else is left alone, and the next number is used", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 2)

		other := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "other"}}
		w.create(ctx, other)

		theirs := &placementv1alpha1.PlacementDecision{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "p-decision-1", OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "v1", Kind: "ConfigMap", Name: "other", UID: other.UID, Controller: ptr.To(true),
			}}},
			Decisions: []placementv1alpha1.ClusterDecision{{ClusterName: "stranger"}},
		}
		w.create(ctx, theirs)
		w.alpha(ctx, "p", placementv1alpha1.PlacementSpec{})
		w.expectAlpha(ctx, "p", allScheduled, shorts(1, 2)...)
		Expect(w.lookAlpha(ctx, Default, "p").Pages).To(HaveExactElements("p-decision-2: 2"))

		now := &placementv1alpha1.PlacementDecision{}
		Expect(hub.Get(ctx, client.ObjectKeyFromObject(theirs), now)).To(Succeed())
		Expect(now.ResourceVersion).To(Equal(theirs.ResourceVersion), "it is not touched")
	})

	It("C5: experimental-scheduling-disable means hands off, status included, until it is removed", func(ctx SpecContext) {
		w, page := settled(ctx)
		placement := w.readAlpha(ctx, Default, "p")
		edit(ctx, placement, func(p *placementv1alpha1.Placement) {
			p.Annotations = map[string]string{clusterv1beta1.PlacementDisableAnnotation: "true"}
			p.Spec.NumberOfClusters = ptr.To[int32](1)
		})

		before := w.idle(ctx).Writes

		edit(ctx, page, func(p *placementv1alpha1.PlacementDecision) { p.Decisions[0].ClusterName = "elsewhere" })
		w.reach(ctx, "c001", metav1.ConditionFalse, "it is out of reach")
		w.clusters(ctx, "set", 3, 3)
		w.expectNoWrite(ctx, before)

		edit(ctx, placement, func(p *placementv1alpha1.Placement) { p.Annotations = nil })
		w.expectAlpha(ctx, "p", allScheduled, "c002")
		w.expectAvailable(ctx)
	})

	It("of both APIs do not mind placements of one name in one namespace, and 34: go with their own one", func(ctx SpecContext) {
		w, page := settled(ctx)
		w.placement(ctx, "p", clusterv1beta1.PlacementSpec{ClusterSets: []string{"absent"}})
		w.expectSelected(ctx, "p", noIntersection)

		Expect(w.pages(ctx, Default, "p")[0].Name).To(Equal(page.Name), "their pages have the same name")
		Expect(w.lookAlpha(ctx, Default, "p").Satisfied).To(Equal(allScheduled))

		By("what happens to the one leaves the other alone")

		placement := w.readAlpha(ctx, Default, "p")
		w.editPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { s.ClusterSets, s.NumberOfClusters = nil, ptr.To[int32](2) })
		w.expectSelected(ctx, "p", allScheduled, shorts(1, 2)...)
		w.idle(ctx)
		Expect(w.alphaPages(ctx, Default, "p")).To(HaveExactElements(*page))
		Expect(w.readAlpha(ctx, Default, "p")).To(Equal(placement))

		twin, twinPage := w.read(ctx, Default, "p"), w.pages(ctx, Default, "p")
		w.editAlpha(ctx, "p", func(s *placementv1alpha1.PlacementSpec) { s.Predicates = anyOf(withLabel("no", "such")).Predicates })
		w.expectAlpha(ctx, "p", allScheduled)
		w.idle(ctx)
		Expect(w.read(ctx, Default, "p")).To(Equal(twin))
		Expect(w.pages(ctx, Default, "p")).To(Equal(twinPage))

		By("the garbage collector takes the pages of the one that is deleted")
		Expect(hub.Delete(ctx, placement)).To(Succeed())
		goneWithin(ctx, collect, page)
		Consistently(func(g Gomega) {
			g.Expect(w.alphaPages(ctx, g, "p")).To(BeEmpty())
			g.Expect(w.pages(ctx, g, "p")).To(Equal(twinPage))
		}).WithContext(ctx).WithTimeout(time.Second).Should(Succeed())
	})

	It("of both APIs count for Balance", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.alone(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 4)

		one := ptr.To[int32](1)
		w.alpha(ctx, "a", placementv1alpha1.PlacementSpec{NumberOfClusters: one})
		w.expectAlpha(ctx, "a", allScheduled, "c001")
		w.placement(ctx, "a", clusterv1beta1.PlacementSpec{NumberOfClusters: one})
		w.expectSelected(ctx, "a", allScheduled, "c002")
		w.alpha(ctx, "b", placementv1alpha1.PlacementSpec{NumberOfClusters: one})
		w.expectAlpha(ctx, "b", allScheduled, "c003")
	})

	It("go with the namespace, and nothing fails", func(ctx SpecContext) {
		w, page := settled(ctx)
		errors := w.activity(Default).Errors
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}
		Expect(hub.Delete(ctx, namespace)).To(Succeed())
		goneWithin(ctx, collect, page)
		goneWithin(ctx, collect, &placementv1alpha1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "p"}})
		goneWithin(ctx, collect, namespace)
		Expect(w.idle(ctx).Errors).To(Equal(errors))
	})
})
