package integration

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/scope"
)

var _ = Describe("A binding that follows from RBAC", Serial, func() {
	const handOver = "placement.open-cluster-management.io/unmanaged"

	// granted is a world whose account may bind two sets, blue by a role of that name and red by another.
	granted := func(ctx context.Context) *rbacWorld {
		w := newRBACWorld(ctx)

		for _, short := range []string{"blue", "red"} {
			w.unboundSet(ctx, short)
			w.role(ctx, short, bindRule(w.name(short)))
			w.grant(ctx, short, accountOf(w.namespace))
		}

		w.expectBound(ctx, w.namespace, "blue", "red")

		return w
	}
	revoke := func(ctx context.Context, w *rbacWorld, short string) {
		Expect(hub.Delete(ctx, &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: w.name(short)}})).To(Succeed())
	}
	named := func(w *rbacWorld, short string) *clusterv1beta2.ManagedClusterSetBinding {
		return &clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: w.name(short)}}
	}
	version := func(ctx context.Context, w *rbacWorld, short string) func(Gomega) string {
		return func(g Gomega) string {
			binding := w.bindings(ctx, g, w.namespace)[w.name(short)]

			return string(binding.UID) + " " + binding.Spec.ClusterSet
		}
	}

	It("goes when it is revoked: its clusters leave the decisions, and the others are never missing", func(ctx SpecContext) {
		w := granted(ctx)
		w.cluster(ctx, "blue", "c001")
		w.cluster(ctx, "red", "c002")
		w.cluster(ctx, "blue", "c003")
		w.placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		w.expectSelected(ctx, "p", allScheduled, shorts(1, 3)...)

		film := w.watchPages(ctx)
		film.stays(w.names("c001", "c003")...)
		revoke(ctx, w, "red")
		w.expectSelected(ctx, "p", allScheduled, "c001", "c003")
		film.until(ctx, w.pages(ctx, Default, "p"))
	})

	It("stays when the right is given in another way at the same time", func(ctx SpecContext) {
		w := granted(ctx)
		w.role(ctx, "other", bindRule(w.names("blue", "red")...))
		before := version(ctx, w, "blue")(Default)

		revoke(ctx, w, "blue") // A ClusterRoleBinding cannot be pointed at another role: it is made again.
		w.grantTo(ctx, "blue", "other", accountOf(w.namespace))
		Consistently(version(ctx, w, "blue")).WithContext(ctx).WithTimeout(quiet).Should(Equal(before))

		revoke(ctx, w, "red")
		Consistently(version(ctx, w, "blue")).WithContext(ctx).WithTimeout(quiet).Should(Equal(before))
		w.expectBound(ctx, w.namespace, "blue", "red")
	})

	It("of somebody else is neither changed nor deleted, and one of ours follows it", func(ctx SpecContext) {
		w := newRBACWorld(ctx)
		for _, short := range []string{"blue", "red"} {
			w.unboundSet(ctx, short)
		}

		byHand := w.bind(ctx, "blue")
		w.role(ctx, "blue", bindRule(w.names("blue", "red")...))
		w.grant(ctx, "blue", accountOf(w.namespace))
		Eventually(func(g Gomega) []string { return w.bound(ctx, g, w.namespace) }).
			WithContext(ctx).WithTimeout(settle).Should(Equal([]string{"blue", "red"}))

		same := func(g Gomega) metav1.ObjectMeta {
			found := w.bindings(ctx, g, w.namespace)[byHand.Name]

			return metav1.ObjectMeta{UID: found.UID, Generation: found.Generation, Labels: found.Labels, Annotations: found.Annotations}
		}
		untouched := metav1.ObjectMeta{UID: byHand.UID, Generation: byHand.Generation}
		Expect(same(Default)).To(Equal(untouched))

		revoke(ctx, w, "blue")
		Eventually(func(g Gomega) []string { return w.bound(ctx, g, w.namespace) }).
			WithContext(ctx).WithTimeout(settle).Should(Equal([]string{"blue"}))
		Consistently(same).WithContext(ctx).WithTimeout(quiet).Should(Equal(untouched))

		w.grant(ctx, "blue", accountOf(w.namespace))
		Expect(hub.Delete(ctx, byHand)).To(Succeed())
		w.expectBound(ctx, w.namespace, "blue", "red")
	})

	It("comes back when it is deleted", func(ctx SpecContext) {
		w := granted(ctx)
		Expect(hub.Delete(ctx, named(w, "blue"))).To(Succeed())
		w.expectBound(ctx, w.namespace, "blue", "red")
	})

	It("is left alone once it is handed over", func(ctx SpecContext) {
		w := granted(ctx)
		edit(ctx, named(w, "blue"), func(b *clusterv1beta2.ManagedClusterSetBinding) { b.Labels[handOver] = "true" })
		edit(ctx, named(w, "red"), func(b *clusterv1beta2.ManagedClusterSetBinding) { b.Annotations = map[string]string{handOver: "true"} })
		blue, red := version(ctx, w, "blue")(Default), version(ctx, w, "red")(Default)

		revoke(ctx, w, "blue")
		revoke(ctx, w, "red")
		Consistently(version(ctx, w, "blue")).WithContext(ctx).WithTimeout(quiet).Should(Equal(blue))
		Expect(version(ctx, w, "red")(Default)).To(Equal(red))

		edit(ctx, named(w, "red"), func(b *clusterv1beta2.ManagedClusterSetBinding) { b.Annotations[handOver] = "false" })
		gone(ctx, named(w, "red"))
		Expect(version(ctx, w, "blue")(Default)).To(Equal(blue))
	})

	It("is not deleted when it is handed over while it is being revoked", func(ctx SpecContext) {
		w := granted(ctx)
		revoke(ctx, w, "blue")
		edit(ctx, named(w, "blue"), func(b *clusterv1beta2.ManagedClusterSetBinding) { b.Labels[handOver] = "true" })
		blue := version(ctx, w, "blue")(Default)
		Consistently(version(ctx, w, "blue")).WithContext(ctx).WithTimeout(quiet).Should(Equal(blue))
	})

	It("of ours that nobody granted is deleted, whoever made it", func(ctx SpecContext) {
		w := granted(ctx)
		w.unboundSet(ctx, "green")

		forged := named(w, "green")
		forged.Labels = map[string]string{scope.ManagedByLabel: scope.Manager}
		forged.Spec.ClusterSet = forged.Name
		w.create(ctx, forged)
		gone(ctx, forged)
		w.expectBound(ctx, w.namespace, "blue", "red")
	})

	It("goes with the account, the role and the set, and comes back with them", func(ctx SpecContext) {
		w := granted(ctx)
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: scope.Account}}
		Expect(hub.Delete(ctx, account)).To(Succeed())
		w.expectBound(ctx, w.namespace)
		w.account(ctx, w.namespace)
		w.expectBound(ctx, w.namespace, "blue", "red")

		Expect(hub.Delete(ctx, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: w.name("blue")}})).To(Succeed())
		w.expectBound(ctx, w.namespace, "red")
		w.role(ctx, "blue", bindRule(w.name("blue")))
		w.expectBound(ctx, w.namespace, "blue", "red")

		Expect(hub.Delete(ctx, &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: w.name("red")}})).To(Succeed())
		w.expectBound(ctx, w.namespace, "blue")
		w.unboundSet(ctx, "red")
		w.expectBound(ctx, w.namespace, "blue", "red")
	})

	It("stays until the set is really gone, and goes as soon as the account is being deleted", func(ctx SpecContext) {
		w := granted(ctx)
		set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: w.name("blue")}}
		edit(ctx, set, func(s *clusterv1beta2.ManagedClusterSet) { s.Finalizers = []string{"example.com/hold"} })

		before := version(ctx, w, "blue")(Default)

		Expect(hub.Delete(ctx, set)).To(Succeed())
		Consistently(version(ctx, w, "blue")).WithContext(ctx).WithTimeout(quiet).Should(Equal(before))
		finish(ctx, set)
		w.expectBound(ctx, w.namespace, "red")

		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: scope.Account}}
		edit(ctx, account, func(a *corev1.ServiceAccount) { a.Finalizers = []string{"example.com/hold"} })
		Expect(hub.Delete(ctx, account)).To(Succeed())
		w.expectBound(ctx, w.namespace)
		finish(ctx, account)
	})

	It("is not made in a namespace that is being deleted", func(ctx SpecContext) {
		w := granted(ctx)
		doomed := w.another(ctx, "doomed")
		edit(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: doomed}}, func(n *corev1.Namespace) {
			n.Finalizers = []string{"example.com/hold"}
		})
		w.account(ctx, doomed)
		w.grantTo(ctx, "doomed", "blue", accountOf(doomed))
		w.expectBound(ctx, doomed, "blue")

		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: doomed}}
		Expect(hub.Delete(ctx, namespace)).To(Succeed())
		gone(ctx, &clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: doomed, Name: w.name("blue")}})

		refused := func(g Gomega) []string {
			return bindingWrites(g, func(namespace string) bool { return namespace == doomed })
		}
		before := unchanging(ctx, refused)

		w.grantTo(ctx, "doomed2", "red", accountOf(doomed))
		Consistently(refused).WithContext(ctx).WithTimeout(quiet).WithPolling(auditEvery).Should(Equal(before))
		finish(ctx, namespace)
	})

	It("B6: costs nothing at a restart, which finds what happened meanwhile", func(ctx SpecContext) {
		w := granted(ctx)
		hubWide := func(g Gomega) []string { return bindingWrites(g, func(string) bool { return true }) }
		looks := func(g Gomega) int {
			return counted(g, "controller_runtime_reconcile_total", map[string]string{"controller": "clustersetbinding-rbac"})
		}
		before, looked := unchanging(ctx, hubWide), looks(Default)

		stopHub()

		stopHub = startHub(serviceAccount(ctx, controlPlane))

		Eventually(looks).WithContext(ctx).WithTimeout(settle).Should(BeNumerically(">", looked))
		Consistently(hubWide).WithContext(ctx).WithTimeout(quiet).WithPolling(auditEvery).Should(Equal(before))

		stopHub()
		revoke(ctx, w, "blue")
		Expect(hub.Delete(ctx, named(w, "red"))).To(Succeed())

		stopHub = startHub(serviceAccount(ctx, controlPlane))

		w.expectBound(ctx, w.namespace, "red")

		stopHub()

		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: scope.Account}}
		Expect(hub.Delete(ctx, account)).To(Succeed())

		stopHub = startHub(serviceAccount(ctx, controlPlane))

		w.expectBound(ctx, w.namespace)
	})
})

var _ = Describe("A binding that follows from RBAC, where nothing is denied", Serial, Ordered, func() {
	BeforeAll(func(ctx SpecContext) { trust(ctx) })

	It("has an edit of its spec put back, and nothing else of it", func(ctx SpecContext) {
		w := newRBACWorld(ctx)
		w.unboundSet(ctx, "blue")
		w.role(ctx, "blue", bindRule(w.name("blue")))
		w.grant(ctx, "blue", accountOf(w.namespace))
		w.expectBound(ctx, w.namespace, "blue")

		var uid types.UID

		binding := &clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: w.name("blue")}}
		edit(ctx, binding, func(b *clusterv1beta2.ManagedClusterSetBinding) {
			uid = b.UID
			b.Spec.ClusterSet = "global"
			b.Annotations = map[string]string{"example.com/kept": "true"}
		})
		Eventually(func(g Gomega) {
			found := w.bindings(ctx, g, w.namespace)[binding.Name]
			g.Expect(found.Spec.ClusterSet).To(Equal(binding.Name))
			g.Expect(found.UID).To(Equal(uid))
			g.Expect(found.Annotations).To(HaveKey("example.com/kept"))
		}).WithContext(ctx).WithTimeout(settle).Should(Succeed())
	})
})
