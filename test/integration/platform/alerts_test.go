// SPDX-License-Identifier: Apache-2.0

package platform

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/placement-hub/placement-hub/manifests"
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest/publish"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/env/scrapes"
	"github.com/placement-hub/placement-hub/test/integration/providers"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// Series of the hub.
const (
	unguarded       = "placement_hub_federation_works_unguarded{}"
	setDiffers      = "placement_hub_clusters_inventory_set_differs{}"
	drainTimeouts   = `placement_hub_clusters_inventory_drains_total{result="timeout"}`
	pendingRequests = `placement_hub_clusterrequests{reason="Error",status="Pending"}`
	failedWorks     = `placement_hub_federation_writes_total{kind="apply",result="error"}`
	failedClusters  = `placement_hub_clusterrequest_writes_total{kind="Cluster",result="error"}`
	failedPublished = `placement_hub_clusters_inventory_writes_total{kind="create",result="error"}`
)

// failing are the counters that grow while requests fail.
var failing = []string{failedWorks, failedClusters, failedPublished}

// impatient does not wait for what still uses a ManagedCluster.
func impatient(o *system.Options) { o.ClusterDrainTimeout = time.Millisecond }

// setParameter is the ConfigMap that names the set of Clusters that name none.
func setParameter() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: manifests.Namespace, Name: publish.SetConfigMap}}
}

// nameSet changes the set in the ConfigMap.
func nameSet(ctx context.Context, set string) {
	GinkgoHelper()
	suite.Edit(ctx, setParameter(), func(c *corev1.ConfigMap) { c.Data = map[string]string{"set": set} })
}

var _ = Describe("Alerts over scrapes of a hub with all systems", func() {
	It("fire while their cause is there", func(ctx SpecContext) {
		provide(ctx, nullProvider, nil)
		w := newWorld(ctx)
		w.BindAny(ctx, defaultSet)
		w.Placement(ctx, "p", clusterv1beta1.PlacementSpec{
			Tolerations: []clusterv1beta1.Toleration{{Key: openmcpv1alpha1.TerminatingTaint, Operator: clusterv1beta1.TolerationOpExists}},
		})
		leaving := w.request("leaving", w.dedicated)
		used := w.published(leaving)
		staying := w.published(w.request("staying", w.shared))
		w.eventually(func(g Gomega) { w.selected(g, "p", used.Status.ManagedCluster, staying.Status.ManagedCluster) })

		healthy := w.scrape(func(g Gomega, s scrapes.Scrape) {
			g.Expect(s.Value(unguarded)).To(BeZero())
			g.Expect(s.Value(setDiffers)).To(BeZero())
			g.Expect(s.Value(pendingRequests)).To(BeZero())
		})
		By("taking the guard of works away before the hub starts, and breaking its requests")
		guard := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: federation.WorksPolicy}}
		Expect(suite.Client.Delete(ctx, guard)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { install(ctx) })
		proxy := suite.ThroughProxy(ctx, impatient)

		var mends []func()
		for resource, verb := range map[string]string{"manifestworks": "patch", "clusters": "create", "managedclusters": "create"} {
			mend := proxy.Break(faults.Rule{
				Match: faults.Match{Verbs: []string{verb, "create"}, Resources: []string{resource}}, Fault: faults.InternalError,
			})
			DeferCleanup(mend)
			mends = append(mends, mend)
		}
		w.configMap("settings", w.shared)
		w.request("failing", w.dedicated)

		unpublished := providers.NewCluster(w.Namespace, "unpublished", nullProvider)
		w.Create(ctx, unpublished)
		nameSet(ctx, "another")
		DeferCleanup(func(ctx SpecContext) { nameSet(ctx, clusterrequest.DefaultClusterSet) })
		Expect(suite.Client.Delete(ctx, leaving)).To(Succeed())

		broken := w.scrape(func(g Gomega, s scrapes.Scrape) {
			g.Expect(s.Value(unguarded)).To(Equal(1.))
			g.Expect(s.Value(setDiffers)).To(Equal(1.))
			g.Expect(s.Value(pendingRequests)).To(Equal(1.))
			g.Expect(s.Value(drainTimeouts)).To(Equal(healthy.Value(drainTimeouts) + 1))
			for _, series := range failing {
				g.Expect(s.Value(series)).To(BeNumerically(">", healthy.Value(series)), series)
			}
		})
		later := w.scrape(func(g Gomega, s scrapes.Scrape) {
			for _, series := range failing {
				g.Expect(s.Value(series)).To(BeNumerically(">", broken.Value(series)), series)
			}
		})

		By("mending all of that, and starting the hub again")
		for _, mend := range mends {
			mend()
		}
		install(ctx)
		nameSet(ctx, clusterrequest.DefaultClusterSet)
		Expect(suite.Client.Delete(ctx, unpublished)).To(Succeed())
		Expect(suite.Client.Delete(ctx, w.PlacementNamed("p"))).To(Succeed()) // Nothing uses what is deleted after the spec.
		suite.StopHub()
		suite.Behind(proxy, impatient)()

		mended := w.scrape(func(g Gomega, s scrapes.Scrape) {
			g.Expect(s.Value(unguarded)).To(BeZero())
			g.Expect(s.Value(setDiffers)).To(BeZero())
			g.Expect(s.Value(pendingRequests)).To(BeZero())
			w.delivered(g, staying.Status.ManagedCluster)
		})

		course := scrapes.Course{Healthy: healthy, Broken: broken, Later: later, Mended: mended}
		Expect(course.Evaluate(ctx, GinkgoT().TempDir(), map[string]scrapes.Expected{
			"FederationWritesFail":        ofKind("apply"),
			"FederationWorksAreUnguarded": {Firing: []scrapes.Firing{{}}},
			"ClusterRequestsArePending": {Firing: []scrapes.Firing{{
				Labels: map[string]string{"reason": "Error"}, Words: []string{"$value", "1", "$labels.reason", "Error"},
			}}},
			"ClusterRequestWritesFail":    ofKind("Cluster"),
			"ClustersInventoryWritesFail": ofKind("create"),
			"ClustersInventorySetDiffers": {Firing: []scrapes.Firing{{}}},
			"ClusterDrainsTimeOut":        {OnChange: true, Firing: []scrapes.Firing{{}}},
			"PlacementHubSystemIsOff":     {},
		})).To(Succeed())
	})
})

// ofKind expects an alert for requests of a kind.
func ofKind(kind string) scrapes.Expected {
	return scrapes.Expected{Firing: []scrapes.Firing{{Labels: map[string]string{"kind": kind}, Words: []string{"$labels.kind", kind}}}}
}

// scrape scrapes the hub, which runs in this process, until a check succeeds.
func (w *world) scrape(check func(Gomega, scrapes.Scrape)) (found scrapes.Scrape) {
	GinkgoHelper()
	w.eventually(func(g Gomega) {
		var err error
		found, err = scrapes.Gather(metrics.Registry)
		g.Expect(err).NotTo(HaveOccurred())
		check(g, found)
	})
	return found
}
