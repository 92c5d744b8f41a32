// SPDX-License-Identifier: Apache-2.0

package multicluster

import (
	"context"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("ClusterProfiles that go, and those that stay", Ordered, ContinueOnFailure, func() {
	// hold is how long decisions stay when a Placement with a removal budget has lost its scope.
	const hold = 2 * time.Second
	prepared := func(ctx context.Context) *suite.Fixture {
		f := suite.NewFixture(ctx, suite.WithoutAdmission)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 2, suite.Claiming("region", "eu"), suite.IsAvailable(metav1.ConditionTrue))
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		expectSlices(ctx, f, "p", []string{"./c001", "./c002"})
		return f
	}
	binding := func(f *suite.Fixture) *clusterv1beta2.ManagedClusterSetBinding {
		return &clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: f.Name("set")}}
	}

	BeforeAll(func(ctx SpecContext) {
		moveToProfiles(ctx, "/leaving", withProfiles, func(o *system.Options) { o.RemovalLimit.LostScopeHold = ptr.To(hold) })
	})

	// docs/spec/ecosystem.md E2
	It("CP8: go after the slices when the binding is deleted", func(ctx SpecContext) {
		f := prepared(ctx)
		changes := recordChanges(ctx, f, f.Name("c001"), f.Name("c002"))
		Expect(suite.Client.Delete(ctx, binding(f))).To(Succeed())
		changes.expectSlicesFirst(ctx)
		expectSlices(ctx, f, "p", []string{})
	})

	It("CP8: go after the slices that a removal budget holds", func(ctx SpecContext) {
		f := prepared(ctx)
		suite.Edit(ctx, f.Read(ctx, Default, "p"), func(p *clusterv1beta1.Placement) {
			metav1.SetMetaDataAnnotation(&p.ObjectMeta, removalbudget.PercentAnnotation, "10")
		})
		f.AwaitIdle(ctx)
		changes := recordChanges(ctx, f, f.Name("c001"), f.Name("c002"))
		Expect(suite.Client.Delete(ctx, binding(f))).To(Succeed())
		changes.expectSlicesFirst(ctx)
		expectSlices(ctx, f, "p", []string{})
	})

	// docs/spec/ecosystem.md E2
	It("CP8: go after the slices when a cluster leaves the set, and when one is deleted", func(ctx SpecContext) {
		f := prepared(ctx)
		f.Clusters(ctx, "set", 3, 3)
		expectSlices(ctx, f, "p", []string{"./c001", "./c002", "./c003"})
		changes := recordChanges(ctx, f, f.Name("c001"), f.Name("c002"))
		f.EditCluster(ctx, "c001", func(cluster *clusterv1.ManagedCluster) { delete(cluster.Labels, clusterv1beta2.ClusterSetLabel) })
		f.DeleteCluster(ctx, "c002")
		changes.expectSlicesFirst(ctx)
		expectSlices(ctx, f, "p", []string{"./c003"})
	})

	// docs/spec/ecosystem.md E2
	It("CP2, CP8: stay when the selector of the set is broken, or selects no cluster", func(ctx SpecContext) {
		f := suite.NewFixture(ctx, suite.WithoutAdmission)
		set := f.LabelSet(ctx, "labels", metav1.LabelSelector{})
		f.Clusters(ctx, "", 1, 2, suite.Claiming("region", "eu"))
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		expectSlices(ctx, f, "p", []string{"./c001", "./c002"})
		before := profileWrites(Default, f.Namespace)
		for _, selector := range []metav1.LabelSelectorRequirement{
			{Key: "region", Operator: "Near", Values: []string{"eu"}},
			{Key: "no such label", Operator: metav1.LabelSelectorOpExists},
			{Key: "region", Operator: metav1.LabelSelectorOpIn, Values: []string{"nowhere"}},
		} {
			suite.Edit(ctx, set, func(set *clusterv1beta2.ManagedClusterSet) {
				set.Spec.ClusterSelector.LabelSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{selector}}
			})
			Consistently(func(g Gomega) { g.Expect(profileWrites(g, f.Namespace)).To(Equal(before), "%v", selector) }).
				WithContext(ctx).WithTimeout(2 * hold).Should(Succeed())
			readProfile(ctx, f, Default, "c001")
			readProfile(ctx, f, Default, "c002")
		}
	})

	It("CP8: are left to the deletion of their namespace", func(ctx SpecContext) {
		f := prepared(ctx)
		pinned := readProfile(ctx, f, Default, "c001") // The namespace terminates as long as one object stays.
		suite.Edit(ctx, pinned, func(p *clusterinventory.ClusterProfile) { p.Finalizers = []string{"example.com/held"} })
		before := profileWrites(Default, f.Namespace)
		Expect(suite.Client.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.Namespace}})).To(Succeed())
		setClaims(ctx, f, "c001", "zone", "a")
		Expect(suite.Client.Delete(ctx, binding(f))).To(Succeed())
		Consistently(func(g Gomega) { g.Expect(profileWrites(g, f.Namespace)).To(Equal(before)) }).
			WithContext(ctx).WithTimeout(2 * hold).Should(Succeed())
		suite.Edit(ctx, pinned, func(p *clusterinventory.ClusterProfile) { p.Finalizers = nil })
	})

	// docs/spec/ecosystem.md E7
	It("CP4, CP6: a flap of the availability is two writes in each namespace", func(ctx SpecContext) {
		f := prepared(ctx)
		second := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.Name("second")}}
		f.Create(ctx, second)
		f.Create(ctx, &clusterv1beta2.ManagedClusterSetBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: second.Name, Name: f.Name("set")},
			Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: f.Name("set")},
		})
		healthy := func(status metav1.ConditionStatus) {
			for _, namespace := range []string{f.Namespace, second.Name} {
				Eventually(func(g Gomega) {
					profile := newProfile(namespace, ourManager, f.Name("c001"))
					g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(profile), profile)).To(Succeed())
					g.Expect(profile.Status.Conditions).To(HaveLen(1))
					g.Expect(profile.Status.Conditions[0].Status).To(Equal(status))
				}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
			}
		}
		healthy(metav1.ConditionTrue)
		f.AwaitIdle(ctx)
		first, others := profileWrites(Default, f.Namespace), profileWrites(Default, second.Name)
		write := "patch clusterprofiles/" + f.Name("c001") + "/status"
		const flaps = 3
		for range flaps {
			for _, status := range []metav1.ConditionStatus{metav1.ConditionFalse, metav1.ConditionTrue} {
				cluster := f.ReadCluster(ctx, Default, "c001")
				suite.IsAvailable(status)(cluster)
				Expect(suite.Client.Status().Update(ctx, cluster)).To(Succeed())
				healthy(status)
			}
		}
		f.AwaitIdle(ctx)
		want := slices.Repeat([]string{write}, 2*flaps)
		Expect(profileWrites(Default, f.Namespace)).To(Equal(slices.Concat(first, want)))
		Expect(profileWrites(Default, second.Name)).To(Equal(slices.Concat(others, want)))
	})
})
