package integration

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/decision/record"
)

var _ = Describe("Placement status", func() {
	It("A5: comes back when somebody wipes it", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 2)
		placement := w.placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		w.expectSelected(ctx, "p", allScheduled, shorts(1, 2)...)

		wipe := client.RawPatch(types.MergePatchType, []byte(`{"status":{"conditions":[],"decisionGroups":[],"numberOfSelectedClusters":0}}`))
		Expect(hub.Status().Patch(ctx, placement, wipe)).To(Succeed())
		Expect(placement.Status.Conditions).To(BeEmpty())

		w.expectSelected(ctx, "p", allScheduled, shorts(1, 2)...)
	})

	It("A5: conditions of others stay, after ours, and the transition time moves only with the status", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 2)
		w.placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		w.expectSelected(ctx, "p", allScheduled, shorts(1, 2)...)

		long := metav1.Unix(1_000_000_000, 0)
		fresh := w.read(ctx, Default, "p")
		conditions := []metav1.Condition{{
			Type: "Approved", Status: metav1.ConditionTrue, Reason: "Reviewed", Message: "by hand", LastTransitionTime: long,
		}}

		for _, condition := range fresh.Status.Conditions {
			condition.LastTransitionTime = long
			conditions = append(conditions, condition)
		}

		fresh.Status.Conditions = conditions
		Expect(hub.Status().Update(ctx, fresh)).To(Succeed())
		w.editPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { s.ClusterSets = []string{"absent"} })
		w.expectSelected(ctx, "p", noIntersection)

		conditions = w.read(ctx, Default, "p").Status.Conditions
		Expect(conditions).To(HaveLen(3))
		Expect(conditions[0].LastTransitionTime.Time).To(BeTemporally("==", long.Time))
		Expect(conditions[1].LastTransitionTime.Time).To(BeTemporally(">", long.Time))
		Expect(conditions[2].Type).To(Equal("Approved"))
	})

	It("A5, A7: is written when decisions cannot be created, tells what stands, and recovers", func(ctx SpecContext) {
		w := newWorld(ctx)
		quota := w.forbidPages(ctx, record.V1beta1.Form(), 0)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 2)

		failed := func(g Gomega) int {
			return counted(g, "placement_hub_writes_total", map[string]string{"kind": "create", "result": "error"})
		}
		failures, errors := failed(Default), w.activity(Default).Errors
		w.placement(ctx, "p", clusterv1beta1.PlacementSpec{})

		denied := func(g Gomega) {
			w.expectUnwritten(ctx, g, "p")
		}
		Eventually(denied).WithContext(ctx).WithTimeout(settle).Should(Succeed())

		first := w.read(ctx, Default, "p").ResourceVersion
		Eventually(func(g Gomega) { g.Expect(w.activity(g).Errors).To(BeNumerically(">=", errors+3)) }).
			WithContext(ctx).WithTimeout(settle).WithPolling(auditEvery).Should(Succeed(), "the error is returned and tried again")
		Expect(failed(Default)).To(BeNumerically(">=", failures+3), "the error is counted")
		Consistently(denied).WithContext(ctx).WithTimeout(quiet).Should(Succeed())
		Expect(w.read(ctx, Default, "p").ResourceVersion).To(Equal(first), "the condition is stable")
		Expect(w.events(ctx, Default)).To(BeEmpty())

		Expect(hub.Delete(ctx, quota)).To(Succeed())
		w.expectSelected(ctx, "p", allScheduled, shorts(1, 2)...)
	})

	DescribeTable("A7, B1: a page that cannot be created takes nothing from the others", func(ctx SpecContext, newcomer string, all []string) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 100)
		w.placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		w.expectSelected(ctx, "p", allScheduled, shorts(1, 100)...)

		quota := w.forbidPages(ctx, record.V1beta1.Form(), 1)
		w.cluster(ctx, "set", newcomer)
		Eventually(func(g Gomega) {
			seen := w.look(ctx, g, "p")
			g.Expect(seen.Satisfied).To(Equal(notAllScheduled))
			g.Expect(seen.Groups).To(HaveExactElements("0/: 100 [p-decision-1]"))
			g.Expect(seen.Selected).To(HaveExactElements(shorts(1, 100)))
		}).WithContext(ctx).WithTimeout(settle).Should(Succeed())

		Expect(hub.Delete(ctx, quota)).To(Succeed())
		w.expect(ctx, "p", outcome{
			Selected: all, Groups: []string{"0/: 101 [p-decision-1 p-decision-2]"},
			Satisfied: allScheduled, Misconfigured: configured,
		})
	},
		Entry("when it is for a cluster that sorts last", "c101", shorts(1, 101)),
		Entry("when it is for a cluster that sorts first", "c000", shorts(0, 100)),
	)

	It("is left alone while the placement is being deleted", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 1)
		placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{
			Namespace: w.namespace, Name: "p", Finalizers: []string{"example.com/hold"},
		}}
		w.create(ctx, placement)
		w.expectSelected(ctx, "p", allScheduled, "c001")

		before := w.idle(ctx).Writes
		Expect(hub.Delete(ctx, placement)).To(Succeed())
		w.clusters(ctx, "set", 2, 2)
		w.expectNoWrite(ctx, before)
		finish(ctx, placement)
		gone(ctx, placement)
	})
})

