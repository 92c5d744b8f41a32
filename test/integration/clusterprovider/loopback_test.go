// SPDX-License-Identifier: Apache-2.0

package clusterprovider

import (
	"context"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	loopbackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcploopback/v1alpha1"
	clusterprovider "github.com/placement-hub/placement-hub/pkg/clusterrequest/provider"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest/provider/loopback"
	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/test/integration/providers"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

const (
	runs     = "True Running Succeeded"
	deleting = "True Running Deleting"
)

// running is a loopback provider that runs.
type running struct {
	*providers.Running

	provider *loopback.Provider
	stop     func() // with the API servers
}

// startProvider starts the loopback provider with a data directory.
func startProvider(ctx context.Context, dataDir string) *running {
	GinkgoHelper()
	return startProviderWith(ctx, dataDir, func(*loopback.Provider, manager.Manager) error { return nil })
}

// startProviderWith starts the loopback provider with a data directory and more controllers.
func startProviderWith(ctx context.Context, dataDir string, add func(*loopback.Provider, manager.Manager) error) *running {
	GinkgoHelper()

	p := loopback.New(loopback.Options{
		Name: provider, APIServer: assets.APIServer, Etcd: []string{suite.ControlPlane.EtcdURL()},
		DataDir: dataDir, Clock: clock.RealClock{}, Log: GinkgoWriter,
	})
	started := providers.Start(ctx, suite.ControlPlane, provider, clusterprovider.Settings{
		Name: provider, Provider: p, Config: &loopbackv1alpha1.ProviderConfig{},
	}, func(mgr manager.Manager) error { return add(p, mgr) })
	r := &running{Running: started, provider: p, stop: func() {
		started.Stop()
		Expect(p.Close()).To(Succeed())
	}}
	DeferCleanup(r.stop)

	return r
}

// admin returns a client with all rights in a Cluster.
func (r *running) admin(ctx context.Context, cluster *openmcpv1alpha1.Cluster) client.Client {
	GinkgoHelper()
	config, err := r.provider.Admin(ctx, cluster)
	Expect(err).NotTo(HaveOccurred())
	member, err := client.New(config, client.Options{})
	Expect(err).NotTo(HaveOccurred())
	return member
}

// url returns the URL of the API server of a Cluster.
func (r *running) url(ctx context.Context, cluster *openmcpv1alpha1.Cluster) string {
	GinkgoHelper()
	config, err := r.provider.Admin(ctx, cluster)
	Expect(err).NotTo(HaveOccurred())
	return config.Host
}

func awaitHealth(ctx context.Context, cluster *openmcpv1alpha1.Cluster, health string) {
	GinkgoHelper()
	Eventually(func(g Gomega) string { return providers.Health(ctx, g, cluster) }).
		WithContext(ctx).WithTimeout(suite.CollectTimeout).Should(Equal(health))
}

func awaitGone(ctx context.Context, object client.Object) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		err := suite.Client.Get(ctx, client.ObjectKeyFromObject(object), object)
		g.Expect(client.IgnoreNotFound(err)).To(Succeed())
		g.Expect(err).To(HaveOccurred())
	}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
}

// systemUID returns the UID of the namespace kube-system, which is that of the cluster.
func systemUID(ctx context.Context, member client.Client) string {
	GinkgoHelper()
	namespace := &corev1.Namespace{}
	Expect(member.Get(ctx, client.ObjectKey{Name: metav1.NamespaceSystem}, namespace)).To(Succeed())
	return string(namespace.UID)
}

