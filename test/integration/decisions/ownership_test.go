// SPDX-License-Identifier: Apache-2.0

package decisions

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("Ownership of decisions", func() {
	// settled is a fixture with a placement "p" of two clusters.
	settled := func(ctx SpecContext) (*suite.Fixture, *clusterv1beta1.PlacementDecision) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 2)
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(1, 2)...)
		return f, &f.Pages(ctx, Default, "p")[0]
	}

	DescribeTable("B4: what others break is mended in place",
		func(ctx SpecContext, damage func(*clusterv1beta1.PlacementDecision)) {
			f, page := settled(ctx)
			suite.Edit(ctx, page, func(p *clusterv1beta1.PlacementDecision) {
				damage(p)
				p.Annotations = map[string]string{"example.com/touched": "true"}
			})

			Eventually(func(g Gomega) {
				f.Look(ctx, g, "p")
				g.Expect(f.Pages(ctx, g, "p")).To(HaveExactElements(And(
					HaveField("UID", page.UID), HaveField("Annotations", HaveKey("example.com/touched")))))
			}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
			f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(1, 2)...)
		},
		Entry("the placement label", func(p *clusterv1beta1.PlacementDecision) { delete(p.Labels, clusterv1beta1.PlacementLabel) }),
		Entry("another placement label", func(p *clusterv1beta1.PlacementDecision) { p.Labels[clusterv1beta1.PlacementLabel] = "other" }),
		Entry("the index label", func(p *clusterv1beta1.PlacementDecision) { p.Labels[clusterv1beta1.DecisionGroupIndexLabel] = "7" }),
		Entry("the group name label", func(p *clusterv1beta1.PlacementDecision) { delete(p.Labels, clusterv1beta1.DecisionGroupNameLabel) }),
		Entry("all labels", func(p *clusterv1beta1.PlacementDecision) { p.Labels = nil }),
		Entry("the owner", func(p *clusterv1beta1.PlacementDecision) { p.OwnerReferences = nil }),
	)

	It("B4: an owner of our name with an old uid, as after a restore, is put right, or the page is made again", func(ctx SpecContext) {
		f, page := settled(ctx)
		suite.Edit(ctx, page, func(p *clusterv1beta1.PlacementDecision) {
			p.OwnerReferences[0].UID = types.UID("00000000-0000-0000-0000-000000000000")
		})

		// The garbage collector takes the page for an orphan and may be faster than the hub.
		Eventually(func(g Gomega) {
			now := f.Pages(ctx, g, "p")
			g.Expect(now).To(HaveLen(1))
			g.Expect(now[0].ResourceVersion).NotTo(Equal(page.ResourceVersion))
			g.Expect(f.Look(ctx, g, "p").Selected).To(HaveExactElements(suite.Shorts(1, 2)))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	})

	It("B4: labels and owners of others stay, and ours comes first", func(ctx SpecContext) {
		f, page := settled(ctx)
		other := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: "other"}}
		f.Create(ctx, other)
		theirs := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "other", UID: other.UID}
		suite.Edit(ctx, page, func(p *clusterv1beta1.PlacementDecision) {
			p.Labels["example.com/team"] = "blue"
			p.OwnerReferences = append([]metav1.OwnerReference{theirs}, p.OwnerReferences...)
		})
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(1, 2)...)

		f.Clusters(ctx, "set", 3, 3)
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(1, 3)...)
		now := f.Pages(ctx, Default, "p")[0]
		Expect(now.UID).To(Equal(page.UID))
		Expect(now.Labels).To(HaveKeyWithValue("example.com/team", "blue"))
		Expect(now.OwnerReferences).To(HaveExactElements(HaveField("Name", "p"), theirs))
	})

	It("B4: decisions that others changed are put right", func(ctx SpecContext) {
		f, page := settled(ctx)
		page.Status.Decisions = []clusterv1beta1.ClusterDecision{{ClusterName: f.Name("c001"), Reason: "mine"}, {ClusterName: "stranger"}}
		Expect(suite.Client.Status().Update(ctx, page)).To(Succeed())
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(1, 2)...)
	})

	for what, empty := range map[string]func(ctx context.Context, page *clusterv1beta1.PlacementDecision) error{
		"empties": func(ctx context.Context, page *clusterv1beta1.PlacementDecision) error {
			page.Status.Decisions = []clusterv1beta1.ClusterDecision{}
			return suite.Client.Status().Update(ctx, page)
		},
		"deletes": func(ctx context.Context, page *clusterv1beta1.PlacementDecision) error {
			return suite.Client.Delete(ctx, page)
		},
	} {
		It("B18: a decision that another client "+what+" gets its clusters back, although equal ones come first by name", func(ctx SpecContext) {
			f := suite.NewFixture(ctx)
			f.Set(ctx, "set")
			f.Clusters(ctx, "set", 8, 9)
			f.AwaitClusters(ctx)
			f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](2)})
			f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(8, 9)...)
			f.Clusters(ctx, "set", 1, 4)
			f.AwaitClusters(ctx)

			page := f.Pages(ctx, Default, "p")[0]
			Expect(empty(ctx, &page)).To(Succeed())
			f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(8, 9)...)
			Consistently(func(g Gomega) {
				g.Expect(f.Look(ctx, g, "p").Selected).To(HaveExactElements(suite.Shorts(8, 9)))
			}).WithContext(ctx).WithTimeout(2 * time.Second).Should(Succeed())
		})
	}

	It("B22: a finalizer of another keeps decisions, and not their clusters", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 3)
		f.AwaitClusters(ctx)
		spec := clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](3)}
		spec.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup = intstr.FromInt32(1)
		placement := f.Placement(ctx, "p", spec)
		var pages []clusterv1beta1.PlacementDecision
		Eventually(func(g Gomega) {
			pages = f.Pages(ctx, g, "p")
			g.Expect(pages).To(HaveEach(HaveField("Status.Decisions", HaveLen(1))))
			g.Expect(pages).To(HaveLen(3))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		for i := range pages {
			suite.Edit(ctx, &pages[i], func(p *clusterv1beta1.PlacementDecision) { p.Finalizers = []string{"example.com/backup"} })
		}
		DeferCleanup(func(ctx SpecContext) {
			for _, page := range f.Pages(ctx, Default, "p") {
				suite.Edit(ctx, &page, func(p *clusterv1beta1.PlacementDecision) { p.Finalizers = nil })
			}
		})
		seen := func(g Gomega) (clusters []string) {
			for _, page := range f.Pages(ctx, g, "p") {
				for _, decision := range page.Status.Decisions {
					clusters = append(clusters, decision.ClusterName)
				}
			}
			return clusters
		}

		Expect(suite.Client.Delete(ctx, &pages[1])).To(Succeed())
		Eventually(func(g Gomega) {
			g.Expect(f.Pages(ctx, g, "p")).To(HaveLen(4))
			g.Expect(seen(g)).To(ConsistOf(f.Name("c001"), f.Name("c002"), f.Name("c002"), f.Name("c003")))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())

		suite.Edit(ctx, placement, func(p *clusterv1beta1.Placement) { p.Spec.NumberOfClusters = ptr.To[int32](1) })
		Eventually(func(g Gomega) {
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(placement), placement)).To(Succeed())
			g.Expect(placement.Status.NumberOfSelectedClusters).To(BeEquivalentTo(1))
			g.Expect(seen(g)).To(HaveExactElements(f.Name("c001")))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	})

	It("B4: a page of our name that belongs to somebody else is left alone, and the next number is used", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 2)
		other := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: "other"}}
		f.Create(ctx, other)

		theirs := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
			Namespace: f.Namespace, Name: "p-decision-1", OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "v1", Kind: "ConfigMap", Name: "other", UID: other.UID, Controller: ptr.To(true),
			}},
		}}
		f.Create(ctx, theirs)

		rule := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
			Namespace: f.Namespace, Name: "p-decision-2", Labels: map[string]string{
				"cluster.open-cluster-management.io/placementrule": "p",
			},
		}}
		f.Create(ctx, rule)

		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		f.Expect(ctx, "p", suite.Outcome{
			Selected: suite.Shorts(1, 2), Groups: []string{"0/: 2 [p-decision-3]"}, Satisfied: suite.AllScheduled, Misconfigured: suite.Configured,
		})
		for _, page := range []*clusterv1beta1.PlacementDecision{theirs, rule} {
			now := &clusterv1beta1.PlacementDecision{}
			Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(page), now)).To(Succeed())
			Expect(now.ResourceVersion).To(Equal(page.ResourceVersion), "%s is not touched", page.Name)
		}

		Expect(suite.Client.Delete(ctx, theirs)).To(Succeed())
		f.Clusters(ctx, "set", 3, 3)
		f.Expect(ctx, "p", suite.Outcome{
			// The name that everybody writes down is free at last.
			Selected: suite.Shorts(1, 3), Groups: []string{"0/: 3 [p-decision-1]"}, Satisfied: suite.AllScheduled, Misconfigured: suite.Configured,
		})
	})

	It("adopts pages that come back from a backup without status and with an old uid", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 2)
		restored := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
			Namespace: f.Namespace, Name: "p-decision-1", Labels: map[string]string{
				clusterv1beta1.PlacementLabel:          "p",
				clusterv1beta1.DecisionGroupIndexLabel: "0",
				clusterv1beta1.DecisionGroupNameLabel:  "",
			},
		}}
		f.Create(ctx, restored)
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})

		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(1, 2)...)
		Expect(f.Pages(ctx, Default, "p")[0].UID).To(Equal(restored.UID))
	})

	It("34: deleting a placement has its decisions collected", func(ctx SpecContext) {
		f, page := settled(ctx)
		Expect(suite.Client.Delete(ctx, f.Read(ctx, Default, "p"))).To(Succeed())
		// The garbage collector learns of new kinds every half minute.
		suite.ExpectGoneWithin(ctx, suite.CollectTimeout, page)
		Consistently(func(g Gomega) { g.Expect(f.Pages(ctx, g, "p")).To(BeEmpty()) }).
			WithContext(ctx).WithTimeout(suite.QuietPeriod).Should(Succeed())
	})

	It("C5: experimental-scheduling-disable means hands off, status included, until it is removed", func(ctx SpecContext) {
		const annotation = "cluster.open-cluster-management.io/experimental-scheduling-disable"
		f, page := settled(ctx)
		placement := f.Read(ctx, Default, "p")
		suite.Edit(ctx, placement, func(p *clusterv1beta1.Placement) { p.Annotations = map[string]string{annotation: "true"} })
		before := f.AwaitIdle(ctx).Writes

		stale := f.Read(ctx, Default, "p")
		stale.Status.Conditions = []metav1.Condition{}
		Expect(suite.Client.Status().Update(ctx, stale)).To(Succeed())
		suite.Edit(ctx, placement, func(p *clusterv1beta1.Placement) { p.Spec.NumberOfClusters = ptr.To[int32](1) })
		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(page), page)).To(Succeed())
		page.Status.Decisions = []clusterv1beta1.ClusterDecision{{ClusterName: "elsewhere"}}
		Expect(suite.Client.Status().Update(ctx, page)).To(Succeed())
		f.Clusters(ctx, "set", 3, 3)
		f.ExpectNoWrite(ctx, before)

		suite.Edit(ctx, placement, func(p *clusterv1beta1.Placement) { p.Annotations[annotation] = "false" })
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001")
	})

	It("C5: a placement that is born disabled gets nothing", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Placement(ctx, "seen", clusterv1beta1.PlacementSpec{})
		f.ExpectSelected(ctx, "seen", suite.NoBindings)
		before := f.AwaitIdle(ctx).Writes
		disabled := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{
			Namespace: f.Namespace, Name: "p", Annotations: map[string]string{clusterv1beta1.PlacementDisableAnnotation: "true"},
		}}
		f.Create(ctx, disabled)
		f.ExpectNoWrite(ctx, before)
	})
})
