// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/clustersets"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("A binding that follows from RBAC", func() {
	const handOver = "placement.open-cluster-management.io/unmanaged"

	// granted is a fixture whose account may bind two sets, blue by a role of that name and red by another.
	granted := func(ctx context.Context) *rbacFixture {
		f := newRBACFixture(ctx)
		for _, short := range []string{"blue", "red"} {
			f.UnboundSet(ctx, short)
			f.role(ctx, short, bindRule(f.Name(short)))
			f.grant(ctx, short, accountOf(f.Namespace))
		}
		f.expectBound(ctx, f.Namespace, "blue", "red")
		return f
	}
	revoke := func(ctx context.Context, f *rbacFixture, short string) {
		Expect(suite.Client.Delete(ctx, &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: f.Name(short)}})).To(Succeed())
	}
	named := func(f *rbacFixture, short string) *clusterv1beta2.ManagedClusterSetBinding {
		return &clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: f.Name(short)}}
	}
	version := func(ctx context.Context, f *rbacFixture, short string) func(Gomega) string {
		return func(g Gomega) string {
			binding := f.bindings(ctx, g, f.Namespace)[f.Name(short)]
			return string(binding.UID) + " " + binding.Spec.ClusterSet
		}
	}

	It("goes when it is revoked: its clusters leave the decisions, and the others are never missing", func(ctx SpecContext) {
		f := granted(ctx)
		f.Cluster(ctx, "blue", "c001")
		f.Cluster(ctx, "red", "c002")
		f.Cluster(ctx, "blue", "c003")
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(1, 3)...)

		recording := f.RecordPages(ctx)
		recording.Require(f.Names("c001", "c003")...)
		revoke(ctx, f, "red")
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001", "c003")
		recording.PlayUntil(ctx, f.Pages(ctx, Default, "p"))
	})

	It("stays when the right is given in another way at the same time", func(ctx SpecContext) {
		f := granted(ctx)
		f.role(ctx, "other", bindRule(f.Names("blue", "red")...))
		before := version(ctx, f, "blue")(Default)
		revoke(ctx, f, "blue") // A ClusterRoleBinding cannot be pointed at another role: it is made again.
		f.grantTo(ctx, "blue", "other", accountOf(f.Namespace))
		Consistently(version(ctx, f, "blue")).WithContext(ctx).WithTimeout(suite.QuietPeriod).Should(Equal(before))
		revoke(ctx, f, "red")
		Consistently(version(ctx, f, "blue")).WithContext(ctx).WithTimeout(suite.QuietPeriod).Should(Equal(before))
		f.expectBound(ctx, f.Namespace, "blue", "red")
	})

	It("T24: that is unmanaged stays when it is revoked, and an Event and a metric name it", func(ctx SpecContext) {
		f := granted(ctx)
		unmanaged := f.bindings(ctx, Default, f.Namespace)[f.Name("red")]
		suite.Edit(ctx, &unmanaged, func(b *clusterv1beta2.ManagedClusterSetBinding) { b.Labels[handOver] = "true" })
		left := func(g Gomega) int { return suite.CounterSum(g, "placement_hub_unmanaged_bindings_left", nil) }
		before := left(Default)
		blue := version(ctx, f, "blue")(Default)
		Expect(suite.Client.Delete(ctx, named(f, "blue"))).To(Succeed()) // When it is back, the hub has seen the label.
		Eventually(version(ctx, f, "blue")).WithContext(ctx).WithTimeout(suite.Timeout).ShouldNot(Or(Equal(blue), Equal(" ")))

		revoke(ctx, f, "red")
		revoke(ctx, f, "blue")
		Eventually(func(g Gomega) {
			g.Expect(f.bindings(ctx, g, f.Namespace)).To(And(HaveKey(f.Name("red")), HaveLen(1)))
			g.Expect(left(g)).To(Equal(before + 1))
			list := &eventsv1.EventList{}
			g.Expect(suite.Client.List(ctx, list, client.InNamespace(f.Namespace))).To(Succeed())
			g.Expect(list.Items).To(ContainElement(And(HaveField("Reason", "UnmanagedBindingLeft"), HaveField("Regarding.Name", f.Name("red")),
				HaveField("Note", ContainSubstring("no ClusterRoleBinding lets the ServiceAccount bind the cluster set")))))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())

		By("deleting what is left")
		Expect(suite.Client.Delete(ctx, &unmanaged)).To(Succeed())
		Eventually(left).WithContext(ctx).WithTimeout(suite.Timeout).Should(Equal(before))
	})

	It("of somebody else is neither changed nor deleted, and one of ours follows it", func(ctx SpecContext) {
		f := newRBACFixture(ctx)
		for _, short := range []string{"blue", "red"} {
			f.UnboundSet(ctx, short)
		}
		byHand := f.Bind(ctx, "blue")
		f.role(ctx, "blue", bindRule(f.Names("blue", "red")...))
		f.grant(ctx, "blue", accountOf(f.Namespace))
		Eventually(func(g Gomega) []string { return f.bound(ctx, g, f.Namespace) }).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(Equal([]string{"blue", "red"}))

		same := func(g Gomega) metav1.ObjectMeta {
			found := f.bindings(ctx, g, f.Namespace)[byHand.Name]
			return metav1.ObjectMeta{UID: found.UID, Generation: found.Generation, Labels: found.Labels, Annotations: found.Annotations}
		}
		untouched := metav1.ObjectMeta{UID: byHand.UID, Generation: byHand.Generation}
		Expect(same(Default)).To(Equal(untouched))

		revoke(ctx, f, "blue")
		Eventually(func(g Gomega) []string { return f.bound(ctx, g, f.Namespace) }).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(Equal([]string{"blue"}))
		Consistently(same).WithContext(ctx).WithTimeout(suite.QuietPeriod).Should(Equal(untouched))

		f.grant(ctx, "blue", accountOf(f.Namespace))
		Expect(suite.Client.Delete(ctx, byHand)).To(Succeed())
		f.expectBound(ctx, f.Namespace, "blue", "red")
	})

	It("comes back when it is deleted", func(ctx SpecContext) {
		f := granted(ctx)
		Expect(suite.Client.Delete(ctx, named(f, "blue"))).To(Succeed())
		f.expectBound(ctx, f.Namespace, "blue", "red")
	})

	It("is left alone once it is handed over", func(ctx SpecContext) {
		f := granted(ctx)
		suite.Edit(ctx, named(f, "blue"), func(b *clusterv1beta2.ManagedClusterSetBinding) { b.Labels[handOver] = "true" })
		suite.Edit(ctx, named(f, "red"), func(b *clusterv1beta2.ManagedClusterSetBinding) { b.Annotations = map[string]string{handOver: "true"} })
		blue, red := version(ctx, f, "blue")(Default), version(ctx, f, "red")(Default)
		revoke(ctx, f, "blue")
		revoke(ctx, f, "red")
		Consistently(version(ctx, f, "blue")).WithContext(ctx).WithTimeout(suite.QuietPeriod).Should(Equal(blue))
		Expect(version(ctx, f, "red")(Default)).To(Equal(red))

		suite.Edit(ctx, named(f, "red"), func(b *clusterv1beta2.ManagedClusterSetBinding) { b.Annotations[handOver] = "false" })
		suite.ExpectGone(ctx, named(f, "red"))
		Expect(version(ctx, f, "blue")(Default)).To(Equal(blue))
	})

	It("is not deleted when it is handed over while it is being revoked", func(ctx SpecContext) {
		f := granted(ctx)
		revoke(ctx, f, "blue")
		suite.Edit(ctx, named(f, "blue"), func(b *clusterv1beta2.ManagedClusterSetBinding) { b.Labels[handOver] = "true" })
		blue := version(ctx, f, "blue")(Default)
		Consistently(version(ctx, f, "blue")).WithContext(ctx).WithTimeout(suite.QuietPeriod).Should(Equal(blue))
	})

	It("of ours that nobody granted is deleted, whoever made it", func(ctx SpecContext) {
		f := granted(ctx)
		f.UnboundSet(ctx, "green")
		forged := named(f, "green")
		forged.Labels = map[string]string{clustersets.ManagedByLabel: clustersets.Manager}
		forged.Spec.ClusterSet = forged.Name
		f.Create(ctx, forged)
		suite.ExpectGone(ctx, forged)
		f.expectBound(ctx, f.Namespace, "blue", "red")
	})

	It("goes with the account, the role and the set, and comes back with them", func(ctx SpecContext) {
		f := granted(ctx)
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: clustersets.Account}}
		Expect(suite.Client.Delete(ctx, account)).To(Succeed())
		f.expectBound(ctx, f.Namespace)
		f.account(ctx, f.Namespace)
		f.expectBound(ctx, f.Namespace, "blue", "red")

		Expect(suite.Client.Delete(ctx, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: f.Name("blue")}})).To(Succeed())
		f.expectBound(ctx, f.Namespace, "red")
		f.role(ctx, "blue", bindRule(f.Name("blue")))
		f.expectBound(ctx, f.Namespace, "blue", "red")

		Expect(suite.Client.Delete(ctx, &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: f.Name("red")}})).To(Succeed())
		f.expectBound(ctx, f.Namespace, "blue")
		f.UnboundSet(ctx, "red")
		f.expectBound(ctx, f.Namespace, "blue", "red")
	})

	It("stays until the set is really gone, and goes as soon as the account is being deleted", func(ctx SpecContext) {
		f := granted(ctx)
		set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: f.Name("blue")}}
		suite.Edit(ctx, set, func(s *clusterv1beta2.ManagedClusterSet) { s.Finalizers = []string{"example.com/hold"} })
		before := version(ctx, f, "blue")(Default)
		Expect(suite.Client.Delete(ctx, set)).To(Succeed())
		Consistently(version(ctx, f, "blue")).WithContext(ctx).WithTimeout(suite.QuietPeriod).Should(Equal(before))
		suite.DropFinalizers(ctx, set)
		f.expectBound(ctx, f.Namespace, "red")

		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: clustersets.Account}}
		suite.Edit(ctx, account, func(a *corev1.ServiceAccount) { a.Finalizers = []string{"example.com/hold"} })
		Expect(suite.Client.Delete(ctx, account)).To(Succeed())
		f.expectBound(ctx, f.Namespace)
		suite.DropFinalizers(ctx, account)
	})

	It("is not made in a namespace that is being deleted", func(ctx SpecContext) {
		f := granted(ctx)
		doomed := f.another(ctx, "doomed")
		suite.Edit(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: doomed}}, func(n *corev1.Namespace) {
			n.Finalizers = []string{"example.com/hold"}
		})
		f.account(ctx, doomed)
		f.grantTo(ctx, "doomed", "blue", accountOf(doomed))
		f.expectBound(ctx, doomed, "blue")

		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: doomed}}
		Expect(suite.Client.Delete(ctx, namespace)).To(Succeed())
		suite.ExpectGone(ctx, &clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: doomed, Name: f.Name("blue")}})
		refused := func(g Gomega) []string {
			return bindingWrites(g, func(namespace string) bool { return namespace == doomed })
		}
		before := suite.AwaitUnchanged(ctx, refused)
		f.grantTo(ctx, "doomed2", "red", accountOf(doomed))
		Consistently(refused).WithContext(ctx).WithTimeout(suite.QuietPeriod).WithPolling(suite.AuditInterval).Should(Equal(before))
		suite.DropFinalizers(ctx, namespace)
	})

	It("B6: costs nothing at a restart, which finds what happened meanwhile", func(ctx SpecContext) {
		f := granted(ctx)
		hubWide := func(g Gomega) []string { return bindingWrites(g, func(string) bool { return true }) }
		looks := func(g Gomega) int {
			return suite.CounterSum(g, "controller_runtime_reconcile_total", map[string]string{"controller": "clustersetbinding-rbac"})
		}
		before, looked := suite.AwaitUnchanged(ctx, hubWide), looks(Default)
		suite.StopHub()
		suite.StopHub = suite.StartHub(suite.HubConfig(ctx, suite.ControlPlane))
		Eventually(looks).WithContext(ctx).WithTimeout(suite.Timeout).Should(BeNumerically(">", looked))
		Consistently(hubWide).WithContext(ctx).WithTimeout(suite.QuietPeriod).WithPolling(suite.AuditInterval).Should(Equal(before))

		suite.StopHub()
		revoke(ctx, f, "blue")
		Expect(suite.Client.Delete(ctx, named(f, "red"))).To(Succeed())
		suite.StopHub = suite.StartHub(suite.HubConfig(ctx, suite.ControlPlane))
		f.expectBound(ctx, f.Namespace, "red")

		suite.StopHub()
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: clustersets.Account}}
		Expect(suite.Client.Delete(ctx, account)).To(Succeed())
		suite.StopHub = suite.StartHub(suite.HubConfig(ctx, suite.ControlPlane))
		f.expectBound(ctx, f.Namespace)
	})
})

var _ = Describe("A binding that follows from RBAC, where nothing is denied", Ordered, func() {
	BeforeAll(func(ctx SpecContext) { suite.SeparateWithoutValidation(ctx) })

	It("has an edit of its spec put back, and nothing else of it", func(ctx SpecContext) {
		f := newRBACFixture(ctx)
		f.UnboundSet(ctx, "blue")
		f.role(ctx, "blue", bindRule(f.Name("blue")))
		f.grant(ctx, "blue", accountOf(f.Namespace))
		f.expectBound(ctx, f.Namespace, "blue")
		var uid types.UID

		binding := &clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: f.Name("blue")}}
		suite.Edit(ctx, binding, func(b *clusterv1beta2.ManagedClusterSetBinding) {
			uid = b.UID
			b.Spec.ClusterSet = "global"
			b.Annotations = map[string]string{"example.com/kept": "true"}
		})
		Eventually(func(g Gomega) {
			found := f.bindings(ctx, g, f.Namespace)[binding.Name]
			g.Expect(found.Spec.ClusterSet).To(Equal(binding.Name))
			g.Expect(found.UID).To(Equal(uid))
			g.Expect(found.Annotations).To(HaveKey("example.com/kept"))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	})
})
