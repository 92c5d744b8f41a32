// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/clustersets/webhook"
	"github.com/placement-hub/placement-hub/pkg/decoding"
	"github.com/placement-hub/placement-hub/pkg/hub/webhookserver"
	"github.com/placement-hub/placement-hub/pkg/hub/webhookserver/certificates"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("The certificates of the webhook", Ordered, func() {
	BeforeAll(func(ctx SpecContext) { separateAPIServer(ctx) })

	It("are made while no API server asks, and given to one that begins to", func(ctx SpecContext) {
		url, stop := startWebhook(ctx)
		DeferCleanup(func() { stop() })
		Eventually(func(g Gomega) { g.Expect(certificatesOf(ctx, g).Type).To(Equal(corev1.SecretTypeTLS)) }).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		install(ctx, url)
		trustingSecret(ctx)
	})

	It("are not written by a restart, nor is the installation when it is repeated", func(ctx SpecContext) {
		url, stop := startWebhook(ctx)
		install(ctx, url)
		stop()
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", strings.TrimPrefix(url, "https://"))
		Expect(err).NotTo(HaveOccurred())
		settled := suite.AwaitUnchanged(ctx, webhookWrites)
		bundles := webhookBundles(ctx, Default)

		_, stop = startWebhook(ctx, func(o *system.Options) {
			Expect(o.Webhook.Listener.Close()).To(Succeed())
			o.Webhook.Listener = listener
		})
		DeferCleanup(func() { stop() })
		Expect(manifests.InstallWebhook(ctx, suite.ControlPlane.AdminConfig(), url)).To(Succeed())
		Expect(webhookBundles(ctx, Default)).To(Equal(bundles))
		awaitDefaults(ctx)
		Consistently(webhookWrites).WithContext(ctx).WithTimeout(suite.QuietPeriod).WithPolling(suite.AuditInterval).Should(Equal(settled))
	})

	It("are mended when somebody edits or deletes them", func(ctx SpecContext) {
		url, stop := startWebhook(ctx)
		DeferCleanup(func() { stop() })
		install(ctx, url)

		By("editing the Secret")

		suite.Edit(ctx, certificatesOf(ctx, Default), func(secret *corev1.Secret) {
			secret.Data["ca-bundle.crt"], secret.Data[corev1.TLSCertKey] = []byte("edited"), []byte("edited")
			secret.Labels = map[string]string{"example.com/kept": "true"}
		})
		Eventually(func(g Gomega) {
			secret := certificatesOf(ctx, g)
			g.Expect(secret.Data[corev1.TLSCertKey]).NotTo(BeEquivalentTo("edited"))
			g.Expect(secret.Labels).To(HaveKey("example.com/kept"))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		trustingSecret(ctx)
		awaitDefaults(ctx)

		By("deleting the Secret")

		Expect(suite.Client.Delete(ctx, certificatesOf(ctx, Default))).To(Succeed())
		trustingSecret(ctx)
		awaitDefaults(ctx)

		By("editing a configuration")

		suite.Edit(ctx, &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: webhook.Configuration}},
			func(c *admissionregistrationv1.MutatingWebhookConfiguration) {
				c.Webhooks[0].ClientConfig.CABundle = nil
			})
		trustingSecret(ctx)
		awaitDefaults(ctx)

		By("deleting a configuration, and installing it again")
		validating := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: webhook.Configuration}}
		Expect(suite.Client.Delete(ctx, validating)).To(Succeed())
		install(ctx, url)
		trustingSecret(ctx)
	})

	It("are served by a replica that does not lead, at another address of the same configurations", func(ctx SpecContext) {
		url, stop := startWebhook(ctx)
		DeferCleanup(func() { stop() })
		install(ctx, url)
		standby := standBy(ctx)
		install(ctx, standby)
		stop()
		awaitDefaults(ctx)
	})

	It("are rotated during 2,000 reviews, none of which fails", func(ctx SpecContext) {
		// What is due is done seconds before it is too late, also on a loaded machine.
		schedule := certificates.Schedule{Authority: 36 * time.Second, Serving: 21 * time.Second, Trust: 4 * time.Second, Skew: 3 * time.Second}
		Expect(client.IgnoreNotFound(suite.Client.Delete(ctx, certificatesOf(ctx, Default)))).To(Succeed())
		url, stop := startWebhook(ctx, func(o *system.Options) { o.Webhook.Schedule = schedule })
		DeferCleanup(func() { stop() })
		install(ctx, url)
		const (
			clients = 4
			reviews = 2000
		)

		authorities, served := map[string]bool{}, map[string]bool{}
		count, stopLoad := load(ctx, clients)
		Eventually(func(g Gomega) {
			// Those who ask now trust what the configurations say now.
			bundle := webhookBundles(ctx, Default)[0]
			leaf := handshake(ctx, url, bundle)
			served[leaf.SerialNumber.String()] = true
			authorities[bundle] = true
			g.Expect(len(authorities)).To(BeNumerically(">=", 4), "bundles of one authority, two, one and two")
			g.Expect(len(served)).To(BeNumerically(">=", 4))
			g.Expect(count()).To(BeNumerically(">=", reviews))
		}).WithContext(ctx).WithTimeout(3 * suite.Timeout).Should(Succeed())
		stopLoad()
	})
})

