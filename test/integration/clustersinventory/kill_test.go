// SPDX-License-Identifier: Apache-2.0

package clustersinventory

import (
	"fmt"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// inventoryWrites are the writes of the controller, Events excepted.
var inventoryWrites = faults.Match{
	Verbs: []string{"create", "update", "patch", "delete"},
	Resources: []string{
		"clusters", "clusters/status", "managedclusters", "managedclusters/status", "namespaces", "serviceaccounts", "rolebindings",
	},
}

// companionsOf are the objects of a published Cluster.
func companionsOf(managed string) []client.Object {
	agent := metav1.ObjectMeta{Namespace: managed, Name: clusterrequest.WorkAgent}
	return []client.Object{
		&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: managed}}, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: managed}},
		&corev1.ServiceAccount{ObjectMeta: agent}, &rbacv1.RoleBinding{ObjectMeta: agent},
	}
}

// living returns the UIDs of the objects of a published Cluster that exist and are not being deleted, by their types.
func (w *world) living(g Gomega, managed string) map[string]types.UID {
	found := map[string]types.UID{}
	for _, object := range companionsOf(managed) {
		err := suite.Client.Get(w.ctx, client.ObjectKeyFromObject(object), object)
		g.Expect(client.IgnoreNotFound(err)).To(Succeed())
		if err == nil && object.GetDeletionTimestamp() == nil {
			found[fmt.Sprintf("%T", object)] = object.GetUID()
		}
	}
	return found
}

// isPublished reports whether a Cluster is published.
func (w *world) isPublished(g Gomega, cluster *openmcpv1alpha1.Cluster) bool {
	g.Expect(suite.Client.Get(w.ctx, client.ObjectKeyFromObject(cluster), cluster)).To(Succeed())
	return meta.IsStatusConditionTrue(cluster.Status.Conditions, openmcpv1alpha1.ConditionPublished)
}

// isSettled reports whether a Cluster is published and available.
func (w *world) isSettled(g Gomega, cluster *openmcpv1alpha1.Cluster) bool {
	if !w.isPublished(g, cluster) {
		return false
	}
	managed := &clusterv1.ManagedCluster{}
	g.Expect(suite.Client.Get(w.ctx, types.NamespacedName{Name: cluster.Status.ManagedCluster}, managed)).To(Succeed())
	return availability(managed) == metav1.ConditionTrue
}

// isReleased reports whether the hub holds a Cluster no more; one that is gone is not held.
func (w *world) isReleased(g Gomega, cluster *openmcpv1alpha1.Cluster) bool {
	seen := &openmcpv1alpha1.Cluster{}
	err := suite.Client.Get(w.ctx, client.ObjectKeyFromObject(cluster), seen)
	g.Expect(client.IgnoreNotFound(err)).To(Succeed())
	return !slices.Contains(seen.Finalizers, openmcpv1alpha1.InventoryFinalizer)
}

