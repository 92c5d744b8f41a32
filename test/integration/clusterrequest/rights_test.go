// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// asked matches the reviews of the hub.
var asked = faults.Match{Verbs: []string{"create"}, Resources: []string{"subjectaccessreviews"}}

// revoke takes all rights of the user of the world in a namespace away.
func (w *world) revoke(namespace string) {
	GinkgoHelper()
	bindings := &rbacv1.RoleBindingList{}
	Expect(suite.Client.List(w.ctx, bindings, client.InNamespace(namespace))).To(Succeed())
	for i := range bindings.Items {
		if subjects := bindings.Items[i].Subjects; len(subjects) == 1 && subjects[0].Name == w.user() {
			Expect(suite.Client.Delete(w.ctx, &bindings.Items[i])).To(Succeed())
		}
	}
}

// reviewedBy waits until the hub has sent a review after a change.
func (w *world) reviewedBy(change func()) {
	GinkgoHelper()
	before := len(proxy.Requests(asked))
	change()
	w.eventually(func(g Gomega) { g.Expect(len(proxy.Requests(asked))).To(BeNumerically(">", before)) })
}

var _ = Describe("a right that was reviewed once", func() {
	// grantedByRight returns an AccessRequest of the user that is granted because of a right in a namespace.
	grantedByRight := func(w *world, exclusive bool) (a *openmcpv1alpha1.AccessRequest, namespace string, right rbacv1.PolicyRule) {
		GinkgoHelper()
		right = rbacv1.PolicyRule{Verbs: []string{"create"}, APIGroups: []string{openmcpv1alpha1.GroupName}}
		var cluster *openmcpv1alpha1.Cluster
		if exclusive {
			cluster = w.clusterOf(gardenerProvider)
			right.Resources = []string{"accessrequests"}
		} else {
			_, cluster = w.granted(w.request(w.platform, nil))
			right.Resources, right.ResourceNames = []string{"clusters/access"}, []string{cluster.Name}
		}
		suite.Allow(w.ctx, cluster.Namespace, w.user(), right)
		a = w.accessWith(func(a *openmcpv1alpha1.AccessRequest) {
			w.byUser(a)
			a.Spec.ClusterRef = &openmcpv1alpha1.ObjectReference{Namespace: cluster.Namespace, Name: cluster.Name}
			a.Spec.Permissions = []openmcpv1alpha1.Permission{w.reads("configmaps")}
		})
		return a, cluster.Namespace, right
	}

	DescribeTable("T20: the access ends with it, and does not come back by itself", func(ctx SpecContext, exclusive bool) {
		w := newWorld(ctx)
		a, namespace, right := grantedByRight(w, exclusive)
		member := w.member(a)
		w.mayList(member, &corev1.ConfigMapList{}, client.InNamespace(w.targetNamespace()))

		By("losing it: the change of RBAC is reviewed")
		hubTime.later(time.Minute)
		w.reviewedBy(func() { w.revoke(namespace) })
		Consistently(func(g Gomega) { g.Expect(w.made(g, a)).NotTo(BeEmpty()) }).
			WithContext(ctx).WithTimeout(suite.QuietPeriod).Should(Succeed(), "one refusal ends nothing")

		By("the second refusal")
		// The first review may have been that of another AccessRequest.
		Eventually(func(g Gomega) {
			hubTime.later(clusterrequest.AccessReviewGrace)
			w.touch(a, time.Now().String())
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(a), a)).To(Succeed())
			g.Expect(a.Status.Reason).To(Equal(openmcpv1alpha1.ReasonAccessNotAllowed))
		}).WithContext(ctx).WithTimeout(suite.Timeout).WithPolling(time.Second).Should(Succeed())
		w.outcome(a, openmcpv1alpha1.RequestDenied, openmcpv1alpha1.ReasonAccessNotAllowed)
		w.nothingLeft(a)
		w.eventually(func(g Gomega) {
			err := member.List(ctx, &corev1.ConfigMapList{}, client.InNamespace(w.targetNamespace()))
			g.Expect(apierrors.IsUnauthorized(err)).To(BeTrue(), "%v", err)
			list := &eventsv1.EventList{}
			g.Expect(suite.Client.List(ctx, list, client.InNamespace(w.namespace))).To(Succeed())
			g.Expect(list.Items).To(ContainElement(And(HaveField("Reason", "AccessRemoved"), HaveField("Regarding.Name", a.Name),
				HaveField("Note", ContainSubstring("no permission to create "+right.Resources[0])))))
		})

		By("having it again for a while")
		suite.Allow(ctx, namespace, w.user(), right)
		hubTime.later(clusterrequest.AccessReviewPeriod)
		w.touch(a, "with the right")
		Consistently(func(g Gomega) {
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(a), a)).To(Succeed())
			g.Expect(a.Status.Reason).To(Equal(openmcpv1alpha1.ReasonAccessNotAllowed))
		}).WithContext(ctx).WithTimeout(suite.QuietPeriod + 2*time.Second).Should(Succeed())
		patch(w, a, func(a *openmcpv1alpha1.AccessRequest) {
			a.Spec.Permissions = []openmcpv1alpha1.Permission{w.reads("configmaps"), w.reads("secrets")}
		})
		w.secret(a)
	},
		Entry("clusters/access of a shared Cluster", false),
		Entry("the last role of the user, in the namespace of an exclusive Cluster", true),
	)

	It("T20: nothing ends by reviews that fail", func(ctx SpecContext) {
		w := newWorld(ctx)
		a, namespace, _ := grantedByRight(w, false)
		secret := w.secret(a)
		mend := proxy.Break(faults.Rule{Match: asked, Fault: faults.InternalError})
		DeferCleanup(mend)
		hubTime.later(time.Minute)
		w.reviewedBy(func() { w.revoke(namespace) })
		for range 3 {
			hubTime.later(time.Hour)
			w.reviewedBy(func() { w.touch(a, time.Now().String()) })
		}
		Expect(w.secret(a).UID).To(Equal(secret.UID))
		Expect(w.made(Default, a)).NotTo(BeEmpty())
	})

	It("T20: a refusal at the creation is final", func(ctx SpecContext) {
		w := newWorld(ctx)
		_, cluster := w.granted(w.request(w.platform, nil))
		a := w.accessWith(func(a *openmcpv1alpha1.AccessRequest) {
			w.byUser(a)
			a.Spec.ClusterRef = &openmcpv1alpha1.ObjectReference{Namespace: cluster.Namespace, Name: cluster.Name}
		})
		w.outcome(a, openmcpv1alpha1.RequestDenied, openmcpv1alpha1.ReasonAccessNotAllowed)
		version := a.ResourceVersion
		w.allow(cluster)
		hubTime.later(clusterrequest.AccessReviewPeriod)
		Consistently(func(g Gomega) {
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(a), a)).To(Succeed())
			g.Expect(a.ResourceVersion).To(Equal(version))
		}).WithContext(ctx).WithTimeout(suite.QuietPeriod + 2*time.Second).Should(Succeed())
	})
})