// load has several clients try out ManagedClusters until stop is called. A review that fails, or does not change the cluster, fails the
// spec. count returns the number of reviews so far.
func load(ctx context.Context, clients int) (count func() int64, stop func()) {
	GinkgoHelper()
	var (
		done  atomic.Int64
		group errgroup.Group
	)
	running, cancel := context.WithCancel(ctx)
	trial := client.NewDryRunClient(suite.Client)

	for range clients {
		group.Go(func() error {
			for running.Err() == nil {
				cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{GenerateName: "load-"}}
				// The context of the spec: a request that has begun is completed.
				if err := trial.Create(ctx, cluster); err != nil {
					return fmt.Errorf("review %d: %w", done.Load(), err)
				}
				if cluster.Labels[clusterv1beta2.ClusterSetLabel] == "" {
					return fmt.Errorf("review %d: the cluster has no set", done.Load())
				}
				done.Add(1)
			}

			return nil
		})
	}

	stop = sync.OnceFunc(func() {
		cancel()
		Expect(group.Wait()).To(Succeed())
	})
	DeferCleanup(func() { stop() })
	return done.Load, stop
}

// handshake returns the certificate that is served to who trusts a bundle.
func handshake(ctx context.Context, url, bundle string) *x509.Certificate {
	GinkgoHelper()
	roots := x509.NewCertPool()
	Expect(roots.AppendCertsFromPEM([]byte(bundle))).To(BeTrue())
	dialer := &tls.Dialer{Config: &tls.Config{RootCAs: roots}}
	connection, err := dialer.DialContext(ctx, "tcp", strings.TrimPrefix(url, "https://"))
	Expect(err).NotTo(HaveOccurred())
	defer func() { Expect(connection.Close()).To(Succeed()) }()
	return connection.(*tls.Conn).ConnectionState().PeerCertificates[0]
}

// standBy runs the controller managedcluster-defaults while somebody else holds the lease, until the end of the spec.
func standBy(ctx context.Context) (url string) { //nolint:contextcheck // It runs until it is stopped.
	GinkgoHelper()
	const lease = "webhook-lease"
	now := metav1.NowMicro()
	held := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: manifests.Namespace, Name: lease},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: ptr.To("another"), LeaseDurationSeconds: ptr.To[int32](3600), AcquireTime: &now, RenewTime: &now,
		},
	}
	Expect(suite.Client.Create(ctx, held)).To(Succeed())

	listener, url := listenForWebhook(ctx)
	mgr, err := ctrl.NewManager(suite.HubConfig(ctx, suite.ControlPlane), ctrl.Options{
		Scheme: system.Scheme(), Cache: system.Options{}.CacheOptions(), NewCache: decoding.NewCache, Logger: klog.Background(),
		Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
		LeaderElection: true, LeaderElectionID: lease, LeaderElectionNamespace: manifests.Namespace,
	})
	Expect(err).NotTo(HaveOccurred())
	Expect(system.Setup(mgr, system.Options{
		Controllers: []string{webhook.Controller}, Webhook: webhookserver.Options{Listener: listener},
	})).To(Succeed())

	running, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(running) }()

	stop := sync.OnceFunc(func() {
		cancel()
		Eventually(ended).WithTimeout(suite.Timeout).Should(Receive(BeNil()))
	})
	DeferCleanup(func(ctx SpecContext) { //nolint:contextcheck // The same.
		Expect(mgr.Elected()).NotTo(BeClosed())
		stop()
		Expect(suite.Client.Delete(ctx, held)).To(Succeed())
	})
	return url
}
