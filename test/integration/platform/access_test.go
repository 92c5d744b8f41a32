// SPDX-License-Identifier: Apache-2.0

package platform

import (
	"context"
	"net"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/manifests"
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest/provider/access"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest/webhook"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/integration/providers"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

const (
	// accessProvider is the provider whose ServiceAccount may write the Secrets of AccessRequests.
	accessProvider = "loopback"
	// nullProvider is the one whose ServiceAccount may not.
	nullProvider = "null"
)

// hubAsTarget reaches all clusters at the API server of the hub.
type hubAsTarget struct{}

// Admin returns the client configuration of the API server.
func (hubAsTarget) Admin(context.Context, *openmcpv1alpha1.Cluster) (*rest.Config, error) {
	return suite.ControlPlane.AdminConfig(), nil
}

// givesAccess adds the controller of AccessRequests to a provider.
func givesAccess(mgr manager.Manager) error {
	return access.Setup(mgr, access.Settings{
		Provider: accessProvider, Environment: "test", Targets: hubAsTarget{}, Clock: clock.RealClock{}, Workers: 2, Timeout: time.Minute,
	})
}

// serveWebhook serves the webhook of AccessRequests until the spec ends.
func serveWebhook(ctx context.Context) {
	GinkgoHelper()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	base := "https://" + listener.Addr().String()
	Expect(manifests.InstallSystem(ctx, suite.ControlPlane.AdminConfig(), manifests.ClusterRequest, base)).To(Succeed())

	//nolint:contextcheck // It runs until the spec ends.
	DeferCleanup(suite.StartHub(suite.HubConfig(ctx, suite.ControlPlane), func(o *system.Options) {
		o.Controllers = []string{webhook.Controller}
		o.Webhook.Listener = listener
	}))
}

// user has a role of Kubernetes in the namespace of a world, and the rights that a spec adds.
type user struct {
	client.Client
	name string
}

// admin returns a new user with the role admin of Kubernetes.
func (w *world) admin(name string) *user {
	GinkgoHelper()
	return w.user(name, "admin")
}

// user returns a new user with a role in the namespace of the world.
func (w *world) user(name, role string) *user {
	GinkgoHelper()
	u := &user{suite.As(w.Name(name)), w.Name(name)}
	suite.Bind(w.ctx, w.Namespace, role, u.name)
	return u
}

// accessTo is the right to ask for access to a Cluster.
func accessTo(cluster *openmcpv1alpha1.Cluster) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{
		APIGroups: []string{openmcpv1alpha1.GroupVersion.Group}, Resources: []string{"clusters/access"}, ResourceNames: []string{cluster.Name},
		Verbs: []string{"create"},
	}
}

// bindOf is the right to bind a cluster set.
func bindOf(set string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{
		APIGroups: []string{clusterv1beta2.GroupName}, Resources: []string{"managedclustersets/bind"}, ResourceNames: []string{set},
		Verbs: []string{"create"},
	}
}

// accessRequest returns an AccessRequest of the namespace for the permission to read ConfigMaps.
func (w *world) accessRequest(name string, change func(*openmcpv1alpha1.AccessRequestSpec)) *openmcpv1alpha1.AccessRequest {
	a := &openmcpv1alpha1.AccessRequest{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name}}
	a.Spec.Permissions = []openmcpv1alpha1.Permission{{Namespace: w.Name("target"), Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get"}},
	}}}
	change(&a.Spec)
	return a
}

// toCluster refers to a Cluster.
func toCluster(cluster *openmcpv1alpha1.Cluster) func(*openmcpv1alpha1.AccessRequestSpec) {
	return func(spec *openmcpv1alpha1.AccessRequestSpec) {
		spec.ClusterRef = &openmcpv1alpha1.ObjectReference{Namespace: cluster.Namespace, Name: cluster.Name}
	}
}

// toRequest refers to a ClusterRequest.
func toRequest(request *openmcpv1alpha1.ClusterRequest) func(*openmcpv1alpha1.AccessRequestSpec) {
	return func(spec *openmcpv1alpha1.AccessRequestSpec) {
		spec.RequestRef = &openmcpv1alpha1.ObjectReference{Namespace: request.Namespace, Name: request.Name}
	}
}

