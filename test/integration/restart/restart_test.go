// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("A restart", func() {
	// diverse fills a fixture with placements of every kind.
	diverse := func(ctx context.Context) *suite.Fixture {
		f := suite.NewFixture(ctx, suite.WithoutAdmission)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 105, suite.Labeled("cloud", "a"), suite.Claiming("zone", "1"), suite.Offering("4", "16"))
		f.Cluster(ctx, "set", "c106", suite.Tainted("key", "", clusterv1.TaintEffectNoSelectIfNew))
		f.Score(ctx, "c007", 50, nil)

		for name, spec := range map[string]clusterv1beta1.PlacementSpec{
			"all":     {},
			"few":     {NumberOfClusters: ptr.To[int32](3)},
			"wanting": {NumberOfClusters: ptr.To[int32](500)},
			"label":   {Predicates: []clusterv1beta1.ClusterPredicate{suite.ByLabel("cloud", "a")}},
			"claim":   {Predicates: []clusterv1beta1.ClusterPredicate{suite.ByClaim("zone", "In", "1")}},
			"cel":     {Predicates: []clusterv1beta1.ClusterPredicate{suite.ByCEL(`managedCluster.scores("demo").exists(s, s.value > 0)`)}},
			"score": {
				NumberOfClusters: ptr.To[int32](2), PrioritizerPolicy: suite.Exactly(suite.DemoScore(1), suite.BuiltIn(suite.PrioritizerCPU, 1)),
			},
			"none":    {Predicates: []clusterv1beta1.ClusterPredicate{suite.ByLabel("cloud", "z")}},
			"unbound": {ClusterSets: []string{"absent"}},
			"wrong":   {NumberOfClusters: ptr.To[int32](-1)},
			"taint":   {Tolerations: []clusterv1beta1.Toleration{{Key: "key", Operator: clusterv1beta1.TolerationOpExists}}},
			"groups": {DecisionStrategy: clusterv1beta1.DecisionStrategy{GroupStrategy: clusterv1beta1.GroupStrategy{
				ClustersPerDecisionGroup: intstr.FromString("30%"),
			}}},
		} {
			f.Placement(ctx, name, spec)
			Eventually(func(g Gomega) { f.Look(ctx, g, name) }).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		}

		return f
	}

	It("B6: writes nothing over a settled world", func(ctx SpecContext) {
		f := diverse(ctx)
		f.AwaitNoOtherDecisions(ctx)
		probe := suite.NewFixture(ctx)
		probe.Placement(ctx, "probe", clusterv1beta1.PlacementSpec{})
		probe.ExpectSelected(ctx, "probe", suite.NoBindings)
		// Placements alone have the vocabulary written once in 30 s, and a label of a cluster at once, with all that has changed before.
		f.LabelClusters(ctx, "last", "yes", "c001")
		suite.ExpectVocabulary(ctx)
		elsewhere := func(g Gomega) []string {
			return suite.HubWrites(g, func(namespace string) bool { return namespace != probe.Namespace })
		}
		evaluations := f.AwaitIdle(ctx).Evaluations
		before := suite.AwaitUnchanged(ctx, elsewhere)
		suite.StopHub()

		suite.StopHub = suite.StartHub(suite.HubConfig(ctx, suite.ControlPlane))
		probe.EditPlacement(ctx, "probe", func(s *clusterv1beta1.PlacementSpec) { s.NumberOfClusters = ptr.To[int32](1) })
		probe.ExpectSelected(ctx, "probe", suite.NoBindings)
		Expect(f.AwaitIdle(ctx).Evaluations).To(BeNumerically(">=", evaluations+12), "every placement was evaluated again")
		Consistently(elsewhere).WithContext(ctx).WithTimeout(suite.QuietPeriod).WithPolling(suite.AuditInterval).Should(Equal(before))
	})

	It("catches up with what happened meanwhile", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 4)
		for _, name := range []string{"grown", "emptied", "lost", "damaged"} {
			f.Placement(ctx, name, clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](4)})
			f.ExpectSelected(ctx, name, suite.AllScheduled, suite.Shorts(1, 4)...)
		}

		suite.StopHub()
		f.DeleteCluster(ctx, "c001")
		f.Clusters(ctx, "set", 5, 5)
		f.EditPlacement(ctx, "emptied", func(s *clusterv1beta1.PlacementSpec) { s.NumberOfClusters = ptr.To[int32](0) })
		Expect(suite.Client.Delete(ctx, &f.Pages(ctx, Default, "lost")[0])).To(Succeed())
		suite.Edit(ctx, &f.Pages(ctx, Default, "damaged")[0], func(p *clusterv1beta1.PlacementDecision) { p.OwnerReferences = nil })
		f.Placement(ctx, "new", clusterv1beta1.PlacementSpec{})
		suite.StopHub = suite.StartHub(suite.HubConfig(ctx, suite.ControlPlane))

		for _, name := range []string{"grown", "lost", "damaged", "new"} {
			f.ExpectSelected(ctx, name, suite.AllScheduled, suite.Shorts(2, 5)...)
		}
		f.ExpectSelected(ctx, "emptied", suite.NothingMatched)
	})
})
