// SPDX-License-Identifier: Apache-2.0

package clustersinventory

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// drainTimeout is longer than any spec takes: only a step of the clock ends it.
const drainTimeout = time.Hour

// now is the clock of the hub.
var now = clocktesting.NewFakeClock(time.Now())

func TestClustersInventory(t *testing.T) {
	suite.Run(t, "ManagedClusters of Clusters", suite.BeforeHub(prepare), suite.ConfigureHub(func(o *system.Options) {
		o.Controllers = append(o.Controllers, "federation/objects", "clusters-inventory")
		o.Clock, o.ClusterDrainTimeout = now, drainTimeout
	}))
}

func prepare(ctx SpecContext) {
	admin := suite.ControlPlane.AdminConfig()
	Expect(manifests.InstallManifestWorks(ctx, admin)).To(Succeed())
	for _, system := range []string{manifests.Federation, manifests.ClusterRequest} {
		Expect(manifests.InstallSystem(ctx, admin, system, "")).To(Succeed())
	}
	createProvider(ctx)
}

// createProvider creates the ClusterProvider of all Clusters.
func createProvider(ctx context.Context) {
	GinkgoHelper()
	provider := &openmcpv1alpha1.ClusterProvider{ObjectMeta: metav1.ObjectMeta{Name: "gardener"}}
	Expect(suite.Client.Create(ctx, provider)).To(Succeed())
	provider.Status.Profiles = []openmcpv1alpha1.Profile{
		{Name: "aws", SupportedTraits: []openmcpv1alpha1.SupportedTrait{{Trait: "infrastructure/vendor/aws"}}},
	}
	Expect(suite.Client.Status().Update(ctx, provider)).To(Succeed())
}

// world is a namespace that takes part in federation and is bound to the set of its Clusters.
type world struct {
	*suite.Fixture

	set string
	ctx context.Context //nolint:containedctx // That of the spec.
}

func newWorld(ctx context.Context) *world {
	GinkgoHelper()
	f := suite.NewFixture(ctx, func(namespace *corev1.Namespace) {
		namespace.Labels = map[string]string{federation.FederatedLabel: "true"}
	})
	w := &world{Fixture: f, set: f.Set(ctx, "set").Name, ctx: ctx}
	DeferCleanup(w.release)
	return w
}

// release lets the Clusters of the world go, whatever holds them.
func (w *world) release(ctx SpecContext) {
	list := &openmcpv1alpha1.ClusterList{}
	Expect(suite.Client.List(ctx, list, client.InNamespace(w.Namespace))).To(Succeed())
	for i := range list.Items {
		Expect(client.IgnoreNotFound(suite.Client.Delete(ctx, &list.Items[i]))).To(Succeed())
	}
	w.ctx = ctx

	w.eventually(func(g Gomega) {
		now.Step(drainTimeout) // Again and again: the time of a drain begins when the hub sees the deletion.
		g.Expect(suite.Client.List(ctx, list, client.InNamespace(w.Namespace))).To(Succeed())
		for i := range list.Items {
			g.Expect(list.Items[i].Finalizers).NotTo(ContainElement(openmcpv1alpha1.InventoryFinalizer))
			suite.DropFinalizers(ctx, &list.Items[i])
		}
	})
}

// cluster creates a Cluster in the set of the world as its provider would find it. A change may be nil.
func (w *world) cluster(name string, change func(*openmcpv1alpha1.Cluster)) *openmcpv1alpha1.Cluster {
	GinkgoHelper()
	cluster := &openmcpv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{
		Namespace: w.Namespace, Name: name, Annotations: map[string]string{openmcpv1alpha1.ClusterSetAnnotation: w.set},
	}}
	cluster.Spec.ClusterProviderRef = openmcpv1alpha1.ClusterProviderReference{Name: "gardener", Profile: "aws"}
	cluster.Spec.Purposes = []openmcpv1alpha1.PurposeName{"platform", "onboarding"}
	if change != nil {
		change(cluster)
	}
	w.Create(w.ctx, cluster)
	return cluster
}

