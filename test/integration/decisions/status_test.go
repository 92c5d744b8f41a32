// SPDX-License-Identifier: Apache-2.0

package decisions

import (
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("Placement status", func() {
	It("A5: comes back when somebody wipes it", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 2)
		placement := f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(1, 2)...)
		wipe := client.RawPatch(types.MergePatchType, []byte(`{"status":{"conditions":[],"decisionGroups":[],"numberOfSelectedClusters":0}}`))
		Expect(suite.Client.Status().Patch(ctx, placement, wipe)).To(Succeed())
		Expect(placement.Status.Conditions).To(BeEmpty())
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(1, 2)...)
	})

	It("A5: conditions of others stay, after ours, and the transition time moves only with the status", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 2)
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(1, 2)...)
		long := metav1.Unix(1_000_000_000, 0)
		fresh := f.Read(ctx, Default, "p")
		conditions := []metav1.Condition{{
			Type: "Approved", Status: metav1.ConditionTrue, Reason: "Reviewed", Message: "by hand", LastTransitionTime: long,
		}}
		for _, condition := range fresh.Status.Conditions {
			condition.LastTransitionTime = long
			conditions = append(conditions, condition)
		}

		fresh.Status.Conditions = conditions
		Expect(suite.Client.Status().Update(ctx, fresh)).To(Succeed())
		f.EditPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { s.ClusterSets = []string{"absent"} })
		f.ExpectSelected(ctx, "p", suite.NoIntersection)
		conditions = f.Read(ctx, Default, "p").Status.Conditions
		Expect(conditions).To(HaveLen(3))
		Expect(conditions[0].LastTransitionTime.Time).To(BeTemporally("==", long.Time))
		Expect(conditions[1].LastTransitionTime.Time).To(BeTemporally(">", long.Time))
		Expect(conditions[2].Type).To(Equal("Approved"))
	})

	It("A5, A7: is written when decisions cannot be created, tells what stands, and recovers", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		quota := f.ForbidPages(ctx, api.V1beta1.Codec(), 0)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 2)
		failed := func(g Gomega) int {
			return suite.CounterSum(g, "placement_hub_writes_total", map[string]string{"kind": "create", "result": "error"})
		}
		failures, errors := failed(Default), f.Activity(Default).Errors
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})

		denied := func(g Gomega) {
			f.ExpectUnwritten(ctx, g, "p")
		}
		Eventually(denied).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())

		first := f.Read(ctx, Default, "p").ResourceVersion
		Eventually(func(g Gomega) { g.Expect(f.Activity(g).Errors).To(BeNumerically(">=", errors+3)) }).
			WithContext(ctx).WithTimeout(suite.Timeout).WithPolling(suite.AuditInterval).Should(Succeed(), "the error is returned and tried again")
		Expect(failed(Default)).To(BeNumerically(">=", failures+3), "the error is counted")
		Consistently(denied).WithContext(ctx).WithTimeout(suite.QuietPeriod).Should(Succeed())
		Expect(f.Read(ctx, Default, "p").ResourceVersion).To(Equal(first), "the condition is stable")
		Expect(eventsOf(ctx, f, Default)).To(BeEmpty())

		Expect(suite.Client.Delete(ctx, quota)).To(Succeed())
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(1, 2)...)
	})

	DescribeTable("A7, B1: a page that cannot be created takes nothing from the others", func(ctx SpecContext, newcomer string, all []string) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 100)
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(1, 100)...)

		quota := f.ForbidPages(ctx, api.V1beta1.Codec(), 1)
		f.Cluster(ctx, "set", newcomer)
		Eventually(func(g Gomega) {
			seen := f.Look(ctx, g, "p")
			g.Expect(seen.Satisfied).To(Equal(suite.NotAllScheduled))
			g.Expect(seen.Groups).To(HaveExactElements("0/: 100 [p-decision-1]"))
			g.Expect(seen.Selected).To(HaveExactElements(suite.Shorts(1, 100)))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())

		Expect(suite.Client.Delete(ctx, quota)).To(Succeed())
		f.Expect(ctx, "p", suite.Outcome{
			Selected: all, Groups: []string{"0/: 101 [p-decision-1 p-decision-2]"},
			Satisfied: suite.AllScheduled, Misconfigured: suite.Configured,
		})
	},
		Entry("when it is for a cluster that sorts last", "c101", suite.Shorts(1, 101)),
		Entry("when it is for a cluster that sorts first", "c000", suite.Shorts(0, 100)),
	)

	It("is left alone while the placement is being deleted", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 1)
		placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{
			Namespace: f.Namespace, Name: "p", Finalizers: []string{"example.com/hold"},
		}}
		f.Create(ctx, placement)
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001")

		Expect(suite.Client.Delete(ctx, placement)).To(Succeed())

		// A hub that has decided a later Placement has seen the deletion, too.
		f.Placement(ctx, "later", clusterv1beta1.PlacementSpec{})
		f.ExpectSelected(ctx, "later", suite.AllScheduled, "c001")
		writes := func() []string {
			isLater := func(write string) bool { return strings.Contains(write, "/later") }
			return slices.DeleteFunc(f.AwaitIdle(ctx).Writes, isLater)
		}
		before := writes()

		f.Clusters(ctx, "set", 2, 2)
		f.ExpectSelected(ctx, "later", suite.AllScheduled, "c001", "c002")
		Expect(writes()).To(Equal(before))
		suite.DropFinalizers(ctx, placement)
		suite.ExpectGone(ctx, placement)
	})
})
