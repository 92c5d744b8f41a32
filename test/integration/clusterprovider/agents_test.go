// SPDX-License-Identifier: Apache-2.0

package clusterprovider

import (
	"context"
	"encoding/json"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/manifests"
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest/provider/access"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest/provider/loopback"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
	"github.com/placement-hub/placement-hub/pkg/localplane/workagent"
	"github.com/placement-hub/placement-hub/test/integration/providers"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// managedCluster is the name of the ManagedCluster of the spec, and of its namespace.
const managedCluster = "team-w-abcdef"

// withAgents adds the controllers of AccessRequests, whose tokens live by a clock, and of work agents to a provider.
func withAgents(agent string, tokens clock.PassiveClock) func(*loopback.Provider, manager.Manager) error {
	return func(p *loopback.Provider, mgr manager.Manager) error {
		err := access.Setup(mgr, access.Settings{
			Provider: provider, Environment: "test", Targets: p, Clock: tokens, Workers: 2, Timeout: time.Minute,
		})
		if err != nil {
			return err
		}
		return loopback.SetupAgents(mgr, p, loopback.AgentSettings{
			Queue:  queue.Settings{Workers: 2, Timeout: time.Minute, Clock: clock.RealClock{}},
			Binary: agent, Environment: "test", Namespace: providers.Namespace(provider), TokenLifetime: time.Hour,
		})
	}
}

// publish does what the controller clusters-inventory does for a Cluster, as far as the agent needs it.
func publish(ctx context.Context, cluster *openmcpv1alpha1.Cluster) {
	GinkgoHelper()
	account := metav1.ObjectMeta{Namespace: managedCluster, Name: clusterrequest.WorkAgent}
	Expect(suite.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: managedCluster}})).To(Succeed())
	Expect(suite.Client.Create(ctx, &corev1.ServiceAccount{ObjectMeta: account})).To(Succeed())
	Expect(workagent.GrantHub(ctx, suite.ControlPlane.AdminConfig(), managedCluster)).To(Succeed())
	Expect(suite.Client.Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: account,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "open-cluster-management:managedcluster:work"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: account.Namespace, Name: account.Name}},
	})).To(Succeed())

	published := cluster.DeepCopy()
	published.Status.ManagedCluster = managedCluster
	Expect(suite.Client.Status().Patch(ctx, published, client.MergeFrom(cluster))).To(Succeed())
}

// resolve does what the hub does for the AccessRequest of the agent.
func resolve(ctx context.Context, cluster *openmcpv1alpha1.Cluster) *openmcpv1alpha1.AccessRequest {
	GinkgoHelper()
	request := &openmcpv1alpha1.AccessRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: providers.Namespace(provider), Name: managedCluster},
	}
	Eventually(func() error { return suite.Client.Get(ctx, client.ObjectKeyFromObject(request), request) }).
		WithTimeout(suite.Timeout).Should(Succeed())
	labelled := request.DeepCopy()
	metav1.SetMetaDataLabel(&labelled.ObjectMeta, openmcpv1alpha1.ProviderLabel, provider)
	Expect(suite.Client.Patch(ctx, labelled, client.MergeFrom(request))).To(Succeed())

	request = labelled
	resolved := request.DeepCopy()
	resolved.Status.ClusterRef = &openmcpv1alpha1.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name}
	resolved.Status.Conditions = []metav1.Condition{{
		Type: openmcpv1alpha1.ConditionResolved, Status: metav1.ConditionTrue, Reason: openmcpv1alpha1.ReasonResolved,
		ObservedGeneration: request.Generation, LastTransitionTime: metav1.Now(),
	}}
	Expect(suite.Client.Status().Patch(ctx, resolved, client.MergeFrom(request))).To(Succeed())
	return resolved
}

// work returns a ManifestWork with a ConfigMap.
func work(name string) *workv1.ManifestWork {
	GinkgoHelper()
	content, err := json.Marshal(&corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name},
	})
	Expect(err).NotTo(HaveOccurred())
	object := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: managedCluster, Name: name}}
	object.Spec.Workload.Manifests = []workv1.Manifest{{RawExtension: runtime.RawExtension{Raw: content}}}
	return object
}