// healthy does for a Cluster what its provider does: the Lease, and the condition.
func (w *world) healthy(cluster *openmcpv1alpha1.Cluster) {
	GinkgoHelper()
	w.Create(w.ctx, &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: clusterrequest.LeaseName(cluster.UID)},
		Spec: coordinationv1.LeaseSpec{
			LeaseDurationSeconds: ptr.To[int32](60), RenewTime: ptr.To(metav1.NewMicroTime(now.Now())), HolderIdentity: ptr.To("gardener"),
		},
	})

	before := cluster.DeepCopy()
	meta.SetStatusCondition(&cluster.Status.Conditions, metav1.Condition{
		Type: openmcpv1alpha1.ConditionClusterHealthy, Status: metav1.ConditionTrue, Reason: "Running",
	})
	Expect(suite.Client.Status().Patch(w.ctx, cluster, client.MergeFrom(before))).To(Succeed())
}

// renew does what the provider does a third of a duration after the last time.
func (w *world) renew(cluster *openmcpv1alpha1.Cluster) {
	GinkgoHelper()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: clusterrequest.LeaseName(cluster.UID)}}
	suite.Edit(w.ctx, lease, func(l *coordinationv1.Lease) { l.Spec.RenewTime = ptr.To(metav1.NewMicroTime(now.Now())) })
}

// published waits until a Cluster is published and available, and returns its ManagedCluster.
func (w *world) published(cluster *openmcpv1alpha1.Cluster) *clusterv1.ManagedCluster {
	GinkgoHelper()
	managed := &clusterv1.ManagedCluster{}
	w.eventually(func(g Gomega) {
		g.Expect(suite.Client.Get(w.ctx, client.ObjectKeyFromObject(cluster), cluster)).To(Succeed())
		g.Expect(meta.IsStatusConditionTrue(cluster.Status.Conditions, openmcpv1alpha1.ConditionPublished)).To(BeTrue())
		g.Expect(suite.Client.Get(w.ctx, types.NamespacedName{Name: cluster.Status.ManagedCluster}, managed)).To(Succeed())
		g.Expect(availability(managed)).To(Equal(metav1.ConditionTrue))
	})
	return managed
}

// availability returns the condition ManagedClusterConditionAvailable; empty if there is none.
func availability(managed *clusterv1.ManagedCluster) metav1.ConditionStatus {
	condition := meta.FindStatusCondition(managed.Status.Conditions, clusterv1.ManagedClusterConditionAvailable)
	if condition == nil {
		return ""
	}
	return condition.Status
}

// available waits until a ManagedCluster has this availability.
func (w *world) available(managed *clusterv1.ManagedCluster, want metav1.ConditionStatus) {
	GinkgoHelper()
	w.eventually(func(g Gomega) {
		g.Expect(suite.Client.Get(w.ctx, client.ObjectKeyFromObject(managed), managed)).To(Succeed())
		g.Expect(availability(managed)).To(Equal(want))
	})
}

// touch has the hub look at a Cluster.
func (w *world) touch(cluster *openmcpv1alpha1.Cluster) {
	GinkgoHelper()
	suite.Edit(w.ctx, cluster, func(c *openmcpv1alpha1.Cluster) { c.Annotations["touched"] = now.Now().String() })
}

func (w *world) eventually(check func(Gomega)) {
	GinkgoHelper()
	Eventually(check).WithContext(w.ctx).WithTimeout(suite.Timeout).Should(Succeed())
}

// deleted waits until an object is gone or being deleted.
func (w *world) deleted(object client.Object) {
	GinkgoHelper()
	w.eventually(func(g Gomega) {
		err := suite.Client.Get(w.ctx, client.ObjectKeyFromObject(object), object)
		g.Expect(client.IgnoreNotFound(err)).To(Succeed())
		g.Expect(err != nil || object.GetDeletionTimestamp() != nil).To(BeTrue())
	})
}

// told waits for an Event about a Cluster.
func (w *world) told(cluster *openmcpv1alpha1.Cluster, reason, words string) {
	GinkgoHelper()
	w.eventually(func(g Gomega) {
		list := &eventsv1.EventList{}
		g.Expect(suite.Client.List(w.ctx, list, client.InNamespace(cluster.Namespace))).To(Succeed())
		g.Expect(list.Items).To(ContainElement(And(HaveField("Regarding.Name", cluster.Name), HaveField("Reason", reason),
			HaveField("Note", ContainSubstring(words)))))
	})
}
