package integration

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

var _ = Describe("A restart", Serial, func() {
	// diverse fills a world with placements of every kind.
	diverse := func(ctx context.Context) *world {
		w := newWorld(ctx, withoutAdmission)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 105, labeled("cloud", "a"), claiming("zone", "1"), offering("4", "16"))
		w.cluster(ctx, "set", "c106", tainted("key", "", clusterv1.TaintEffectNoSelectIfNew))
		w.score(ctx, "c007", 50, nil)

		for name, spec := range map[string]clusterv1beta1.PlacementSpec{
			"all":     {},
			"few":     {NumberOfClusters: ptr.To[int32](3)},
			"wanting": {NumberOfClusters: ptr.To[int32](500)},
			"label":   {Predicates: []clusterv1beta1.ClusterPredicate{byLabel("cloud", "a")}},
			"claim":   {Predicates: []clusterv1beta1.ClusterPredicate{byClaim("zone", "In", "1")}},
			"cel":     {Predicates: []clusterv1beta1.ClusterPredicate{byCEL(`managedCluster.scores("demo").exists(s, s.value > 0)`)}},
			"score":   {NumberOfClusters: ptr.To[int32](2), PrioritizerPolicy: exactly(demoScore(1), builtIn(cpu, 1))},
			"none":    {Predicates: []clusterv1beta1.ClusterPredicate{byLabel("cloud", "z")}},
			"unbound": {ClusterSets: []string{"absent"}},
			"wrong":   {NumberOfClusters: ptr.To[int32](-1)},
			"taint":   {Tolerations: []clusterv1beta1.Toleration{{Key: "key", Operator: clusterv1beta1.TolerationOpExists}}},
			"groups": {DecisionStrategy: clusterv1beta1.DecisionStrategy{GroupStrategy: clusterv1beta1.GroupStrategy{
				ClustersPerDecisionGroup: intstr.FromString("30%"),
			}}},
		} {
			w.placement(ctx, name, spec)
			Eventually(func(g Gomega) { w.look(ctx, g, name) }).WithContext(ctx).WithTimeout(settle).Should(Succeed())
		}

		return w
	}

	It("B6: writes nothing over a settled world", func(ctx SpecContext) {
		w := diverse(ctx)
		w.alone(ctx)
		toldAll(ctx)

		probe := newWorld(ctx)
		elsewhere := func(g Gomega) []string {
			return hubWrites(g, func(namespace string) bool { return namespace != probe.namespace })
		}
		evaluations := w.idle(ctx).Evaluations
		before := unchanging(ctx, elsewhere)

		stopHub()

		stopHub = startHub(serviceAccount(ctx, controlPlane))

		probe.placement(ctx, "probe", clusterv1beta1.PlacementSpec{})
		probe.expectSelected(ctx, "probe", noBindings)
		Expect(w.idle(ctx).Evaluations).To(BeNumerically(">=", evaluations+12), "every placement was evaluated again")
		Consistently(elsewhere).WithContext(ctx).WithTimeout(quiet).WithPolling(auditEvery).Should(Equal(before))
	})

	It("catches up with what happened meanwhile", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 4)

		for _, name := range []string{"grown", "emptied", "lost", "damaged"} {
			w.placement(ctx, name, clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](4)})
			w.expectSelected(ctx, name, allScheduled, shorts(1, 4)...)
		}

		stopHub()
		w.deleteCluster(ctx, "c001")
		w.clusters(ctx, "set", 5, 5)
		w.editPlacement(ctx, "emptied", func(s *clusterv1beta1.PlacementSpec) { s.NumberOfClusters = ptr.To[int32](0) })
		Expect(hub.Delete(ctx, &w.pages(ctx, Default, "lost")[0])).To(Succeed())
		edit(ctx, &w.pages(ctx, Default, "damaged")[0], func(p *clusterv1beta1.PlacementDecision) { p.OwnerReferences = nil })
		w.placement(ctx, "new", clusterv1beta1.PlacementSpec{})

		stopHub = startHub(serviceAccount(ctx, controlPlane))

		for _, name := range []string{"grown", "lost", "damaged", "new"} {
			w.expectSelected(ctx, name, allScheduled, shorts(2, 5)...)
		}

		w.expectSelected(ctx, "emptied", nothingMatched)
	})
})