// renew moves the clock to where the token of an AccessRequest is due, and returns the Secret with the next one.
func renew(ctx context.Context, request *openmcpv1alpha1.AccessRequest, tokens *providers.Clock) *corev1.Secret {
	GinkgoHelper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: request.Namespace, Name: clusterrequest.SecretName(request.Name)}}
	Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(secret), secret)).To(Succeed())
	before := secret.DeepCopy()
	tokens.Advance(access.DefaultTokenLifetime * 81 / 100)
	touched := &openmcpv1alpha1.AccessRequest{}
	Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(request), touched)).To(Succeed())

	patch := client.MergeFrom(touched.DeepCopy())
	metav1.SetMetaDataAnnotation(&touched.ObjectMeta, "touched", "after 80 % of the lifetime")
	Expect(suite.Client.Patch(ctx, touched, patch)).To(Succeed())
	Eventually(func(g Gomega) {
		g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(secret), secret)).To(Succeed())
		g.Expect(secret.Data[access.KubeconfigKey]).NotTo(Equal(before.Data[access.KubeconfigKey]))
	}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	Expect(secret.UID).To(Equal(before.UID))
	return secret
}

var _ = Describe("the work agents of the loopback provider", func() {
	It("cluster-request C72: an agent with the access of an AccessRequest applies ManifestWorks until the hub lets go", func(ctx SpecContext) {
		agent, err := binaries.FindOCM(binaries.WorkAgent)
		Expect(err).NotTo(HaveOccurred())
		Expect(manifests.InstallManifestWorks(ctx, suite.ControlPlane.AdminConfig())).To(Succeed())
		dataDir := GinkgoT().TempDir()
		tokens := providers.NewClock()
		r := startProviderWith(ctx, dataDir, withAgents(agent.Path, tokens))
		cluster := providers.NewCluster(namespace, "w", provider)
		cluster.Finalizers = []string{openmcpv1alpha1.InventoryFinalizer}
		Expect(suite.Client.Create(ctx, cluster)).To(Succeed())
		awaitHealth(ctx, cluster, runs)

		publish(ctx, cluster)
		request := resolve(ctx, cluster)
		Expect(suite.Client.Create(ctx, work("delivered"))).To(Succeed())
		member := r.admin(ctx, cluster)
		delivered := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "delivered"}}
		Eventually(func() error { return member.Get(ctx, client.ObjectKeyFromObject(delivered), delivered) }).
			WithTimeout(suite.CollectTimeout).Should(Succeed())

		By("losing the marks, as of an AccessRequest that is older than them")
		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(request), request)).To(Succeed())
		Expect(request.Annotations).To(And(
			HaveKeyWithValue(loopback.ProviderAnnotation, provider), HaveKeyWithValue(loopback.EnvironmentAnnotation, "test")))

		unmarked := request.DeepCopy()
		unmarked.Annotations = nil
		Expect(suite.Client.Patch(ctx, unmarked, client.MergeFrom(request))).To(Succeed())
		Eventually(func(g Gomega) {
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(request), request)).To(Succeed())
			g.Expect(request.Annotations).To(HaveKeyWithValue(loopback.ProviderAnnotation, provider))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())

		By("renewing the token of the agent")
		renewed := renew(ctx, request, tokens)
		Expect(suite.Client.Create(ctx, work("later"))).To(Succeed())
		later := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "later"}}
		Eventually(func() error { return member.Get(ctx, client.ObjectKeyFromObject(later), later) }).
			WithTimeout(suite.CollectTimeout).Should(Succeed())

		By("letting go of the Cluster")
		Expect(suite.Client.Delete(ctx, cluster)).To(Succeed())
		awaitHealth(ctx, cluster, deleting)
		freed := cluster.DeepCopy()
		freed.Finalizers = []string{openmcpv1alpha1.ProviderFinalizer}
		Expect(suite.Client.Patch(ctx, freed, client.MergeFrom(cluster))).To(Succeed())
		awaitGone(ctx, freed)
		awaitGone(ctx, request)
		awaitGone(ctx, renewed)
		Expect(filepath.Join(dataDir, "agents", namespace, "w")).NotTo(BeADirectory())

		for _, role := range []string{"provider-access", "provider-access-secrets", "provider-loopback-agents"} {
			Expect(providers.Unused(ctx, "cluster.openmcp.cloud:"+role, r.Running)).To(BeEmpty(), role)
		}
		agents := "cluster.openmcp.cloud:provider-loopback-agents"
		Expect(providers.UnusedIn(ctx, providers.Namespace(provider), agents, r.Running)).To(BeEmpty())
	})

	It("cluster-request C72: without the binary of an agent nobody asks for access", func(ctx SpecContext) {
		startProvider(ctx, GinkgoT().TempDir())
		cluster := providers.NewCluster(namespace, "x", provider)
		cluster.Finalizers = []string{openmcpv1alpha1.InventoryFinalizer}
		Expect(suite.Client.Create(ctx, cluster)).To(Succeed())
		awaitHealth(ctx, cluster, runs)
		published := cluster.DeepCopy()
		published.Status.ManagedCluster = "team-x-abcdef"
		Expect(suite.Client.Status().Patch(ctx, published, client.MergeFrom(cluster))).To(Succeed())

		requests := &openmcpv1alpha1.AccessRequestList{}
		Consistently(func(g Gomega) {
			g.Expect(suite.Client.List(ctx, requests)).To(Succeed())
			g.Expect(requests.Items).To(BeEmpty())
		}).WithTimeout(suite.QuietPeriod).Should(Succeed())
		freed := published.DeepCopy()
		freed.Finalizers = []string{openmcpv1alpha1.ProviderFinalizer}
		Expect(suite.Client.Patch(ctx, freed, client.MergeFrom(published))).To(Succeed())
		Expect(suite.Client.Delete(ctx, freed)).To(Succeed())
		awaitGone(ctx, freed)
	})

	It("T6: after a restart only the AccessRequests of this provider and environment are deleted", func(ctx SpecContext) {
		agent, err := binaries.FindOCM(binaries.WorkAgent)
		Expect(err).NotTo(HaveOccurred())
		cluster := providers.NewCluster(namespace, "t6", "another")
		Expect(suite.Client.Create(ctx, cluster)).To(Succeed())

		made := clusterrequest.ManagedClusterName(client.ObjectKeyFromObject(cluster))
		request := func(name string, annotations map[string]string) *openmcpv1alpha1.AccessRequest {
			a := &openmcpv1alpha1.AccessRequest{ObjectMeta: metav1.ObjectMeta{
				Namespace: providers.Namespace(provider), Name: name, Annotations: annotations,
			}}
			a.Spec.ClusterRef = &openmcpv1alpha1.ObjectReference{Namespace: cluster.Namespace, Name: cluster.Name}
			Expect(suite.Client.Create(ctx, a)).To(Succeed())
			return a
		}
		marks := func(name, environment string) map[string]string {
			return map[string]string{loopback.ProviderAnnotation: name, loopback.EnvironmentAnnotation: environment}
		}

		others := []client.Object{
			request("of-an-admin", nil), request("of-null", map[string]string{loopback.ProviderAnnotation: "null"}),
			request("of-another-loopback", marks("loopback-2", "test")), request("of-another-environment", marks(provider, "other")),
		}
		for name, annotations := range map[string]map[string]string{"marked": marks(provider, "test"), made: nil} {
			own := request(name, annotations)
			r := startProviderWith(ctx, GinkgoT().TempDir(), withAgents(agent.Path, clock.RealClock{}))
			awaitGone(ctx, own)
			r.stop()
		}

		for _, other := range others {
			Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(other), other)).To(Succeed())
			Expect(other.GetDeletionTimestamp()).To(BeNil(), other.GetName())
			Expect(suite.Client.Delete(ctx, other)).To(Succeed())
		}
		Expect(suite.Client.Delete(ctx, cluster)).To(Succeed())
	})
})
