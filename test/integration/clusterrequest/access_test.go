// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest/provider/access"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// forbidden expects that the API server refuses a list for want of a permission.
func forbidden(ctx SpecContext, member client.Client, list client.ObjectList, namespace string) {
	GinkgoHelper()
	Expect(apierrors.IsForbidden(member.List(ctx, list, client.InNamespace(namespace)))).To(BeTrue(), "namespace %q", namespace)
}

// rulesOf returns what a user may do in a namespace, as the API server tells the user.
func rulesOf(ctx SpecContext, member client.Client, namespace string) []authorizationv1.ResourceRule {
	GinkgoHelper()
	review := &authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: namespace}}
	Expect(member.Create(ctx, review)).To(Succeed())
	return review.Status.ResourceRules
}

// expectKeysOfKubeconfig expects that host, certificate authority and token beside the kubeconfig are its own, and that a client of them reaches
// the cluster: docs/spec/cluster-request.md C73.
func expectKeysOfKubeconfig(secret *corev1.Secret) {
	GinkgoHelper()
	config, err := clientcmd.RESTConfigFromKubeConfig(secret.Data[access.KubeconfigKey])
	Expect(err).NotTo(HaveOccurred())
	Expect(secret.Data).To(And(HaveKeyWithValue(access.HostKey, []byte(config.Host)), HaveKeyWithValue(access.CAKey, config.CAData),
		HaveKeyWithValue(access.TokenKey, []byte(config.BearerToken))))
	Expect(config.CAData).NotTo(BeEmpty())

	member, err := client.New(&rest.Config{
		Host: string(secret.Data[access.HostKey]), BearerToken: string(secret.Data[access.TokenKey]),
		TLSClientConfig: rest.TLSClientConfig{CAData: secret.Data[access.CAKey]},
	}, client.Options{Scheme: scheme.Known(), Mapper: suite.Client.RESTMapper()})
	Expect(err).NotTo(HaveOccurred())
	Expect(member.Create(context.Background(), &authorizationv1.SelfSubjectRulesReview{
		Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: metav1.NamespaceDefault},
	})).To(Succeed())
}

