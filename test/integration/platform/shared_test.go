// SPDX-License-Identifier: Apache-2.0

package platform

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("a shared Cluster", func() {
	It("T5: is out of reach of the namespace that asked for it first, whose end leaves it to the others", func(ctx SpecContext) {
		provide(ctx, nullProvider, nil)
		first, second := newWorld(ctx), newWorld(ctx)
		eve := first.user("eve", editRole)
		second.BindAny(ctx, defaultSet)
		cluster := first.published(first.request("first", first.shared))
		Expect(cluster.Namespace).To(Equal(clusterrequest.DefaultSharedNamespace))
		Expect(second.published(second.request("second", first.shared)).UID).To(Equal(cluster.UID))

		second.Create(ctx, &clusterv1beta1.Placement{
			ObjectMeta: metav1.ObjectMeta{Namespace: second.Namespace, Name: "others"}, Spec: byClaim(first.shared),
		})
		second.eventually(func(g Gomega) { second.selected(g, "others", cluster.Status.ManagedCluster) })

		By("deleting every Lease that a user of the first namespace may delete")
		first.eventually(func(g Gomega) { // Her role is known.
			g.Expect(eve.DeleteAllOf(ctx, &coordinationv1.Lease{}, client.InNamespace(first.Namespace))).To(Succeed())
		})
		Expect(eve.DeleteAllOf(ctx, &coordinationv1.Lease{}, client.InNamespace(cluster.Namespace))).To(Satisfy(apierrors.IsForbidden))
		Expect(eve.Delete(ctx, cluster)).To(Satisfy(apierrors.IsForbidden))

		By("deleting the first namespace")
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: first.Namespace}}
		Expect(suite.Client.Delete(ctx, namespace)).To(Succeed())
		suite.ExpectGone(ctx, namespace)
		after := &openmcpv1alpha1.Cluster{}
		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(cluster), after)).To(Succeed())
		Expect(after.UID).To(Equal(cluster.UID))
		Expect(after.DeletionTimestamp).To(BeNil())
		Expect(clusterrequest.RequestUIDs(after)).To(HaveLen(1))

		managed := &clusterv1.ManagedCluster{}
		Expect(suite.Client.Get(ctx, client.ObjectKey{Name: cluster.Status.ManagedCluster}, managed)).To(Succeed())
		Expect(managed.DeletionTimestamp).To(BeNil())
		Expect(meta.IsStatusConditionTrue(managed.Status.Conditions, clusterv1.ManagedClusterConditionAvailable)).To(BeTrue())
		Consistently(func(g Gomega) { second.selected(g, "others", cluster.Status.ManagedCluster) }).
			WithContext(ctx).WithTimeout(suite.QuietPeriod).Should(Succeed())
	})

	It("cluster-request C70: stays published without its last request where it is labelled so, and serves the next one", func(ctx SpecContext) {
		provide(ctx, nullProvider, nil)
		w := newWorld(ctx)
		request := w.request("only", w.shared)
		cluster := w.published(request)
		suite.Edit(ctx, cluster, func(c *openmcpv1alpha1.Cluster) { c.Labels[openmcpv1alpha1.DeleteWithoutRequestsLabel] = "false" })

		Expect(suite.Client.Delete(ctx, request)).To(Succeed())
		suite.ExpectGone(ctx, request)
		w.eventually(func(g Gomega) {
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(cluster), cluster)).To(Succeed())
			g.Expect(clusterrequest.RequestUIDs(cluster)).To(BeEmpty())
		})
		managed := &clusterv1.ManagedCluster{}

		Consistently(func(g Gomega) {
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(cluster), cluster)).To(Succeed())
			g.Expect(cluster.DeletionTimestamp).To(BeNil())
			g.Expect(meta.IsStatusConditionTrue(cluster.Status.Conditions, openmcpv1alpha1.ConditionPublished)).To(BeTrue())
			g.Expect(suite.Client.Get(ctx, client.ObjectKey{Name: cluster.Status.ManagedCluster}, managed)).To(Succeed())
			g.Expect(managed.DeletionTimestamp).To(BeNil())
			g.Expect(managed.Spec.Taints).To(BeEmpty())
		}).WithContext(ctx).WithTimeout(suite.QuietPeriod).Should(Succeed())

		next := w.request("next", w.shared)
		Expect(w.published(next).UID).To(Equal(cluster.UID))
		suite.Edit(ctx, cluster, func(c *openmcpv1alpha1.Cluster) { c.Labels[openmcpv1alpha1.DeleteWithoutRequestsLabel] = "true" })
	})

	It("T5: is reached by who has clusters/access for it, and not by who has that for another one beside it", func(ctx SpecContext) {
		serveWebhook(ctx)
		provide(ctx, accessProvider, givesAccess)
		w := newWorld(ctx)
		eve := w.user("eve", editRole)
		theirs := w.Name("theirs")
		w.Create(ctx, &openmcpv1alpha1.Purpose{ObjectMeta: metav1.ObjectMeta{Name: theirs}})
		cluster, another := w.published(w.request("mine", w.shared)), w.published(w.request("theirs", theirs))
		Expect(another.Namespace).To(Equal(cluster.Namespace))
		suite.Allow(ctx, cluster.Namespace, eve.name, accessTo(cluster))

		granted := w.accessRequest("granted", toCluster(cluster))
		w.eventually(func(g Gomega) { g.Expect(eve.Create(ctx, granted)).To(Succeed()) })
		w.outcome(granted, openmcpv1alpha1.RequestGranted, openmcpv1alpha1.ReasonSuccess)
		denied := w.accessRequest("denied", func(spec *openmcpv1alpha1.AccessRequestSpec) {
			spec.RequestRef = &openmcpv1alpha1.ObjectReference{Name: "theirs"}
		})
		Expect(eve.Create(ctx, denied)).To(Succeed())
		w.outcome(denied, openmcpv1alpha1.RequestDenied, openmcpv1alpha1.ReasonAccessNotAllowed)
		Expect(eve.Create(ctx, w.accessRequest("refused", toCluster(another)))).To(Satisfy(apierrors.IsForbidden))
	})
})
