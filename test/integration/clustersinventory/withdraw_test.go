// SPDX-License-Identifier: Apache-2.0

package clustersinventory

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// provided creates a Cluster that its provider holds, and has it published.
func (w *world) provided(name string) (*openmcpv1alpha1.Cluster, *clusterv1.ManagedCluster) {
	GinkgoHelper()
	cluster := w.cluster(name, func(c *openmcpv1alpha1.Cluster) { c.Finalizers = []string{openmcpv1alpha1.ProviderFinalizer} })
	w.healthy(cluster)
	return cluster, w.published(cluster)
}

func (w *world) remove(object client.Object) {
	GinkgoHelper()
	Expect(suite.Client.Delete(w.ctx, object)).To(Succeed())
}

// selected waits until the decisions of the Placement "p" name exactly these clusters.
func (w *world) selected(clusters ...string) {
	GinkgoHelper()
	w.eventually(func(g Gomega) {
		var names []string
		for _, page := range w.Pages(w.ctx, g, "p") {
			for _, decision := range page.Status.Decisions {
				names = append(names, decision.ClusterName)
			}
		}
		g.Expect(names).To(ConsistOf(clusters))
	})
}

// work creates a ManifestWork that somebody else than the hub keeps in the namespace of a ManagedCluster.
func (w *world) work(managed *clusterv1.ManagedCluster) *workv1.ManifestWork {
	GinkgoHelper()
	work := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: managed.Name, Name: "by-hand"}}
	work.Spec.Workload.Manifests = []workv1.Manifest{{RawExtension: runtime.RawExtension{
		Raw: []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"default"}}`),
	}}}
	w.Create(w.ctx, work)
	return work
}

// terminating waits until a ManagedCluster has the taint.
func (w *world) terminating(managed *clusterv1.ManagedCluster) {
	GinkgoHelper()
	w.eventually(func(g Gomega) {
		g.Expect(suite.Client.Get(w.ctx, client.ObjectKeyFromObject(managed), managed)).To(Succeed())
		g.Expect(managed.Spec.Taints).To(ContainElement(And(HaveField("Key", openmcpv1alpha1.TerminatingTaint),
			HaveField("Effect", clusterv1.TaintEffectNoSelect), HaveField("TimeAdded.IsZero()", false))))
	})
}

// released waits until the hub lets a Cluster go, with nothing left of its ManagedCluster, and the provider may tear down.
func (w *world) released(cluster *openmcpv1alpha1.Cluster, managed *clusterv1.ManagedCluster) {
	GinkgoHelper()
	w.eventually(func(g Gomega) {
		g.Expect(suite.Client.Get(w.ctx, client.ObjectKeyFromObject(cluster), cluster)).To(Succeed())
		g.Expect(cluster.Finalizers).To(ConsistOf(openmcpv1alpha1.ProviderFinalizer))
	})

	for _, object := range []client.Object{
		&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: managed.Name}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: managed.Name}},
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: managed.Name, Name: clusterrequest.WorkAgent}},
	} {
		w.deleted(object)
	}
}

var _ = Describe("a Cluster that is deleted", func() {
	It("cluster-request 4.6: keeps its workload and gets none while a request has it", func(ctx SpecContext) {
		w := newWorld(ctx)
		cluster := w.cluster("a", func(c *openmcpv1alpha1.Cluster) {
			c.Finalizers = []string{openmcpv1alpha1.ProviderFinalizer, openmcpv1alpha1.RequestFinalizerPrefix + "u1"}
		})
		w.healthy(cluster)
		managed := w.published(cluster)

		w.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		w.selected(managed.Name)
		w.remove(cluster)
		w.eventually(func(g Gomega) {
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(managed), managed)).To(Succeed())
			g.Expect(managed.Spec.Taints).To(ContainElement(And(HaveField("Key", openmcpv1alpha1.TerminatingTaint),
				HaveField("Effect", clusterv1.TaintEffectNoSelectIfNew))))
		})

		w.Placement(ctx, "new", clusterv1beta1.PlacementSpec{})
		w.eventually(func(g Gomega) {
			placement := w.Read(ctx, g, "new")
			g.Expect(placement.Status.Conditions).NotTo(BeEmpty())
			g.Expect(placement.Status.NumberOfSelectedClusters).To(BeZero())
		})
		w.selected(managed.Name)

		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(cluster), cluster)).To(Succeed())
		left := clusterrequest.Leave(cluster, "u1")
		Expect(suite.Client.Patch(ctx, left, client.MergeFrom(cluster))).To(Succeed())
		w.selected()
		w.released(left, managed)
		suite.DropFinalizers(ctx, left)
	})

	It("cluster-request C68: leaves its decisions and works first, then its ManagedCluster goes, then the finalizer", func(ctx SpecContext) {
		w := newWorld(ctx)
		cluster, managed := w.provided("a")
		_, other := w.provided("b")
		w.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		w.selected(managed.Name, other.Name)
		w.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Namespace: w.Namespace, Name: "c", Annotations: map[string]string{
				federation.SelectorAnnotation: `[{"key":"purpose.cluster.openmcp.cloud/platform","operator":"exists"}]`,
			},
		}})

		works := &workv1.ManifestWorkList{}
		w.eventually(func(g Gomega) {
			g.Expect(suite.Client.List(ctx, works, client.InNamespace(managed.Name))).To(Succeed())
			g.Expect(works.Items).To(HaveLen(1))
		})

		by := w.work(managed)
		w.remove(cluster)
		w.terminating(managed)
		w.selected(other.Name)
		w.eventually(func(g Gomega) {
			g.Expect(suite.Client.List(ctx, works, client.InNamespace(managed.Name))).To(Succeed())
			g.Expect(works.Items).To(ConsistOf(HaveField("Name", by.Name)))
		})
		w.told(cluster, clusterrequest.ReasonDraining, "ManifestWorks by-hand")
		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(cluster), cluster)).To(Succeed())
		Expect(cluster.Finalizers).To(ContainElement(openmcpv1alpha1.InventoryFinalizer))
		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(managed), managed)).To(Succeed())
		Expect(managed.DeletionTimestamp).To(BeNil())

		w.remove(by)
		w.released(cluster, managed)
		w.told(cluster, clusterrequest.ReasonDrained, managed.Name)
		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(other), other)).To(Succeed())
		Expect(other.Spec.Taints).To(BeEmpty())
	})

	It("cluster-request C69: waits for a Placement that tolerates the taint until the timeout", func(ctx SpecContext) {
		w := newWorld(ctx)
		cluster, managed := w.provided("a")
		w.Placement(ctx, "p", clusterv1beta1.PlacementSpec{
			Tolerations: []clusterv1beta1.Toleration{{Key: openmcpv1alpha1.TerminatingTaint, Operator: clusterv1beta1.TolerationOpExists}},
		})
		w.selected(managed.Name)
		w.remove(cluster)
		w.terminating(managed)
		w.told(cluster, clusterrequest.ReasonDraining, "PlacementDecisions "+w.Namespace+"/p-decision-1")
		now.Step(drainTimeout)
		w.released(cluster, managed)
		w.told(cluster, clusterrequest.ReasonDrainTimedOut, "PlacementDecisions "+w.Namespace+"/p-decision-1")
	})

	It("cluster-request 4.6: keeps the ManagedCluster and its set if a Cluster of its name is there again", func(ctx SpecContext) {
		w := newWorld(ctx)
		cluster, managed := w.provided("a")
		w.work(managed)
		w.remove(cluster)
		suite.DropFinalizers(ctx, cluster)
		w.terminating(managed)

		another := w.UnboundSet(ctx, "another").Name
		again := w.cluster("a", func(c *openmcpv1alpha1.Cluster) { c.Annotations[openmcpv1alpha1.ClusterSetAnnotation] = another })
		w.eventually(func(g Gomega) {
			kept := &clusterv1.ManagedCluster{}
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(managed), kept)).To(Succeed())
			g.Expect(kept.UID).To(Equal(managed.UID))
			g.Expect(kept.Spec.Taints).To(BeEmpty())
			g.Expect(kept.Labels).To(HaveKeyWithValue(clusterv1beta2.ClusterSetLabel, w.set))
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(again), again)).To(Succeed())
			g.Expect(again.Annotations).To(HaveKeyWithValue(openmcpv1alpha1.ClusterSetAnnotation, w.set))
			g.Expect(again.Finalizers).To(ContainElement(openmcpv1alpha1.InventoryFinalizer))
			g.Expect(meta.IsStatusConditionTrue(again.Status.Conditions, openmcpv1alpha1.ConditionPublished)).To(BeTrue())
		})

		w.healthy(again)
		w.published(again)
	})

	It("cluster-request 4.6: is drained without its finalizer, also when it has vanished while no hub ran", func(ctx SpecContext) {
		w := newWorld(ctx)
		cluster, managed := w.provided("a")
		resume := suite.PauseHub(ctx)
		w.remove(cluster)
		suite.DropFinalizers(ctx, cluster)
		work := w.work(managed)

		resume()
		w.terminating(managed)
		w.remove(work)
		w.deleted(managed)
		w.deleted(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: managed.Name}})
	})
})
