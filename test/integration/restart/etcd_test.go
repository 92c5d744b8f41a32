// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/clustersets/managedcluster"
	"github.com/placement-hub/placement-hub/pkg/clustersets/webhook"
	"github.com/placement-hub/placement-hub/pkg/decoding"
	"github.com/placement-hub/placement-hub/pkg/hub/freshness"
	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// ownEtcd has the rest of this spec run on a control plane with an etcd of its own, and without a hub.
func ownEtcd(ctx context.Context) {
	GinkgoHelper()
	plane, err := localplane.Start(ctx, localplane.Options{AuditLog: true, Log: GinkgoWriter})
	Expect(err).NotTo(HaveOccurred())
	shared, sharedClient := suite.ControlPlane, suite.Client
	DeferCleanup(func() {
		suite.ControlPlane, suite.Client = shared, sharedClient
		Expect(plane.Stop()).To(Succeed())
	})

	Expect(manifests.Install(ctx, plane.AdminConfig())).To(Succeed())
	api, err := client.New(plane.AdminConfig(), client.Options{Scheme: system.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	suite.ControlPlane, suite.Client = plane, api
}

// kubelet runs a hub until the spec ends, and starts it again whenever it ends by itself. The channel gets the errors with which it ended.
func kubelet(ctx context.Context) <-chan error {
	GinkgoHelper()
	config, ended := suite.HubConfig(ctx, suite.ControlPlane), make(chan error, 100)
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	var process sync.WaitGroup

	process.Go(func() {
		defer GinkgoRecover()
		for running.Err() == nil {
			options := system.Options{Controllers: []string{"*", "-" + managedcluster.ManagedClusterTaints, "-" + webhook.Controller}}
			mgr, err := ctrl.NewManager(config, ctrl.Options{
				Scheme: system.Scheme(), Cache: options.CacheOptions(), NewCache: decoding.NewCache, Logger: klog.Background(),
				Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
			})
			Expect(err).NotTo(HaveOccurred())
			Expect(system.Setup(mgr, options)).To(Succeed())
			ended <- system.Start(running, mgr)
		}
	})
	DeferCleanup(func() {
		stop()
		process.Wait()
	})

	return ended
}

// whileDown crashes the control plane, has its data changed, and starts it again.
func whileDown(ctx context.Context, change func(etcd string)) {
	GinkgoHelper()
	Expect(suite.ControlPlane.Crash(binaries.APIServer, binaries.Etcd)).To(Succeed())
	change(filepath.Join(suite.ControlPlane.DataDir(), "etcd"))
	Expect(suite.ControlPlane.Recover(ctx)).To(Succeed())
}

var _ = Describe("A restored etcd", func() {
	It("B14: loses no cluster that the lost and the restored state want, and the hub lists everything again", func(ctx SpecContext) {
		ownEtcd(ctx)
		suite.ListsDecisionsAgain()
		ended, f := kubelet(ctx), suite.NewFixture(ctx)
		f.Set(ctx, "a")
		f.Clusters(ctx, "a", 1, 6, suite.Labeled("region", "eu"))
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{Predicates: []clusterv1beta1.ClusterPredicate{suite.ByLabel("region", "eu")}})
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(1, 6)...)
		backup := filepath.Join(GinkgoT().TempDir(), "etcd")
		whileDown(ctx, func(etcd string) { Expect(os.CopyFS(backup, os.DirFS(etcd))).To(Succeed()) })

		// 200 changes, which are lost.
		f.Cluster(ctx, "a", "c007", suite.Labeled("region", "eu"))
		f.LabelClusters(ctx, "region", "us", "c001")
		for n := range 198 {
			f.EditCluster(ctx, fmt.Sprintf("c%03d", n%6+1), func(c *clusterv1.ManagedCluster) { c.Labels["change"] = strconv.Itoa(n) })
		}
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(2, 7)...)

		whileDown(ctx, func(etcd string) {
			Expect(os.RemoveAll(etcd)).To(Succeed())
			Expect(os.CopyFS(etcd, os.DirFS(backup))).To(Succeed())
		})
		recording := f.RecordPages(ctx)
		recording.Require(f.Names(suite.Shorts(3, 6)...)...)

		Eventually(ended).WithContext(ctx).WithTimeout(suite.Timeout).Should(Receive(MatchError(freshness.ErrHistoryLost)))

		// The new process follows the restored history.
		f.LabelClusters(ctx, "region", "us", "c002")
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001", "c003", "c004", "c005", "c006")
		recording.PlayUntil(ctx, suite.AllPages(ctx, f))
		Expect(ended).NotTo(Receive())
	})
})