// forbidPages makes a quota that lets the namespace have so many PlacementDecisions of an API, which it is taken to have already.
func (w *world) forbidPages(ctx context.Context, form record.Form, present int) *corev1.ResourceQuota {
	GinkgoHelper()

	return w.forbid(ctx, "placementdecisions."+form.Owner().Group, present, form.Write(&record.Page{}))
}

// forbid makes a quota that lets the namespace have so many objects of a kind, which it is taken to have already; empty is one of them.
func (w *world) forbid(ctx context.Context, kind string, present int, empty client.Object) *corev1.ResourceQuota {
	GinkgoHelper()

	resources := corev1.ResourceList{
		corev1.ResourceName("count/" + kind): *resource.NewQuantity(int64(present), resource.DecimalSI),
	}
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "pages"}, Spec: corev1.ResourceQuotaSpec{Hard: resources},
	}
	w.create(ctx, quota)

	// Admission goes by the status, which no controller fills in here.
	quota.Status = corev1.ResourceQuotaStatus{Hard: resources, Used: resources}
	Expect(hub.Status().Update(ctx, quota)).To(Succeed())

	// Admission reads quotas from a cache; it knows this one when it refuses.
	attempt := 0
	Eventually(func() error {
		attempt++

		empty.SetNamespace(w.namespace)
		empty.SetName(fmt.Sprintf("attempt-%d", attempt))
		empty.SetResourceVersion("")

		return hub.Create(ctx, empty)
	}).WithContext(ctx).WithTimeout(settle).Should(MatchError(ContainSubstring("exceeded quota")))

	return quota
}

// expectUnwritten demands both conditions and a status that claims no decision.
func (w *world) expectUnwritten(ctx context.Context, g Gomega, name string) {
	status := w.read(ctx, g, name).Status
	g.Expect(status.Conditions).To(HaveLen(2))
	g.Expect(conditionText(status.Conditions[0])).To(Equal(configured))
	g.Expect(conditionText(status.Conditions[1])).To(Equal(notAllScheduled))
	g.Expect(status.Conditions[1].Message).
		To(HavePrefix("The decisions could not all be written: creating PlacementDecision %s/%s-decision-1: Forbidden: ", w.namespace, name))
	g.Expect(status.NumberOfSelectedClusters).To(BeZero())
	g.Expect(status.DecisionGroups).To(BeEmpty())
	g.Expect(w.pages(ctx, g, name)).To(BeEmpty())
}
