// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"context"
	"path"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// The placements of placement.open-cluster-management.io/v1alpha1 are called alpha here, to tell them from those of v1beta1.

// editAlpha changes the spec of a placement of v1alpha1.
func editAlpha(ctx context.Context, f *suite.Fixture, name string, change func(*placementv1alpha1.PlacementSpec)) {
	GinkgoHelper()
	suite.Edit(ctx, &placementv1alpha1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: name}},
		func(p *placementv1alpha1.Placement) { change(&p.Spec) })
}

// alphaMessage is the text of a condition.
func alphaMessage(ctx context.Context, f *suite.Fixture, g Gomega, name, kind string) string {
	condition := meta.FindStatusCondition(f.ReadAlpha(ctx, g, name).Status.Conditions, kind)
	g.Expect(condition).NotTo(BeNil())
	return condition.Message
}

// alphaWrites are the requests of the hub in the fixture's namespace that change objects of v1alpha1, as "verb resource/name/subresource".
func alphaWrites(f *suite.Fixture, g Gomega) []string {
	events, err := suite.ControlPlane.Writes(localplane.By(suite.HubUser))
	g.Expect(err).NotTo(HaveOccurred())
	writes := []string{}
	for _, event := range events {
		if ref := event.ObjectRef; ref != nil && ref.Namespace == f.Namespace && ref.APIGroup == placementv1alpha1.GroupName {
			writes = append(writes, event.Verb+" "+path.Join(ref.Resource, ref.Name, ref.Subresource))
		}
	}
	return writes
}

// apart asks for clusters with different values of a label or claim.
func apart(kind placementv1alpha1.TopologyKeyType, key string) placementv1alpha1.PlacementSpec {
	return placementv1alpha1.PlacementSpec{AntiAffinity: placementv1alpha1.AntiAffinity{TopologyKey: key, TopologyKeyType: kind}}
}

// reachable gives a cluster the condition that it is available.
func reachable(c *clusterv1.ManagedCluster) {
	meta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{
		Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue, Reason: "ManagedClusterAvailable",
	})
}

// reach writes the condition of a cluster that says whether it is available, with a message.
func reach(ctx context.Context, f *suite.Fixture, short string, status metav1.ConditionStatus, message string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		cluster := &clusterv1.ManagedCluster{}
		g.Expect(suite.Client.Get(ctx, client.ObjectKey{Name: f.Name(short)}, cluster)).To(Succeed())
		meta.SetStatusCondition(&cluster.Status.Conditions, metav1.Condition{
			Type: clusterv1.ManagedClusterConditionAvailable, Status: status, Reason: "Reported", Message: message,
		})
		g.Expect(suite.Client.Status().Update(ctx, cluster)).To(Succeed())
	}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
}