var _ = Describe("a hub that is killed between any two writes", func() {
	It("cluster-request 4.6: publishes the Cluster with the objects that were made before", func(ctx SpecContext) {
		w, proxy := newWorld(ctx), suite.ThroughProxy(ctx)
		var (
			cluster *openmcpv1alpha1.Cluster
			name    string
			made    map[string]types.UID
		)

		refused := suite.KillEach(ctx, proxy, suite.Behind(proxy), suite.Passage{
			Writes: func() faults.Match { return inventoryWrites },
			Prepare: func(n int) {
				cluster = w.cluster(fmt.Sprintf("c%02d", n), nil)
				name = clusterrequest.ManagedClusterName(client.ObjectKeyFromObject(cluster))
			},
			Begin: func() { w.healthy(cluster) },
			Done:  func(g Gomega) bool { return w.isSettled(g, cluster) },
			Killed: func() {
				made = w.living(Default, name)
				Expect(len(made) > 0 && w.isReleased(Default, cluster)).To(BeFalse(), "the finalizer comes first")
			},
			Complete: func() {
				managed := w.published(cluster)
				Expect(managed.Name).To(Equal(name))
				Expect(managed.Labels).To(HaveKey("purpose.cluster.openmcp.cloud/platform"))
				Expect(managed.Status.ClusterClaims).To(ContainElement(HaveField("Name", "purpose.cluster.openmcp.cloud/platform")))
				after := w.living(Default, name)
				Expect(after).To(HaveLen(len(companionsOf(name))))
				for kind, uid := range made {
					Expect(after).To(HaveKeyWithValue(kind, uid), "it was deleted and created again")
				}
			},
		})[0]
		Expect(refused).To(ContainElements("patch clusters", "create namespaces", "create serviceaccounts", "create rolebindings",
			"create managedclusters", "patch managedclusters/status", "patch clusters/status"))
	})

	for _, end := range []struct {
		reason string
		// vanishes says that the Cluster loses its finalizers, so that nothing waits for the hub.
		vanishes bool
	}{
		{"cluster-request C68: drains and withdraws a Cluster that is deleted, and nothing of another one", false},
		{"cluster-request 4.6: drains and withdraws a Cluster that has vanished, and nothing of another one", true},
	} {
		It(end.reason, func(ctx SpecContext) {
			w, proxy := newWorld(ctx), suite.ThroughProxy(ctx)
			_, stays := w.provided("stays")
			w.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
			w.selected(stays.Name)
			kept := w.living(Default, stays.Name)
			Expect(kept).To(HaveLen(len(companionsOf(stays.Name))))
			pages := w.RecordPages(ctx)
			pages.Require(stays.Name)

			var (
				cluster *openmcpv1alpha1.Cluster
				managed *clusterv1.ManagedCluster
				before  map[string]types.UID
			)

			refused := suite.KillEach(ctx, proxy, suite.Behind(proxy), suite.Passage{
				Writes: func() faults.Match { return inventoryWrites },
				Prepare: func(n int) {
					cluster, managed = w.provided(fmt.Sprintf("c%02d", n))
					w.selected(stays.Name, managed.Name)
					before = w.living(Default, managed.Name)
				},
				Begin: func() {
					w.remove(cluster)
					if end.vanishes {
						suite.DropFinalizers(ctx, cluster)
					}
				},
				Done: func(g Gomega) bool { return len(w.living(g, managed.Name)) == 0 && w.isReleased(g, cluster) },
				Killed: func() {
					left := w.living(Default, managed.Name)
					for kind, uid := range left {
						Expect(before).To(HaveKeyWithValue(kind, uid), "it was deleted and created again")
					}
					Expect(!end.vanishes && len(left) > 0 && w.isReleased(Default, cluster)).To(BeFalse(), "the finalizer goes last")
				},
				Complete: func() {
					w.eventually(func(g Gomega) {
						g.Expect(w.living(g, managed.Name)).To(BeEmpty())
						g.Expect(w.isReleased(g, cluster)).To(BeTrue())
					})
					suite.ExpectGoneWithin(ctx, suite.CollectTimeout, managed)
					w.selected(stays.Name)
					Expect(w.living(Default, stays.Name)).To(Equal(kept))
				},
			})[0]
			Expect(refused).To(ContainElements("patch managedclusters", "delete managedclusters", "delete rolebindings", "delete serviceaccounts",
				"delete namespaces"))
			Expect(slices.Contains(refused, "patch clusters")).To(Equal(!end.vanishes), "the finalizer")
			Expect(pages.Drain()).To(Succeed())
			pages.ExpectRequired()
		})
	}

	It("cluster-request 4.6: keeps the ManagedCluster and its set for a Cluster that is there again", func(ctx SpecContext) {
		w, proxy := newWorld(ctx), suite.ThroughProxy(ctx)
		another := w.UnboundSet(ctx, "another").Name
		var (
			cluster *openmcpv1alpha1.Cluster
			managed *clusterv1.ManagedCluster
		)

		refused := suite.KillEach(ctx, proxy, suite.Behind(proxy), suite.Passage{
			Writes: func() faults.Match { return inventoryWrites },
			Prepare: func(n int) {
				cluster, managed = w.provided(fmt.Sprintf("c%02d", n))
				w.work(managed) // The drain waits for it.
				w.remove(cluster)
				suite.DropFinalizers(ctx, cluster)
				w.terminating(managed)
			},
			Begin: func() {
				cluster = w.cluster(cluster.Name, func(c *openmcpv1alpha1.Cluster) {
					c.Annotations[openmcpv1alpha1.ClusterSetAnnotation] = another
				})
			},
			Done: func(g Gomega) bool { return w.isPublished(g, cluster) },
			Killed: func() {
				seen := &clusterv1.ManagedCluster{}
				Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(managed), seen)).To(Succeed())
				Expect(seen.UID).To(Equal(managed.UID))
				Expect(seen.Labels).To(HaveKeyWithValue(clusterv1beta2.ClusterSetLabel, w.set))
			},
			Complete: func() {
				w.eventually(func(g Gomega) { g.Expect(w.isPublished(g, cluster)).To(BeTrue()) })
				w.healthy(cluster)
				kept := w.published(cluster)
				Expect(kept.UID).To(Equal(managed.UID))
				Expect(kept.Spec.Taints).To(BeEmpty())
				Expect(kept.Labels).To(HaveKeyWithValue(clusterv1beta2.ClusterSetLabel, w.set))
				Expect(cluster.Annotations).To(HaveKeyWithValue(openmcpv1alpha1.ClusterSetAnnotation, w.set))
				Expect(cluster.Finalizers).To(ContainElement(openmcpv1alpha1.InventoryFinalizer))
			},
		})[0]
		Expect(refused).To(ContainElements("patch clusters", "patch managedclusters", "patch managedclusters/status", "patch clusters/status"))
	})
})
