// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest/provider/access"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// user is the requester of the AccessRequests of a world.
func (w *world) user() string { return "user-of-" + w.namespace }

// byUser makes the user of the world the requester, as the webhook does.
func (w *world) byUser(a *openmcpv1alpha1.AccessRequest) {
	a.Spec.Requester = &openmcpv1alpha1.Requester{Username: w.user()}
}

// allow gives the user of the world the permission to access a Cluster, and waits until the API server knows it.
func (w *world) allow(cluster *openmcpv1alpha1.Cluster) {
	GinkgoHelper()
	suite.Allow(w.ctx, cluster.Namespace, w.user(), rbacv1.PolicyRule{
		Verbs: []string{"create"}, APIGroups: []string{openmcpv1alpha1.GroupName}, Resources: []string{"clusters/access"},
		ResourceNames: []string{cluster.Name},
	})
}

// touch changes the metadata of an AccessRequest, so that hub and provider reconcile it.
func (w *world) touch(a *openmcpv1alpha1.AccessRequest, value string) {
	GinkgoHelper()
	patch(w, a, func(a *openmcpv1alpha1.AccessRequest) { metav1.SetMetaDataAnnotation(&a.ObjectMeta, "touched", value) })
}

var _ = Describe("access and time", func() {
	It("cluster-request C34: the ttl is over", func(ctx SpecContext) {
		w := newWorld(ctx)
		a := w.access(w.request(w.mcp, nil), w.reads("configmaps"))
		w.secret(a)
		patch(w, a, func(a *openmcpv1alpha1.AccessRequest) {
			a.Spec.TTL = &metav1.Duration{Duration: time.Since(a.CreationTimestamp.Time) + 2*time.Second}
		})
		w.gone(a)
		w.nothingLeft(a)
	})

	It("cluster-request C36: the cluster does not answer while its AccessRequest is deleted", func(ctx SpecContext) {
		w := newWorld(ctx)
		cluster := w.clusterOf(gardenerProvider)
		a, other := w.accessTo(cluster), w.accessTo(cluster)
		w.secret(a)
		w.secret(other)
		reached.with(func(asked *openmcpv1alpha1.Cluster, config *rest.Config) error {
			if asked.Namespace == w.namespace {
				config.Host = "https://127.0.0.1:1"
			}
			return nil
		})

		w.remove(a)
		w.outcome(a, openmcpv1alpha1.RequestPending, openmcpv1alpha1.ReasonError)
		Expect(a.Status.Message).To(ContainSubstring("connection refused"))
		Expect(a.Finalizers).To(ConsistOf(openmcpv1alpha1.AccessFinalizer))
		Expect(w.made(Default, a)).NotTo(BeEmpty())

		w.touch(other, "while the cluster is away")
		w.outcome(other, openmcpv1alpha1.RequestGranted, openmcpv1alpha1.ReasonSuccess)

		w.remove(cluster)
		w.gone(cluster)
		w.gone(a)
		w.gone(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: a.Namespace, Name: a.Name + ".kubeconfig"}})

		w.outcome(other, openmcpv1alpha1.RequestGranted, openmcpv1alpha1.ReasonSuccess) // A Cluster that is missing may come back.
	})

	It("cluster-request C38, C73: a token is renewed at 80 % of its life, and before that nothing is written", func(ctx SpecContext) {
		w := newWorld(ctx)
		cluster := w.clusterOf(gardenerProvider)
		a := w.accessTo(cluster)
		secret := w.secret(a)
		made := w.made(Default, a)
		for range 2 { // The second reconcile begins after the first, and all its writes.
			calls := reached.calls(gardenerProvider, cluster)
			w.touch(a, time.Now().String())
			w.eventually(func(g Gomega) { g.Expect(reached.calls(gardenerProvider, cluster)).To(BeNumerically(">", calls)) })
		}

		same := w.secret(a)
		Expect(same.ResourceVersion).To(Equal(secret.ResourceVersion))
		account := &corev1.ServiceAccountList{}
		Expect(suite.Client.List(ctx, account, client.MatchingLabels{openmcpv1alpha1.AccessRequestNamespaceLabel: w.namespace})).To(Succeed())

		providerTime.by.Store(int64(tokenLifetime * 81 / 100))
		DeferCleanup(func() { providerTime.by.Store(0) })
		w.touch(a, "later")
		w.eventually(func(g Gomega) {
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(secret), same)).To(Succeed())
			g.Expect(same.Data["kubeconfig"]).NotTo(Equal(secret.Data["kubeconfig"]))
		})
		Expect(same.UID).To(Equal(secret.UID))
		Expect(same.Data[access.TokenKey]).NotTo(Equal(secret.Data[access.TokenKey]))
		expectKeysOfKubeconfig(same)
		Expect(w.made(Default, a)).To(Equal(made))

		after := &corev1.ServiceAccountList{}
		Expect(suite.Client.List(ctx, after, client.MatchingLabels{openmcpv1alpha1.AccessRequestNamespaceLabel: w.namespace})).To(Succeed())
		Expect(after.Items).To(Equal(account.Items))
		Expect(clientOf(same).List(ctx, &corev1.ConfigMapList{}, client.InNamespace(w.targetNamespace()))).To(Succeed())
	})

	It("cluster-request 4.1.6: a Secret of the name that somebody else made is left alone", func(ctx SpecContext) {
		w := newWorld(ctx)
		foreign := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "mine.kubeconfig"}}
		w.create(foreign)

		cluster := w.clusterOf(gardenerProvider)
		a := w.accessWith(func(a *openmcpv1alpha1.AccessRequest) {
			a.Name, a.Spec.ClusterRef = "mine", &openmcpv1alpha1.ObjectReference{Name: cluster.Name}
		})
		w.outcome(a, openmcpv1alpha1.RequestPending, openmcpv1alpha1.ReasonError)
		Expect(a.Status.Message).To(ContainSubstring("Secret mine.kubeconfig exists"))
		w.remove(a)
		w.gone(a)

		version := foreign.ResourceVersion
		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(foreign), foreign)).To(Succeed())
		Expect(foreign.ResourceVersion).To(Equal(version))
	})
})

