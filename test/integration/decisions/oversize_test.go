// SPDX-License-Identifier: Apache-2.0

package decisions

import (
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/limits"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// The object would be too large for etcd with a few hundred groups, because its spec takes nearly all the room there is.
var _ = Describe("A status that has no room for all decision groups", func() {
	const (
		clusters  = 460
		specBytes = 1505_000 // of the 1,572,864 that a request to etcd may have
	)

	It("lists the first ones, and surplus pages go on being deleted", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, clusters)
		f.AwaitClusters(ctx)
		spec := clusterv1beta1.PlacementSpec{DecisionStrategy: clusterv1beta1.DecisionStrategy{
			GroupStrategy: clusterv1beta1.GroupStrategy{ClustersPerDecisionGroup: intstr.FromInt32(1)},
		}}

		strangers := make([]string, 0, specBytes/66)
		for n := range cap(strangers) {
			strangers = append(strangers, fmt.Sprintf("%063d", n))
		}
		selector := metav1.LabelSelector{}
		for values := range slices.Chunk(strangers, limits.Values.Max) {
			selector.MatchExpressions = append(selector.MatchExpressions, metav1.LabelSelectorRequirement{
				Key: "stranger", Operator: metav1.LabelSelectorOpNotIn, Values: values,
			})
		}

		spec.Predicates = []clusterv1beta1.ClusterPredicate{{RequiredClusterSelector: clusterv1beta1.ClusterSelector{LabelSelector: selector}}}
		name := strings.Repeat("p", 63)
		f.Placement(ctx, name, spec)

		Eventually(func(g Gomega) {
			p := f.Read(ctx, g, name)
			g.Expect(p.Status.NumberOfSelectedClusters).To(BeNumerically("==", clusters))
			g.Expect(meta.IsStatusConditionFalse(p.Status.Conditions, placement.ConditionGroupsListed)).To(BeTrue())
			g.Expect(meta.IsStatusConditionTrue(p.Status.Conditions, placement.ConditionSatisfied)).To(BeTrue())
			g.Expect(p.Status.DecisionGroups[0].Decisions).To(ConsistOf(name + "-decision-1"))
			g.Expect(f.Pages(ctx, g, name)).To(HaveLen(clusters))
		}).WithContext(ctx).WithTimeout(4 * suite.Timeout).Should(Succeed())

		By("letting half of the clusters go")
		for n := range clusters / 2 {
			f.DeleteCluster(ctx, fmt.Sprintf("c%03d", clusters/2+n+1))
		}
		Eventually(func(g Gomega) {
			g.Expect(f.Read(ctx, g, name).Status.NumberOfSelectedClusters).To(BeNumerically("==", clusters/2))
			g.Expect(f.Pages(ctx, g, name)).To(HaveLen(clusters / 2))
		}).WithContext(ctx).WithTimeout(4 * suite.Timeout).Should(Succeed())
	})
})
