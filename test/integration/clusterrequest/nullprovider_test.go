// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"context"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest/provider"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest/provider/null"
	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/integration/providers"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

const healthy = "True NothingRuns Succeeded"

// nullProvider starts a null provider of a name with one profile.
func nullProvider(ctx context.Context, name string, clock *providers.Clock) *providers.Running {
	GinkgoHelper()
	Expect(manifests.Apply(ctx, suite.ControlPlane.AdminConfig(), providers.Definitions("clusterprovider/*.yaml"))).To(Succeed())
	running := &openmcpv1alpha1.ClusterProvider{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       openmcpv1alpha1.ClusterProviderSpec{LeaseNamespace: providers.Namespace("null")},
	}
	Expect(client.IgnoreAlreadyExists(suite.Client.Create(ctx, running))).To(Succeed())
	DeferCleanup(func(ctx SpecContext) { //nolint:contextcheck // The spec has ended.
		Expect(client.IgnoreNotFound(suite.Client.Delete(ctx, running))).To(Succeed())
	})

	settings := provider.Settings{Name: name, LeaseDuration: null.LeaseDuration, Provider: null.Provider{Offered: []openmcpv1alpha1.Profile{{
		Name: "default", SupportedVersions: []openmcpv1alpha1.SupportedVersion{{Version: "1.36.3"}},
		SupportedTraits: []openmcpv1alpha1.SupportedTrait{{Trait: "made-by/" + name}},
	}}}}
	if clock != nil {
		settings.Queue.Clock = clock
	}
	return providers.Start(ctx, suite.ControlPlane, "null", settings, nil)
}

// lease returns the Lease of a Cluster.
func (w *world) lease(cluster *openmcpv1alpha1.Cluster) *coordinationv1.Lease {
	GinkgoHelper()
	lease := &coordinationv1.Lease{}
	Expect(suite.Client.Get(w.ctx, clusterrequest.LeaseKey(cluster, providers.Namespace("null")), lease)).To(Succeed())
	Expect(lease.OwnerReferences).To(BeEmpty(), "owners are of the same namespace")
	return lease
}

// healthy waits until a provider says that a Cluster is healthy.
func (w *world) healthy(cluster *openmcpv1alpha1.Cluster) {
	GinkgoHelper()
	w.eventually(func(g Gomega) { g.Expect(providers.Health(w.ctx, g, cluster)).To(Equal(healthy)) })
}