var _ = Describe("access to shared Clusters", func() {
	It("cluster-request C40: needs a permission of the requester in the namespace of the Cluster too", func(ctx SpecContext) {
		w := newWorld(ctx)
		request := w.request(w.platform, nil)
		_, cluster := w.granted(request)

		byRequest := w.accessWith(func(a *openmcpv1alpha1.AccessRequest) {
			w.byUser(a)
			a.Spec.RequestRef = &openmcpv1alpha1.ObjectReference{Name: request.Name}
		})
		byCluster := w.accessWith(func(a *openmcpv1alpha1.AccessRequest) {
			w.byUser(a)
			a.Spec.ClusterRef = &openmcpv1alpha1.ObjectReference{Namespace: cluster.Namespace, Name: cluster.Name}
		})
		nobody := w.access(request)
		for _, a := range []*openmcpv1alpha1.AccessRequest{byRequest, byCluster, nobody} {
			w.outcome(a, openmcpv1alpha1.RequestDenied, openmcpv1alpha1.ReasonAccessNotAllowed)
			Expect(w.made(Default, a)).To(BeEmpty())
			Expect(a.Finalizers).To(BeEmpty())
			Expect(a.Status.ClusterRef).To(BeNil())
		}

		Expect(byCluster.Status.Message).To(ContainSubstring("user '" + w.user() + "' has no permission to create clusters/access"))

		w.allow(cluster)
		for _, a := range []*openmcpv1alpha1.AccessRequest{byRequest, byCluster} {
			patch(w, a, func(a *openmcpv1alpha1.AccessRequest) {
				a.Spec.Permissions = []openmcpv1alpha1.Permission{w.reads("configmaps")}
			})
			Expect(w.member(a).List(ctx, &corev1.ConfigMapList{}, client.InNamespace(w.targetNamespace()))).To(Succeed())
		}
	})

	It("cluster-request C41: a request lands on a shared Cluster later", func(ctx SpecContext) {
		w := newWorld(ctx)
		request := w.request("later-"+w.namespace, nil)
		a := w.accessWith(func(a *openmcpv1alpha1.AccessRequest) {
			w.byUser(a)
			a.Spec.RequestRef = &openmcpv1alpha1.ObjectReference{Name: request.Name}
		})
		w.outcome(a, openmcpv1alpha1.RequestPending, openmcpv1alpha1.ReasonInvalidReference)

		w.purpose("later-"+w.namespace, openmcpv1alpha1.PurposeSpec{})
		w.outcome(a, openmcpv1alpha1.RequestDenied, openmcpv1alpha1.ReasonAccessNotAllowed)
		Expect(w.made(Default, a)).To(BeEmpty())
		_, cluster := w.granted(request)
		w.allow(cluster)
		patch(w, a, func(a *openmcpv1alpha1.AccessRequest) { a.Spec.TTL = &metav1.Duration{Duration: time.Hour} })
		w.secret(a)
	})

	It("cluster-request 4.1.6: a granted access that may not be had any more goes with the next change of the spec", func(ctx SpecContext) {
		w := newWorld(ctx)
		_, cluster := w.granted(w.request(w.platform, nil))
		w.allow(cluster)

		a := w.accessWith(func(a *openmcpv1alpha1.AccessRequest) {
			w.byUser(a)
			a.Spec.ClusterRef = &openmcpv1alpha1.ObjectReference{Namespace: cluster.Namespace, Name: cluster.Name}
			a.Spec.Permissions = []openmcpv1alpha1.Permission{w.reads("configmaps")}
		})
		w.secret(a)
		patch(w, a, func(a *openmcpv1alpha1.AccessRequest) { a.Spec.Requester.Username = "somebody" })
		w.outcome(a, openmcpv1alpha1.RequestDenied, openmcpv1alpha1.ReasonAccessNotAllowed)
		w.nothingLeft(a)
		w.eventually(func(g Gomega) {
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(a), a)).To(Succeed())
			g.Expect(a.Finalizers).To(BeEmpty())
			g.Expect(a.Labels).NotTo(HaveKey(openmcpv1alpha1.ProviderLabel))
			g.Expect(a.Status.ClusterRef).To(BeNil())
			g.Expect(a.Status.SecretRef).To(BeNil())
		})
	})

	It("cluster-request C42: access goes with its request, and stays when its status is lost", func(ctx SpecContext) {
		w := newWorld(ctx)
		request, stays := w.request(w.platform, nil), w.request(w.platform, nil)
		_, cluster := w.granted(request)
		w.granted(stays)
		w.allow(cluster)

		made := map[*openmcpv1alpha1.ClusterRequest]*openmcpv1alpha1.AccessRequest{}
		for _, r := range []*openmcpv1alpha1.ClusterRequest{request, stays} {
			made[r] = w.accessWith(func(a *openmcpv1alpha1.AccessRequest) {
				w.byUser(a)
				a.Spec.RequestRef = &openmcpv1alpha1.ObjectReference{Name: r.Name}
				a.Spec.Permissions = []openmcpv1alpha1.Permission{w.reads("configmaps")}
			})
		}
		a, other := made[request], made[stays]
		member, secret := w.member(a), w.secret(other)

		w.remove(request)
		w.nothingLeft(a)
		w.outcome(a, openmcpv1alpha1.RequestPending, openmcpv1alpha1.ReasonInvalidReference)
		w.eventually(func(g Gomega) {
			err := member.List(ctx, &corev1.ConfigMapList{}, client.InNamespace(w.targetNamespace()))
			g.Expect(apierrors.IsUnauthorized(err)).To(BeTrue(), "%v", err)
		})
		w.eventually(func(g Gomega) {
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(a), a)).To(Succeed())
			g.Expect(a.Status.ClusterRef).To(BeNil())
			g.Expect(a.Status.Message).To(ContainSubstring("not found"))
		})

		other.Status = openmcpv1alpha1.AccessRequestStatus{}
		Expect(suite.Client.Status().Update(ctx, other)).To(Succeed())
		Expect(w.secret(other).ResourceVersion).To(Equal(secret.ResourceVersion))
		Expect(clientOf(secret).List(ctx, &corev1.ConfigMapList{}, client.InNamespace(w.targetNamespace()))).To(Succeed())
	})

	It("cluster-request C43: users label an AccessRequest otherwise", func(ctx SpecContext) {
		w := newWorld(ctx)
		request := w.request(w.mcp, nil)
		a := w.accessWith(func(a *openmcpv1alpha1.AccessRequest) {
			a.Labels = map[string]string{openmcpv1alpha1.ProviderLabel: otherProvider}
			a.Spec.RequestRef = &openmcpv1alpha1.ObjectReference{Name: request.Name}
		})
		w.outcome(a, openmcpv1alpha1.RequestPending, openmcpv1alpha1.ReasonLabelConflict)
		Expect(a.Labels).To(HaveKeyWithValue(openmcpv1alpha1.ProviderLabel, otherProvider))
		Expect(a.Finalizers).To(BeEmpty())
		Expect(w.made(Default, a)).To(BeEmpty())

		patch(w, a, func(a *openmcpv1alpha1.AccessRequest) { delete(a.Labels, openmcpv1alpha1.ProviderLabel) })
		secret := w.secret(a)
		patch(w, a, func(a *openmcpv1alpha1.AccessRequest) { a.Labels[openmcpv1alpha1.ProviderLabel] = otherProvider })
		w.outcome(a, openmcpv1alpha1.RequestPending, openmcpv1alpha1.ReasonLabelConflict)
		Expect(w.made(Default, a)).NotTo(BeEmpty(), "a label takes no access away")

		patch(w, a, func(a *openmcpv1alpha1.AccessRequest) { delete(a.Labels, openmcpv1alpha1.ProviderLabel) })
		Expect(w.secret(a).UID).To(Equal(secret.UID))
		w.remove(a)
		w.gone(a)
		w.nothingLeft(a)
	})
})
