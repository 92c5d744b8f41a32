// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// everything is the permission of an administrator of the cluster.
func everything() openmcpv1alpha1.Permission {
	return openmcpv1alpha1.Permission{Rules: []rbacv1.PolicyRule{{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}}}
}

// These specs have no admission policies: they are about what becomes of an AccessRequest that went without its finalizer all the same.
var _ = Describe("an AccessRequest that goes without its finalizer", func() {
	strip := func(w *world, a *openmcpv1alpha1.AccessRequest) {
		patch(w, a, func(a *openmcpv1alpha1.AccessRequest) { a.Finalizers = nil })
	}
	// successor changes an AccessRequest of the same name that comes after it; nil means that none comes.
	type successor func(w *world, a *openmcpv1alpha1.AccessRequest)

	DescribeTable("T19: keeps nothing on the cluster after its provider has started", func(
		ctx SpecContext, providerDown, hubDown, before bool, next successor,
	) {
		w := newWorld(ctx)
		name := "swept-" + w.namespace
		w.create(&openmcpv1alpha1.ClusterProvider{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: openmcpv1alpha1.ClusterProviderSpec{Access: true},
		})
		start := func() func() { return startProvider(suite.ControlPlane.AdminConfig(), name) }
		stop := start()
		a, neighbour := w.accessWith(func(a *openmcpv1alpha1.AccessRequest) {
			a.Spec.ClusterRef = &openmcpv1alpha1.ObjectReference{Name: w.clusterOf(name).Name}
			a.Spec.Permissions = []openmcpv1alpha1.Permission{everything()}
		}), w.accessTo(w.clusterOf(name))
		member, others := w.member(a), w.made(Default, a)
		w.secret(neighbour)
		Expect(others).NotTo(BeEmpty())
		others = w.made(Default, neighbour)
		w.mayList(member, &corev1.SecretList{})

		if providerDown {
			stop()
		}
		if hubDown {
			suite.StopHub()
			DeferCleanup(startHub)
		}
		if before {
			strip(w, a)
			w.remove(a)
		} else {
			patch(w, a, func(a *openmcpv1alpha1.AccessRequest) { a.Finalizers = append(a.Finalizers, "example.com/other") })
			w.remove(a)
			strip(w, a)
		}
		w.gone(a)
		if next != nil {
			again := &openmcpv1alpha1.AccessRequest{ObjectMeta: metav1.ObjectMeta{Namespace: a.Namespace, Name: a.Name}}
			again.Spec.ClusterRef = a.Spec.ClusterRef.DeepCopy()
			next(w, again)
			w.create(again)
		}

		if providerDown {
			start()
		}
		w.eventually(func(g Gomega) {
			err := member.List(ctx, &corev1.SecretList{})
			g.Expect(err).To(Or(Satisfy(apierrors.IsUnauthorized), Satisfy(apierrors.IsForbidden)))
		})
		w.eventually(func(g Gomega) { g.Expect(w.made(g, a)).NotTo(ContainElement(HavePrefix("ClusterRole"))) })
		Expect(w.made(Default, neighbour)).To(Equal(others), "what others have is left alone")
		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(neighbour), neighbour)).To(Succeed())
	},
		Entry("before the deletion, the provider is down", true, false, true, nil),
		Entry("during the deletion, the provider is down", true, false, false, nil),
		Entry("before the deletion, the hub is down", false, true, true, nil),
		Entry("during the deletion, the hub is down", false, true, false, nil),
		Entry("before the deletion, both are down", true, true, true, nil),
		Entry("before the deletion, both run", false, false, true, nil),
		Entry("during the deletion, both run", false, false, false, nil),
		Entry("another one of its name asks for less", true, false, true, successor(func(w *world, a *openmcpv1alpha1.AccessRequest) {
			a.Spec.Permissions = []openmcpv1alpha1.Permission{w.reads("configmaps")}
		})),
		Entry("another one of its name is never decided on", true, false, true, successor(func(_ *world, a *openmcpv1alpha1.AccessRequest) {
			a.Labels = map[string]string{openmcpv1alpha1.ProviderLabel: otherProvider}
			a.Finalizers = []string{openmcpv1alpha1.AccessFinalizer}
		})),
		Entry("another one of its name refers to another Cluster", true, false, true, successor(func(w *world, a *openmcpv1alpha1.AccessRequest) {
			a.Spec.ClusterRef.Name = w.clusterOf(otherProvider).Name
		})),
	)
})