var _ = Describe("access", func() {
	It("cluster-request C29, C73: a kubeconfig with exactly the permissions", func(ctx SpecContext) {
		w := newWorld(ctx)
		request := w.request(w.mcp, nil)
		a := w.access(request, w.reads("configmaps"))
		secret := w.secret(a)
		member := clientOf(secret)
		w.mayList(member, &corev1.ConfigMapList{}, client.InNamespace(w.targetNamespace()))
		forbidden(ctx, member, &corev1.SecretList{}, w.targetNamespace())
		forbidden(ctx, member, &corev1.ConfigMapList{}, metav1.NamespaceDefault)
		forbidden(ctx, member, &corev1.ConfigMapList{}, metav1.NamespaceAll)

		write := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.targetNamespace(), Name: "x"}}
		Expect(apierrors.IsForbidden(member.Create(ctx, write))).To(BeTrue())
		everybody := rulesOf(ctx, w.member(w.access(request)), w.targetNamespace())
		given := slices.DeleteFunc(rulesOf(ctx, member, w.targetNamespace()), func(r authorizationv1.ResourceRule) bool {
			return slices.ContainsFunc(everybody, func(other authorizationv1.ResourceRule) bool { return reflect.DeepEqual(r, other) })
		})
		Expect(given).To(ConsistOf(authorizationv1.ResourceRule{
			Verbs: []string{"get", "list"}, APIGroups: []string{""}, Resources: []string{"configmaps"},
		}))

		Expect(metav1.IsControlledBy(secret, a)).To(BeTrue())
		Expect(secret.Data).To(And(HaveLen(6), HaveKey(access.CreationKey), HaveKey(access.ExpirationKey)))
		expectKeysOfKubeconfig(secret)
		Expect(a.Finalizers).To(ConsistOf(openmcpv1alpha1.AccessFinalizer))
		Expect(a.Labels).To(And(
			HaveKeyWithValue(openmcpv1alpha1.ProviderLabel, gardenerProvider), HaveKeyWithValue(openmcpv1alpha1.ProfileLabel, "aws")))
	})

	It("cluster-request C30: a permission without a namespace holds everywhere", func(ctx SpecContext) {
		w := newWorld(ctx)
		a := w.access(w.request(w.mcp, nil), openmcpv1alpha1.Permission{Rules: w.reads("configmaps").Rules})
		member := w.member(a)
		w.mayList(member, &corev1.ConfigMapList{})
		forbidden(ctx, member, &corev1.SecretList{}, metav1.NamespaceAll)
		Expect(w.made(Default, a)).To(ConsistOf(
			HavePrefix("ServiceAccount "), HavePrefix("ClusterRole "), HavePrefix("ClusterRoleBinding ")))
	})

	It("cluster-request C31: a reference that leads to nothing yet, or says nothing", func(ctx SpecContext) {
		w := newWorld(ctx)
		request := w.request("later-"+w.namespace, nil)
		w.refused(request, openmcpv1alpha1.RequestDenied, openmcpv1alpha1.ReasonPurposeNotFound)
		a := w.access(request, w.reads("configmaps"))
		w.outcome(a, openmcpv1alpha1.RequestPending, openmcpv1alpha1.ReasonInvalidReference)
		Expect(a.Status.Message).To(Equal("ClusterRequest '" + w.namespace + "/" + request.Name + "' is not granted"))
		unknown := w.accessWith(func(a *openmcpv1alpha1.AccessRequest) {
			a.Spec.RequestRef = &openmcpv1alpha1.ObjectReference{Name: "unknown"}
		})
		w.outcome(unknown, openmcpv1alpha1.RequestPending, openmcpv1alpha1.ReasonInvalidReference)
		Expect(unknown.Status.Message).To(Equal("ClusterRequest '" + w.namespace + "/unknown' not found"))

		cluster := w.accessWith(func(a *openmcpv1alpha1.AccessRequest) {
			a.Spec.ClusterRef = &openmcpv1alpha1.ObjectReference{Name: "unknown"}
		})
		w.outcome(cluster, openmcpv1alpha1.RequestPending, openmcpv1alpha1.ReasonInvalidReference)
		Expect(cluster.Status.Message).To(Equal("Cluster '" + w.namespace + "/unknown' not found"))
		for _, spec := range []openmcpv1alpha1.AccessRequestSpec{{}, {ClusterRef: cluster.Spec.ClusterRef, RequestRef: a.Spec.RequestRef}} {
			refused := &openmcpv1alpha1.AccessRequest{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "refused"}, Spec: spec}
			Expect(suite.Client.Create(ctx, refused)).To(MatchError(ContainSubstring("needs exactly one of clusterRef and requestRef")))
		}

		w.purpose("later-"+w.namespace, openmcpv1alpha1.PurposeSpec{Dedicated: true})
		w.secret(a)
	})

	It("cluster-request C32: a permission is removed", func(ctx SpecContext) {
		w := newWorld(ctx)
		a := w.access(w.request(w.mcp, nil), w.reads("configmaps"), w.reads("services"))
		member := w.member(a)
		w.mayList(member, &corev1.ServiceList{}, client.InNamespace(w.targetNamespace()))
		Expect(w.made(Default, a)).To(HaveLen(5))

		patch(w, a, func(a *openmcpv1alpha1.AccessRequest) { a.Spec.Permissions = a.Spec.Permissions[:1] })
		w.eventually(func(g Gomega) {
			g.Expect(w.made(g, a)).To(HaveLen(3))
			g.Expect(apierrors.IsForbidden(member.List(ctx, &corev1.ServiceList{}, client.InNamespace(w.targetNamespace())))).To(BeTrue())
		})
		w.outcome(a, openmcpv1alpha1.RequestGranted, openmcpv1alpha1.ReasonSuccess)
		Expect(member.List(ctx, &corev1.ConfigMapList{}, client.InNamespace(w.targetNamespace()))).To(Succeed())
	})

	It("cluster-request C35: a Role of the name exists", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.targetNamespace()}})
		foreign := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: w.targetNamespace(), Name: "taken"}}
		w.create(foreign)
		permission := w.reads("configmaps")
		permission.Name = "taken"
		a := w.access(w.request(w.mcp, nil), w.reads("services"), permission)
		w.outcome(a, openmcpv1alpha1.RequestDenied, openmcpv1alpha1.ReasonRoleExists)
		Expect(a.Status.Message).To(ContainSubstring("Role " + w.targetNamespace() + "/taken exists on the cluster"))
		Expect(w.made(Default, a)).To(BeEmpty())

		version := foreign.ResourceVersion
		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(foreign), foreign)).To(Succeed())
		Expect(foreign.ResourceVersion).To(Equal(version))

		w.remove(foreign)
		w.secret(a)
	})

	It("cluster-request C44: roles that exist, and a namespace that has to", func(ctx SpecContext) {
		w := newWorld(ctx)
		request := w.request(w.mcp, nil)
		role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: w.targetNamespace()}, Rules: w.reads("configmaps").Rules}
		other := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: role.Name + "-services"}, Rules: w.reads("services").Rules}
		w.create(role)
		w.create(other)

		bound := w.accessWith(func(a *openmcpv1alpha1.AccessRequest) {
			a.Spec.RequestRef = &openmcpv1alpha1.ObjectReference{Name: request.Name}
			a.Spec.RoleRefs = []openmcpv1alpha1.RoleReference{{Kind: openmcpv1alpha1.KindClusterRole, Name: role.Name}}
		})
		w.mayList(w.member(bound), &corev1.ConfigMapList{})

		patch(w, bound, func(a *openmcpv1alpha1.AccessRequest) { a.Spec.RoleRefs[0].Name = other.Name }) // A binding cannot change its role.
		member := w.member(bound)
		w.mayList(member, &corev1.ServiceList{})
		forbidden(ctx, member, &corev1.ConfigMapList{}, metav1.NamespaceAll)
		permission := w.reads("configmaps")
		permission.CreateNamespace = ptr.To(false)
		a := w.access(request, permission, openmcpv1alpha1.Permission{Rules: w.reads("services").Rules})
		w.outcome(a, openmcpv1alpha1.RequestPending, openmcpv1alpha1.ReasonNamespaceNotFound)
		Expect(w.made(Default, a)).To(BeEmpty())

		w.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.targetNamespace()}})
		w.secret(a)
	})

	It("cluster-request C37, C45: each provider gives access to its own clusters, and one gives none", func(ctx SpecContext) {
		w := newWorld(ctx)
		cluster := w.clusterOf(otherProvider)
		reached.with(func(asked *openmcpv1alpha1.Cluster, _ *rest.Config) error {
			if asked.Namespace == w.namespace && asked.Name == "none" {
				return fmt.Errorf("cluster %s: %w", asked.Name, access.ErrNoAccess)
			}
			return nil
		})

		a := w.accessTo(cluster)
		w.secret(a)
		Expect(reached.calls(gardenerProvider, cluster)).To(BeZero())
		Expect(reached.calls(otherProvider, cluster)).NotTo(BeZero())
		Expect(w.made(Default, a)).To(ContainElement("ServiceAccount " + clusterrequest.NewAccess("test", otherProvider, a).ID))
		none := cluster.DeepCopy()
		none.ObjectMeta = metav1.ObjectMeta{Namespace: w.namespace, Name: "none"}
		w.create(none)

		denied := w.accessTo(none)
		w.outcome(denied, openmcpv1alpha1.RequestDenied, openmcpv1alpha1.ReasonNoAccess)
		Expect(w.made(Default, denied)).To(BeEmpty())
		w.remove(denied)
		w.gone(denied)
	})
})