var _ = Describe("the null provider", func() {
	It("cluster-request 4.4: publishes its profiles, and a request for their trait gets a Cluster that becomes healthy", func(ctx SpecContext) {
		w := newWorld(ctx)
		nullProvider(ctx, "null-publishes", nil)
		request := w.request(w.mcp, func(r *openmcpv1alpha1.ClusterRequest) {
			r.Spec.Traits = []openmcpv1alpha1.TraitRequirement{{Trait: "made-by/null-publishes"}}
		})
		_, cluster := w.granted(request)
		w.healthy(cluster)
		Expect(cluster.Finalizers).To(ContainElement(openmcpv1alpha1.ProviderFinalizer))
		Expect(cluster.Status.ObservedGeneration).To(Equal(cluster.Generation))
		Expect(cluster.Status.LastReconcileTime).NotTo(BeNil())

		provider := &openmcpv1alpha1.ClusterProvider{ObjectMeta: metav1.ObjectMeta{Name: "null-publishes"}}
		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(provider), provider)).To(Succeed())
		Expect(provider.Status.Ready).To(BeTrue())
		Expect(provider.Status.Conditions).To(ContainElement(And(
			HaveField("Type", openmcpv1alpha1.ConditionProviderReady), HaveField("Status", metav1.ConditionTrue))))
	})

	It("cluster-request C37: of two providers only the owner of the profile acts", func(ctx SpecContext) {
		w := newWorld(ctx)
		owner, other := nullProvider(ctx, "null-owner", nil), nullProvider(ctx, "null-other", nil)
		cluster, another := providers.NewCluster(w.namespace, "a", "null-owner"), providers.NewCluster(w.namespace, "b", "null-other")
		w.create(cluster)
		w.create(another)
		w.healthy(cluster)
		w.healthy(another)

		for name, running := range map[string]*providers.Running{"b": owner, "a": other} {
			for _, request := range running.Proxy.Requests(faults.Match{Resources: []string{"clusters", "clusters/status"}, Verbs: writes}) {
				Expect(request.Name).NotTo(Equal(name))
			}
		}
	})

	It("cluster-request 4.6, C63: the Lease precedes the health, and after a restart nothing is written that is not due", func(ctx SpecContext) {
		w := newWorld(ctx)
		clock := providers.NewClock()
		first := nullProvider(ctx, "null-leases", clock)
		cluster := providers.NewCluster(w.namespace, "c", "null-leases")
		w.create(cluster)
		w.healthy(cluster)
		published := slices.DeleteFunc(first.Writes(), func(write string) bool { return write == "patch clusterproviders/status" })
		Expect(published).To(HaveExactElements("patch clusters", "patch leases", "patch clusters/status"))

		lease := w.lease(cluster)
		Expect(*lease.Spec.LeaseDurationSeconds).To(BeEquivalentTo(3600))
		Expect(*lease.Spec.HolderIdentity).To(Equal("null-leases"))
		first.Stop()
		second := nullProvider(ctx, "null-leases", clock)
		w.eventually(func(g Gomega) { // It has looked at the Cluster.
			g.Expect(second.Proxy.Requests(faults.Match{Verbs: []string{"get"}, Resources: []string{"leases"}})).NotTo(BeEmpty())
		})
		Consistently(second.Writes).WithTimeout(suite.QuietPeriod).Should(BeEmpty())
		second.Stop()

		clock.Advance(null.LeaseDuration/3 + time.Second)
		third := nullProvider(ctx, "null-leases", clock)
		w.eventually(func(g Gomega) {
			g.Expect(third.Writes()).To(HaveExactElements("patch leases"))
			g.Expect(w.lease(cluster).Spec.RenewTime.After(lease.Spec.RenewTime.Time)).To(BeTrue())
		})
		resourceVersion := cluster.ResourceVersion
		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(cluster), cluster)).To(Succeed())
		Expect(cluster.ResourceVersion).To(Equal(resourceVersion))
	})

	It("cluster-request C56, C62: what users change is put back, and tear-down waits for all other finalizers", func(ctx SpecContext) {
		w := newWorld(ctx)
		running := nullProvider(ctx, "null-deletes", nil)
		cluster := providers.NewCluster(w.namespace, "c", "null-deletes")
		cluster.Finalizers = []string{openmcpv1alpha1.InventoryFinalizer}
		w.create(cluster)
		w.healthy(cluster)

		managed := cluster.DeepCopy()
		managed.Status.ManagedCluster, managed.Status.Phase = "of-the-hub", openmcpv1alpha1.ClusterFailed
		Expect(suite.Client.Status().Update(ctx, managed)).To(Succeed())
		w.healthy(cluster)
		Expect(cluster.Status.ManagedCluster).To(Equal("of-the-hub"), "the hub's field")

		w.remove(cluster)
		w.eventually(func(g Gomega) {
			g.Expect(providers.Health(ctx, g, cluster)).To(Equal("True NothingRuns Deleting"))
			g.Expect(cluster.Finalizers).To(ConsistOf(openmcpv1alpha1.InventoryFinalizer, openmcpv1alpha1.ProviderFinalizer))
		})
		lease := w.lease(cluster)

		patch(w, cluster, func(c *openmcpv1alpha1.Cluster) { c.Finalizers = []string{openmcpv1alpha1.ProviderFinalizer} })
		w.gone(cluster)
		w.gone(lease)
		for _, role := range []string{"provider", "provider-leases"} {
			Expect(providers.Unused(ctx, "cluster.openmcp.cloud:"+role, running)).To(BeEmpty())
		}
	})

	It("cluster-request C24: a Cluster that was lost is kept again after it is created again", func(ctx SpecContext) {
		w := newWorld(ctx)
		nullProvider(ctx, "null-loses", nil)
		request := w.request(w.mcp, func(r *openmcpv1alpha1.ClusterRequest) {
			r.Spec.Traits = []openmcpv1alpha1.TraitRequirement{{Trait: "made-by/null-loses"}}
		})
		_, cluster := w.granted(request)
		w.healthy(cluster)
		lost, lease := cluster.UID, w.lease(cluster)

		w.remove(cluster)
		patch(w, cluster, func(c *openmcpv1alpha1.Cluster) { c.Finalizers = nil })
		w.gone(lease)
		w.eventually(func(g Gomega) {
			g.Expect(providers.Health(ctx, g, cluster)).To(Equal(healthy))
			g.Expect(cluster.UID).NotTo(Equal(lost))
		})
		w.lease(cluster)
	})
})