// outcome waits until the present generation of an AccessRequest has this status and reason.
func (w *world) outcome(a *openmcpv1alpha1.AccessRequest, status openmcpv1alpha1.RequestPhase, reason string) {
	GinkgoHelper()
	w.eventually(func(g Gomega) {
		g.Expect(suite.Client.Get(w.ctx, client.ObjectKeyFromObject(a), a)).To(Succeed())
		g.Expect(string(a.Status.Status)+" "+a.Status.Reason).To(Equal(string(status)+" "+reason), a.Status.Message)
		g.Expect(a.Status.ObservedGeneration).To(Equal(a.Generation))
	})
}

// scene is what the spec of X5 begins with: a platform team has a cluster of its own and one that others share, and eve is a tenant.
type scene struct {
	platform, tenant *world
	owner, eve       *user
	// own and shared are the requests of the platform team, and tenants that of eve, which has landed on the shared Cluster.
	own, shared, tenants *openmcpv1alpha1.ClusterRequest
	// exclusive and common are the Clusters.
	exclusive, common *openmcpv1alpha1.Cluster
}

func newScene(ctx context.Context) *scene {
	GinkgoHelper()
	serveWebhook(ctx)
	provide(ctx, accessProvider, givesAccess)
	s := &scene{platform: newWorld(ctx), tenant: newWorld(ctx)}
	s.owner, s.eve = s.platform.admin("owner"), s.tenant.admin("eve")
	suite.Bind(ctx, s.tenant.Namespace, purposesRole, s.eve.name)

	s.platform.BindAny(ctx, defaultSet)
	s.own, s.shared = s.platform.request("own", s.platform.dedicated), s.platform.request("shared", s.platform.shared)
	s.exclusive, s.common = s.platform.published(s.own), s.platform.published(s.shared)

	s.tenants = &openmcpv1alpha1.ClusterRequest{ObjectMeta: metav1.ObjectMeta{Namespace: s.tenant.Namespace, Name: "shared"}}
	s.tenants.Spec.Purposes = s.shared.Spec.Purposes
	s.tenant.eventually(func(g Gomega) { g.Expect(s.eve.Create(ctx, s.tenants)).To(Succeed()) }) // The API server knows her role.
	Expect(s.tenant.published(s.tenants).UID).To(Equal(s.common.UID))
	return s
}

