package clustersinventory

import (
	"strings"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/controller/systems"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// requestSystem is the system of cluster requests of the running hub.
var requestSystem atomic.Pointer[systems.System]

// on waits until the system of cluster requests is on, or off.
func (w *world) on(want bool) {
	GinkgoHelper()
	w.eventually(func(g Gomega) { g.Expect(requestSystem.Load().Off() == "").To(Equal(want)) })
}

// loseDefinition deletes the CustomResourceDefinition of a kind with all its objects, whatever finalizers they have, and installs it again.
func (w *world) loseDefinition(kind string, list client.ObjectList) {
	GinkgoHelper()

	definition := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: kind + "." + openmcpv1alpha1.GroupName}}
	Expect(suite.Client.Delete(w.ctx, definition)).To(Succeed())
	w.on(false)

	w.eventually(func(g Gomega) {
		if err := suite.Client.List(w.ctx, list); err == nil {
			g.Expect(meta.EachListItem(list, func(object runtime.Object) error {
				suite.DropFinalizers(w.ctx, object.(client.Object)) //nolint:forcetypeassert // Items of lists are objects.

				return nil
			})).To(Succeed())
		}

		err := suite.Client.Get(w.ctx, client.ObjectKeyFromObject(definition), definition)
		g.Expect(apierrors.IsNotFound(err)).To(BeTrue())
	})

	Expect(manifests.InstallSystem(w.ctx, suite.ControlPlane.AdminConfig(), manifests.ClusterRequest, "")).To(Succeed())
	w.on(true)
}

// kept waits until a ManagedCluster says that it stays without its Cluster.
func (w *world) kept(managed *clusterv1.ManagedCluster) {
	GinkgoHelper()
	w.eventually(func(g Gomega) {
		g.Expect(suite.Client.Get(w.ctx, client.ObjectKeyFromObject(managed), managed)).To(Succeed())

		condition := meta.FindStatusCondition(managed.Status.Conditions, clusterrequest.ConditionClusterGone)
		g.Expect(condition).NotTo(BeNil())
		g.Expect(condition.Status).To(Equal(metav1.ConditionTrue))
		g.Expect(condition.Message).To(ContainSubstring(openmcpv1alpha1.WithdrawAnnotation))
	})
	Expect(managed.DeletionTimestamp).To(BeNil())
	Expect(managed.Spec.Taints).To(BeEmpty())
}

var _ = Describe("definitions that are deleted and come back", Serial, func() {
	It("T2: ManagedClusters stay while Clusters are gone with their definition, until they are back or withdrawn", func(ctx SpecContext) {
		w := newWorld(ctx)
		_, back := w.provided("back")
		_, gone := w.provided("gone")

		w.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		w.selected(back.Name, gone.Name)
		before := versions(w.Pages(ctx, Default, "p"))

		w.loseDefinition("clusters", &openmcpv1alpha1.ClusterList{})
		w.kept(back)
		w.kept(gone)
		Expect(versions(w.Pages(ctx, Default, "p"))).To(Equal(before), "nothing left the Placement at any moment")

		again := w.cluster("back", nil)
		w.healthy(again)
		now := w.published(again)
		Expect(now.UID).To(Equal(back.UID))
		Expect(meta.FindStatusCondition(now.Status.Conditions, clusterrequest.ConditionClusterGone)).To(BeNil())
		w.kept(gone)
		Expect(versions(w.Pages(ctx, Default, "p"))).To(Equal(before))

		suite.Edit(ctx, gone, func(managed *clusterv1.ManagedCluster) {
			managed.Annotations[openmcpv1alpha1.WithdrawAnnotation] = "true"
		})
		w.selected(back.Name)
		w.deleted(gone)
	})

	It("T2: a deletion that was seen goes on although the definition is replaced", func(ctx SpecContext) {
		w := newWorld(ctx)
		cluster, managed := w.provided("a")
		work := w.work(managed)

		w.remove(cluster)
		w.terminating(managed)
		w.loseDefinition("clusters", &openmcpv1alpha1.ClusterList{})
		w.remove(work)
		w.deleted(managed)
	})

	It("T2: what a lost ClusterProvider said of a Cluster stays", func(ctx SpecContext) {
		w := newWorld(ctx)
		cluster, managed := w.provided("a")

		w.Placement(ctx, "p", clusterv1beta1.PlacementSpec{Predicates: []clusterv1beta1.ClusterPredicate{
			suite.ByClaim(openmcpv1alpha1.TraitKeyPrefix+"infrastructure/vendor/aws", metav1.LabelSelectorOpIn, "true"),
		}})
		w.selected(managed.Name)
		before := versions(w.Pages(ctx, Default, "p"))

		w.loseDefinition("clusterproviders", &openmcpv1alpha1.ClusterProviderList{})
		suite.Edit(ctx, cluster, func(c *openmcpv1alpha1.Cluster) {
			c.Labels = map[string]string{openmcpv1alpha1.PlacementLabelPrefix + "seen": "again"}
		})
		w.eventually(func(g Gomega) {
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(managed), managed)).To(Succeed())
			g.Expect(managed.Labels).To(HaveKeyWithValue("seen", "again"))
		})
		Expect(availability(managed)).To(Equal(metav1.ConditionTrue))
		Expect(versions(w.Pages(ctx, Default, "p"))).To(Equal(before))

		createProvider(ctx)
		w.renew(cluster)
		w.available(managed, metav1.ConditionTrue)
		Expect(versions(w.Pages(ctx, Default, "p"))).To(Equal(before))
	})
})

// versions returns the identity and version of each page, which change with every write.
func versions(pages []clusterv1beta1.PlacementDecision) string {
	texts := make([]string, len(pages))
	for i := range pages {
		texts[i] = string(pages[i].UID) + " " + pages[i].ResourceVersion
	}

	return strings.Join(texts, ", ")
}
