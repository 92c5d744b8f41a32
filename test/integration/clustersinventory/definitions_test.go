// SPDX-License-Identifier: Apache-2.0

package clustersinventory

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

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
		suite.LoseDefinition(ctx, "clusters", &openmcpv1alpha1.ClusterList{})
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
		suite.LoseDefinition(ctx, "clusters", &openmcpv1alpha1.ClusterList{})
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

		suite.LoseDefinition(ctx, "clusterproviders", &openmcpv1alpha1.ClusterProviderList{})
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
