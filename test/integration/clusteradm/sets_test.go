// SPDX-License-Identifier: Apache-2.0

package clusteradm

import (
	"context"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// createClusterset is "clusteradm create clusterset SET".
func (c *clusteradm) createClusterset(ctx context.Context, name string) (existed bool, err error) {
	return c.getOrCreate(ctx, &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: name}})
}

// deleteClusterset is "clusteradm delete clusterset SET". It refuses when a namespace has the set bound, and waits until the set has gone.
func (c *clusteradm) deleteClusterset(ctx context.Context, name string) (bound []string) {
	GinkgoHelper()
	set := &clusterv1beta2.ManagedClusterSet{}
	Expect(c.Get(ctx, client.ObjectKey{Name: name}, set)).To(Succeed())
	bindings := &clusterv1beta2.ManagedClusterSetBindingList{}
	Expect(c.List(ctx, bindings, named(name))).To(Succeed())
	for _, binding := range bindings.Items {
		bound = append(bound, binding.Namespace)
	}

	if len(bound) > 0 {
		return bound
	}
	wait := c.watchUntil(ctx, &clusterv1beta2.ManagedClusterSetList{}, "", name, isDeleted)
	Expect(c.Delete(ctx, set)).To(Succeed())
	wait()
	return nil
}

// clustersetRow is a row of "clusteradm get clustersets".
type clustersetRow struct{ bound, status string }

// getClustersets is "clusteradm get clustersets".
func (c *clusteradm) getClustersets(ctx context.Context, g Gomega) map[string]clustersetRow {
	sets := &clusterv1beta2.ManagedClusterSetList{}
	g.Expect(c.List(ctx, sets)).To(Succeed())
	bindings := &clusterv1beta2.ManagedClusterSetBindingList{}
	g.Expect(c.List(ctx, bindings)).To(Succeed())
	rows := map[string]clustersetRow{}

	for _, set := range sets.Items {
		var row clustersetRow
		empty := meta.FindStatusCondition(set.Status.Conditions, clusterv1beta2.ManagedClusterSetConditionEmpty)
		g.Expect(empty).NotTo(BeNil(), "condition of set %s", set.Name)
		row.status = empty.Message
		var namespaces []string
		for _, binding := range bindings.Items {
			if binding.Spec.ClusterSet == set.Name {
				namespaces = append(namespaces, binding.Namespace)
			}
		}

		slices.Sort(namespaces)
		row.bound = strings.Join(namespaces, ",")
		rows[set.Name] = row
	}

	return rows
}

// setClusterset is "clusteradm clusterset set SET --clusters a,b".
func (c *clusteradm) setClusterset(ctx context.Context, name string, clusters ...string) {
	GinkgoHelper()
	Expect(c.Get(ctx, client.ObjectKey{Name: name}, &clusterv1beta2.ManagedClusterSet{})).To(Succeed())
	for _, each := range clusters {
		cluster := &clusterv1.ManagedCluster{}
		Expect(c.Get(ctx, client.ObjectKey{Name: each}, cluster)).To(Succeed())
		if cluster.Labels == nil {
			cluster.Labels = map[string]string{}
		}
		cluster.Labels[clusterv1beta2.ClusterSetLabel] = name
		Expect(c.Update(ctx, cluster)).To(Succeed())
	}
}

// bindClusterset is "clusteradm clusterset bind SET --namespace NAMESPACE". It waits until the set is bound.
func (c *clusteradm) bindClusterset(ctx context.Context, name string) (existed bool, err error) {
	GinkgoHelper()
	if err := c.Get(ctx, client.ObjectKey{Name: name}, &clusterv1beta2.ManagedClusterSet{}); err != nil {
		return false, err
	}

	existed, err = c.getOrCreate(ctx, &clusterv1beta2.ManagedClusterSetBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: name},
		Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: name},
	})
	if err != nil {
		return false, err
	}

	c.watchUntil(ctx, &clusterv1beta2.ManagedClusterSetBindingList{}, c.namespace, name, func(event watch.Event) bool {
		binding, ok := event.Object.(*clusterv1beta2.ManagedClusterSetBinding)
		return ok && meta.IsStatusConditionTrue(binding.Status.Conditions, clusterv1beta2.ClusterSetBindingBoundType)
	})()
	return existed, nil
}

// unbindClusterset is "clusteradm clusterset unbind SET --namespace NAMESPACE". It waits until the binding has gone.
func (c *clusteradm) unbindClusterset(ctx context.Context, name string) (existed bool) {
	GinkgoHelper()
	binding := &clusterv1beta2.ManagedClusterSetBinding{}

	err := c.Get(ctx, client.ObjectKey{Namespace: c.namespace, Name: name}, binding)
	if apierrors.IsNotFound(err) {
		return false
	}
	Expect(err).NotTo(HaveOccurred())
	wait := c.watchUntil(ctx, &clusterv1beta2.ManagedClusterSetBindingList{}, c.namespace, name, isDeleted)
	Expect(c.Delete(ctx, binding)).To(Succeed())
	wait()
	return true
}