// notPlaced demands that eve cannot place on the clusters: by a binding, by a Placement, by a federated object, or past them.
func (s *scene) notPlaced(ctx context.Context) {
	GinkgoHelper()
	for _, set := range []string{defaultSet, "global"} {
		Expect(s.eve.Create(ctx, newBinding(s.tenant, set))).To(And(Satisfy(apierrors.IsForbidden), MatchError(ContainSubstring(
			`user "`+s.eve.name+`" is not allowed to bind cluster set "`+set+`"`))))
	}

	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: s.tenant.Namespace, Name: "p"}}
	placement.Spec = byClaim(s.platform.dedicated)
	Expect(s.eve.Create(ctx, placement)).To(Succeed())
	s.tenant.Expect(ctx, "p", suite.Outcome{
		Selected: []string{}, Satisfied: suite.NoBindings, Misconfigured: suite.Configured,
		Groups: []string{"0/: 0 [p-decision-1]"},
	})

	s.tenant.configMap("settings", s.platform.dedicated)
	s.platform.configMap("settings", s.platform.dedicated) // It arrives, after the hub has seen the one before.
	s.platform.eventually(func(g Gomega) { s.platform.delivered(g, s.exclusive.Status.ManagedCluster) })
	Expect(s.tenant.works(Default)).To(BeEmpty())
	work := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: s.exclusive.Status.ManagedCluster, Name: "by-eve"}}
	work.Spec.Workload.Manifests = []workv1.Manifest{{RawExtension: runtime.RawExtension{
		Raw: []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"default"}}`),
	}}}
	Expect(s.eve.Create(ctx, work)).To(Satisfy(apierrors.IsForbidden))
}

// notReached demands that eve gets no access to the clusters: by an AccessRequest, by the Secret of another one, or by a token of the agent.
func (s *scene) notReached(ctx context.Context) {
	GinkgoHelper()
	for name, to := range map[string]func(*openmcpv1alpha1.AccessRequestSpec){
		"clusters/access":        toCluster(s.exclusive),
		"clusterrequests/access": toRequest(s.own),
	} {
		Expect(s.eve.Create(ctx, s.tenant.accessRequest("refused", to))).To(And(Satisfy(apierrors.IsForbidden),
			MatchError(ContainSubstring(`this needs the verb "create" on `+name+` for that object`))))
	}
	Expect(s.eve.Create(ctx, s.tenant.accessRequest("refused", toCluster(s.common)))).To(Satisfy(apierrors.IsForbidden))

	denied := s.tenant.accessRequest("denied", toRequest(s.tenants))
	denied.Spec.Requester = &openmcpv1alpha1.Requester{Username: s.owner.name, Groups: []string{"system:masters"}}
	Expect(s.eve.Create(ctx, denied)).To(Succeed())
	Expect(denied.Spec.Requester.Username).To(Equal(s.eve.name), "she cannot ask in the name of somebody else")
	s.tenant.outcome(denied, openmcpv1alpha1.RequestDenied, openmcpv1alpha1.ReasonAccessNotAllowed)
	Expect(denied.Status.SecretRef).To(BeNil())
	Expect(denied.Finalizers).To(BeEmpty(), "no provider acts")
	secrets := &corev1.SecretList{}
	Expect(suite.Client.List(ctx, secrets, client.InNamespace(s.tenant.Namespace))).To(Succeed())
	Expect(secrets.Items).To(BeEmpty())

	granted := s.platform.accessRequest("granted", toRequest(s.own))
	s.platform.eventually(func(g Gomega) { g.Expect(s.owner.Create(ctx, granted)).To(Succeed()) })
	s.platform.outcome(granted, openmcpv1alpha1.RequestGranted, openmcpv1alpha1.ReasonSuccess)
	kubeconfig := client.ObjectKey{Namespace: granted.Namespace, Name: granted.Status.SecretRef.Name}
	Expect(s.owner.Get(ctx, kubeconfig, &corev1.Secret{})).To(Succeed())
	Expect(s.eve.Get(ctx, kubeconfig, &corev1.Secret{})).To(Satisfy(apierrors.IsForbidden))
	Expect(s.eve.Get(ctx, client.ObjectKeyFromObject(granted), granted.DeepCopy())).To(Satisfy(apierrors.IsForbidden))
	for _, namespace := range []string{granted.Namespace, s.exclusive.Status.ManagedCluster, metav1.NamespaceAll} {
		Expect(s.eve.List(ctx, secrets, client.InNamespace(namespace))).To(Satisfy(apierrors.IsForbidden), "namespace %q", namespace)
	}

	agent := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{
		Namespace: s.exclusive.Status.ManagedCluster, Name: clusterrequest.WorkAgent,
	}}
	Expect(s.eve.SubResource("token").Create(ctx, agent, &authenticationv1.TokenRequest{})).To(Satisfy(apierrors.IsForbidden))
}

var _ = Describe("a user without bind and without clusters/access", func() {
	It("cluster-request X5: can neither place on a cluster nor reach it, and can with these rights", func(ctx SpecContext) {
		s := newScene(ctx)
		s.notPlaced(ctx)
		s.notReached(ctx)

		By("giving her the right to bind")
		suite.Allow(s.platform.ctx, "", s.eve.name, bindOf(defaultSet))
		s.tenant.eventually(func(g Gomega) { g.Expect(s.eve.Create(ctx, newBinding(s.tenant, defaultSet))).To(Succeed()) })
		s.tenant.eventually(func(g Gomega) {
			s.tenant.selected(g, "p", s.exclusive.Status.ManagedCluster)
			s.tenant.delivered(g, s.exclusive.Status.ManagedCluster)
		})

		By("giving her the right to access")
		suite.Bind(s.platform.ctx, s.platform.Namespace, "open-cluster-management:placement-hub:clusterrequest-access", s.eve.name)
		granted := s.tenant.accessRequest("granted", toCluster(s.exclusive))
		s.tenant.eventually(func(g Gomega) { g.Expect(s.eve.Create(ctx, granted)).To(Succeed()) })
		s.tenant.outcome(granted, openmcpv1alpha1.RequestGranted, openmcpv1alpha1.ReasonSuccess)
		suite.Allow(s.tenant.ctx, s.common.Namespace, s.eve.name, accessTo(s.common))
		again := s.tenant.accessRequest("again", toRequest(s.tenants))
		Expect(s.eve.Create(ctx, again)).To(Succeed())
		s.tenant.outcome(again, openmcpv1alpha1.RequestGranted, openmcpv1alpha1.ReasonSuccess)
	})
})

var _ = Describe("a provider that gives no access", func() {
	It("cluster-request C36, C45: the hub denies it, and leaves what another provider has granted to that one", func(ctx SpecContext) {
		serveWebhook(ctx)
		giving, none := provide(ctx, accessProvider, givesAccess), provide(ctx, nullProvider, nil)
		w := newWorld(ctx)
		owner := w.admin("owner")
		cluster, other := providers.NewCluster(w.Namespace, "c", accessProvider), providers.NewCluster(w.Namespace, "other", nullProvider)
		w.Create(ctx, cluster)
		w.Create(ctx, other)
		granted := w.accessRequest("granted", toCluster(cluster))
		w.eventually(func(g Gomega) { g.Expect(owner.Create(ctx, granted)).To(Succeed()) })
		w.outcome(granted, openmcpv1alpha1.RequestGranted, openmcpv1alpha1.ReasonSuccess)

		By("losing the Cluster and deleting the AccessRequest while only the provider without access runs")
		giving.Stop()
		Expect(suite.Client.Delete(ctx, cluster)).To(Succeed())
		suite.DropFinalizers(ctx, cluster)
		suite.ExpectGone(ctx, cluster)
		Expect(owner.Delete(ctx, granted)).To(Succeed())

		denied := w.accessRequest("denied", toCluster(other))
		denied.Finalizers = []string{openmcpv1alpha1.AccessFinalizer}
		Expect(owner.Create(ctx, denied)).To(Succeed())
		w.outcome(denied, openmcpv1alpha1.RequestDenied, openmcpv1alpha1.ReasonNoAccess)
		Expect(denied.Status.Message).To(ContainSubstring("spec.access"))
		Consistently(func() []faults.Request {
			return none.Proxy.Requests(faults.Match{Resources: []string{"secrets", "accessrequests", "accessrequests/status"}})
		}).WithContext(ctx).WithTimeout(suite.QuietPeriod).Should(BeEmpty())
		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(granted), granted)).To(Succeed())
		Expect(granted.Status.Reason).To(Equal(openmcpv1alpha1.ReasonSuccess))

		By("deleting the AccessRequest that was denied: the hub removes the finalizer")
		Expect(owner.Delete(ctx, denied)).To(Succeed())
		suite.ExpectGone(ctx, denied)

		By("having the provider give access")
		waiting := w.accessRequest("waiting", toCluster(other))
		Expect(owner.Create(ctx, waiting)).To(Succeed())
		w.outcome(waiting, openmcpv1alpha1.RequestDenied, openmcpv1alpha1.ReasonNoAccess)
		Expect(suite.Client.Patch(ctx, &openmcpv1alpha1.ClusterProvider{ObjectMeta: metav1.ObjectMeta{Name: nullProvider}},
			client.RawPatch(types.MergePatchType, []byte(`{"spec":{"access":true}}`)))).To(Succeed())
		w.outcome(waiting, openmcpv1alpha1.RequestPending, openmcpv1alpha1.ReasonResolved)

		By("starting the provider that gave the access")
		startProvider(ctx, accessProvider, givesAccess)
		suite.ExpectGone(ctx, granted)
		Expect(suite.Client.Delete(ctx, other)).To(Succeed())
	})
})

// newBinding returns a binding of a set to the namespace of a world.
func newBinding(w *world, set string) *clusterv1beta2.ManagedClusterSetBinding {
	return &clusterv1beta2.ManagedClusterSetBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: set},
		Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: set},
	}
}