var _ = Describe("the loopback provider", func() {
	It("cluster-request 4.4, C24, C56: an API server keeps its data over restarts, and is torn down without a trace", func(ctx SpecContext) {
		dataDir := GinkgoT().TempDir()
		first := startProvider(ctx, dataDir)
		cluster := providers.NewCluster(namespace, "a", provider)
		cluster.Finalizers = []string{openmcpv1alpha1.InventoryFinalizer}
		Expect(suite.Client.Create(ctx, cluster)).To(Succeed())
		awaitHealth(ctx, cluster, runs)
		Expect(cluster.Status.Endpoints).To(HaveLen(1))
		url := first.url(ctx, cluster)
		Expect(cluster.Status.Endpoints[0].URL).To(Equal(url))

		member := first.admin(ctx, cluster)
		uid := systemUID(ctx, member)
		Expect(member.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "kept"}})).To(Succeed())
		first.stop()

		By("restarting the provider")
		second := startProvider(ctx, dataDir)
		awaitKept(ctx, second, cluster, uid)
		Expect(second.url(ctx, cluster)).To(Equal(url), "the port")

		By("losing the profiles")
		published := &openmcpv1alpha1.ClusterProvider{}
		Expect(suite.Client.Get(ctx, client.ObjectKey{Name: provider}, published)).To(Succeed())
		published.Status = openmcpv1alpha1.ClusterProviderStatus{}
		Expect(suite.Client.Status().Update(ctx, published)).To(Succeed())
		Eventually(ctx, func(g Gomega) {
			g.Expect(suite.Client.Get(ctx, client.ObjectKey{Name: provider}, published)).To(Succeed())
			g.Expect(published.Status.Ready).To(BeTrue())
		}).Should(Succeed())

		By("losing the Cluster")
		Expect(suite.Client.Delete(ctx, cluster)).To(Succeed())
		awaitHealth(ctx, cluster, deleting)
		lost := cluster.DeepCopy()
		lost.Finalizers = nil
		Expect(suite.Client.Patch(ctx, lost, client.MergeFrom(cluster))).To(Succeed())
		awaitGone(ctx, lost)

		cluster = providers.NewCluster(namespace, "a", provider)
		cluster.Finalizers = []string{openmcpv1alpha1.InventoryFinalizer}
		Expect(suite.Client.Create(ctx, cluster)).To(Succeed())
		awaitHealth(ctx, cluster, runs)
		awaitKept(ctx, second, cluster, uid)

		By("deleting the Cluster while the hub holds it")
		Expect(suite.Client.Delete(ctx, cluster)).To(Succeed())
		awaitHealth(ctx, cluster, deleting)
		Expect(systemUID(ctx, second.admin(ctx, cluster))).To(Equal(uid), "it runs until the hub lets go")
		freed := cluster.DeepCopy()
		freed.Finalizers = []string{openmcpv1alpha1.ProviderFinalizer}
		Expect(suite.Client.Patch(ctx, freed, client.MergeFrom(cluster))).To(Succeed())
		awaitGone(ctx, freed)

		left, err := localplane.DeleteKeys(ctx, []string{suite.ControlPlane.EtcdURL()}, "/clusters/"+namespace+"/a")
		Expect(err).NotTo(HaveOccurred())
		Expect(left).To(BeZero(), "keys in etcd")
		Expect(filepath.Join(dataDir, "clusters", namespace, "a")).NotTo(BeADirectory())
		for _, role := range []string{"provider", "provider-leases", "provider-loopback-config"} {
			Expect(providers.Unused(ctx, "cluster.openmcp.cloud:"+role, first.Running, second.Running)).To(BeEmpty())
		}
	})

	It("cluster-request 4.4: publishes the profiles of its ProviderConfigs, and none of others", func(ctx SpecContext) {
		startProvider(ctx, GinkgoT().TempDir())
		published := &openmcpv1alpha1.ClusterProvider{ObjectMeta: metav1.ObjectMeta{Name: provider}}
		profiles := func(g Gomega) []openmcpv1alpha1.Profile {
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(published), published)).To(Succeed())
			return published.Status.Profiles
		}
		Eventually(profiles).WithTimeout(suite.Timeout).Should(HaveExactElements(And(
			HaveField("Name", openmcpv1alpha1.ProfileName("default")), HaveField("ProviderConfigRef.Name", "here"))))
		Expect(published.Status.Ready).To(BeTrue())

		config := &loopbackv1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "here"}}
		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(config), config)).To(Succeed())

		moved := config.DeepCopy()
		moved.Spec.ProviderRef.Name = "another"
		Expect(suite.Client.Patch(ctx, moved, client.MergeFrom(config))).To(Succeed())
		DeferCleanup(func(ctx SpecContext) {
			back := moved.DeepCopy()
			back.Spec.ProviderRef.Name = provider
			Expect(suite.Client.Patch(ctx, back, client.MergeFrom(moved))).To(Succeed())
		})
		Eventually(profiles).WithTimeout(suite.Timeout).Should(BeEmpty())
		Expect(published.Status.Ready).To(BeFalse())
		Expect(published.Status.Reason).To(Equal(clusterprovider.ReasonNoProfiles))
	})

	It("cluster-request 4.4: an API server that ends is started again, and one that cannot start is reported", func(ctx SpecContext) {
		dataDir := GinkgoT().TempDir()
		broken := filepath.Join(dataDir, "clusters", namespace, "b")
		Expect(os.MkdirAll(broken, 0o700)).To(Succeed())
		Expect(os.WriteFile(filepath.Join(broken, "port"), []byte("no port"), 0o600)).To(Succeed())
		r := startProvider(ctx, dataDir)
		cluster := providers.NewCluster(namespace, "b", provider)
		Expect(suite.Client.Create(ctx, cluster)).To(Succeed())
		awaitHealth(ctx, cluster, "False StartFailed Failed")
		Expect(os.Remove(filepath.Join(broken, "port"))).To(Succeed())
		awaitHealth(ctx, cluster, runs)

		uid := systemUID(ctx, r.admin(ctx, cluster))
		killAPIServer(broken)
		awaitKept(ctx, r, cluster, uid)

		Expect(suite.Client.Delete(ctx, cluster)).To(Succeed())
		awaitGone(ctx, cluster)
	})
})

// awaitKept waits until a Cluster runs and is the one with this UID.
func awaitKept(ctx context.Context, r *running, cluster *openmcpv1alpha1.Cluster, uid string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(cluster), cluster)).To(Succeed())
		config, err := r.provider.Admin(ctx, cluster)
		g.Expect(err).NotTo(HaveOccurred())
		member, err := client.New(config, client.Options{})
		g.Expect(err).NotTo(HaveOccurred())
		system := &corev1.Namespace{}
		g.Expect(member.Get(ctx, client.ObjectKey{Name: metav1.NamespaceSystem}, system)).To(Succeed())
		g.Expect(string(system.UID)).To(Equal(uid))
	}).WithContext(ctx).WithTimeout(suite.CollectTimeout).Should(Succeed())
}