var _ = Describe("clusteradm and cluster sets", func() {
	It("create clusterset, clusterset set, get clustersets, delete clusterset: an admin's way with a set", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		admin := admin(ctx, f)
		name := f.Name("set")

		existed, err := admin.createClusterset(ctx, name)
		Expect(err).NotTo(HaveOccurred())
		Expect(existed).To(BeFalse())
		Expect(admin.createClusterset(ctx, name)).To(BeTrue(), "a second time finds it there")
		DeferCleanup(func(ctx SpecContext) {
			set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: name}}
			Expect(client.IgnoreNotFound(suite.Client.Delete(ctx, set))).To(Succeed())
		})
		row := func(g Gomega) clustersetRow { return admin.getClustersets(ctx, g)[name] }
		Eventually(row).WithContext(ctx).WithTimeout(suite.Timeout).Should(Equal(clustersetRow{status: "No ManagedCluster selected"}))

		f.Clusters(ctx, "", 1, 2)
		admin.setClusterset(ctx, name, f.Names("c001", "c002")...)
		Eventually(row).WithContext(ctx).WithTimeout(suite.Timeout).Should(Equal(clustersetRow{status: "2 ManagedClusters selected"}))
		binding := f.Bind(ctx, "set")
		Eventually(row).WithContext(ctx).WithTimeout(suite.Timeout).
			Should(Equal(clustersetRow{bound: f.Namespace, status: "2 ManagedClusters selected"}))
		Expect(admin.deleteClusterset(ctx, name)).To(Equal([]string{f.Namespace}), "it is still bound")

		Expect(suite.Client.Delete(ctx, binding)).To(Succeed())
		Expect(admin.deleteClusterset(ctx, name)).To(BeEmpty(), "clusters do not hold it back")
		Expect(f.ReadCluster(ctx, Default, "c001").Labels).To(HaveKeyWithValue(clusterv1beta2.ClusterSetLabel, name), "its clusters keep its label")
		Eventually(func(g Gomega) { g.Expect(admin.getClustersets(ctx, g)).NotTo(HaveKey(name)) }).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	})

	It("get clustersets shows the sets default and global", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		admin := admin(ctx, f)
		Eventually(func(g Gomega) {
			rows := admin.getClustersets(ctx, g)
			g.Expect(rows).To(HaveKey("default"))
			g.Expect(rows).To(HaveKey("global"))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	})

	It("clusterset set moves a cluster, and the decisions of both sets' tenants follow", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "old")
		f.Set(ctx, "new")
		f.Clusters(ctx, "old", 1, 2)
		f.Placement(ctx, "old", clusterv1beta1.PlacementSpec{ClusterSets: []string{f.Name("old")}})
		f.Placement(ctx, "new", clusterv1beta1.PlacementSpec{ClusterSets: []string{f.Name("new")}})
		f.ExpectSelected(ctx, "old", suite.AllScheduled, suite.Shorts(1, 2)...)
		f.ExpectSelected(ctx, "new", suite.AllSetsEmpty)

		admin(ctx, f).setClusterset(ctx, f.Name("new"), f.Name("c002"))
		f.ExpectSelected(ctx, "old", suite.AllScheduled, "c001")
		f.ExpectSelected(ctx, "new", suite.AllScheduled, "c002")
	})

	It("clusterset bind and unbind: a tenant's way to clusters and back", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.UnboundSet(ctx, "set")
		f.Clusters(ctx, "set", 1, 2)
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		f.ExpectSelected(ctx, "p", suite.NoBindings)
		tenant := tenant(ctx, f, f.Name("set"), f.Name("absent"))
		Expect(tenant.bindClusterset(ctx, f.Name("set"))).To(BeFalse())
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(1, 2)...)
		Expect(tenant.bindClusterset(ctx, f.Name("set"))).To(BeTrue(), "a second time finds it bound")

		_, err := tenant.bindClusterset(ctx, f.Name("absent"))
		Expect(apierrors.IsNotFound(err)).To(BeTrue(), "there is no such set: %v", err)

		Expect(tenant.unbindClusterset(ctx, f.Name("set"))).To(BeTrue())
		f.ExpectSelected(ctx, "p", suite.NoBindings)
		Expect(tenant.unbindClusterset(ctx, f.Name("set"))).To(BeFalse(), "a second time finds nothing")
	})
})
