package integration

import (
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

var _ = Describe("Predicates", func() {
	It("18: a label predicate is added and changed", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 3, labeled("cloud", "a"))
		w.clusters(ctx, "set", 4, 5, labeled("cloud", "b"))
		w.placement(ctx, "p", clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](10)})
		w.expectSelected(ctx, "p", notAllScheduled, shorts(1, 5)...)

		w.editPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { *s = matching(byLabel("cloud", "a")) })
		w.expectSelected(ctx, "p", allScheduled, shorts(1, 3)...)

		w.editPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { *s = matching(byLabel("cloud", "b")) })
		w.expectSelected(ctx, "p", allScheduled, shorts(4, 5)...)

		w.editCluster(ctx, "c001", func(c *clusterv1.ManagedCluster) { c.Labels["cloud"] = "b" })
		w.expectSelected(ctx, "p", allScheduled, "c001", "c004", "c005")
	})

	It("19: a claim predicate is added and changed", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 3, claiming("cloud", "a"))
		w.clusters(ctx, "set", 4, 5, claiming("cloud", "b"))
		w.placement(ctx, "p", clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](10)})
		w.expectSelected(ctx, "p", notAllScheduled, shorts(1, 5)...)

		in := metav1.LabelSelectorOpIn

		w.editPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { *s = matching(byClaim("cloud", in, "a")) })
		w.expectSelected(ctx, "p", allScheduled, shorts(1, 3)...)

		w.editPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { *s = matching(byClaim("cloud", in, "b")) })
		w.expectSelected(ctx, "p", allScheduled, shorts(4, 5)...)
	})

	It("C1: claims are plain strings of any name and value in every operator", func(ctx SpecContext) {
		const arn = "arn:aws:iam::123456789012:role/delivery/cluster"

		name := "https://example.com/" + strings.Repeat("long", 20) + "?what=account"
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.cluster(ctx, "set", "c001", claiming(name, arn))
		w.cluster(ctx, "set", "c002", claiming(name, arn+"/other"))
		w.cluster(ctx, "set", "c003")

		for placement, predicate := range map[string]clusterv1beta1.ClusterPredicate{
			"in":     byClaim(name, metav1.LabelSelectorOpIn, arn),
			"not-in": byClaim(name, metav1.LabelSelectorOpNotIn, arn),
			"exists": byClaim(name, metav1.LabelSelectorOpExists),
			"absent": byClaim(name, metav1.LabelSelectorOpDoesNotExist),
		} {
			w.placement(ctx, placement, matching(predicate))
		}

		w.expectSelected(ctx, "in", allScheduled, "c001")
		w.expectSelected(ctx, "not-in", allScheduled, "c002", "c003")
		w.expectSelected(ctx, "exists", allScheduled, "c001", "c002")
		w.expectSelected(ctx, "absent", allScheduled, "c003")
	})

	It("20: a bad CEL expression selects nothing on a new placement; a good one on scores the cluster that has them", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 3)
		w.score(ctx, "c001", 70, nil)
		w.score(ctx, "c002", 90, nil)
		w.placement(ctx, "p", matching(byCEL("managedCluster.metadata.")))
		w.expectMisconfigured(ctx, "p", "spec.predicates[0].requiredClusterSelector.celSelector.celExpressions[0]: Invalid value:")
		Expect(w.look(ctx, Default, "p").Groups).To(HaveExactElements("0/: 0 [p-decision-1]"))

		w.editPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) {
			*s = matching(byCEL(`managedCluster.scores("demo").filter(s, s.name == 'size').all(s, s.value > 80)`))
		})
		w.expectSelected(ctx, "p", allScheduled, "c002")
	})

	It("C2: an error at run time leaves the cluster out and is summed up in the condition", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 2)
		w.clusters(ctx, "set", 3, 5, labeled("size", "large"))
		w.placement(ctx, "p", matching(byCEL(`managedCluster.metadata.labels.size == "large"`)))
		w.expectSelected(ctx, "p", allScheduled, shorts(3, 5)...)
		Expect(w.message(ctx, Default, "p", clusterv1beta1.PlacementConditionMisconfigured)).To(And(
			HavePrefix("Placement configurations check pass; spec.predicates[0].requiredClusterSelector.celSelector.celExpressions[0] "),
			ContainSubstring("on 2 clusters"), ContainSubstring(w.name("c001")), ContainSubstring("no such key: size"),
		))

		w.editCluster(ctx, "c001", func(c *clusterv1.ManagedCluster) { c.Labels["size"] = "small" })
		Eventually(func(g Gomega) {
			g.Expect(w.message(ctx, g, "p", clusterv1beta1.PlacementConditionMisconfigured)).
				To(And(ContainSubstring("on 1 clusters"), ContainSubstring(w.name("c002"))))
		}).WithContext(ctx).WithTimeout(settle).Should(Succeed())
	})

	It("C2: an expression that is no boolean is a mistake", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 1)
		w.placement(ctx, "p", matching(byCEL("'yes'")))

		w.expectMisconfigured(ctx, "p", "must be a boolean expression, but its type is string")
	})

	It("C2: scores() follows the scores", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 2)
		w.score(ctx, "c001", 90, nil)
		w.placement(ctx, "p", matching(byCEL(`managedCluster.scores("demo").exists(s, s.name == 'size' && s.value > 80)`)))
		w.expectSelected(ctx, "p", allScheduled, "c001")

		w.score(ctx, "c002", 81, nil)
		w.expectSelected(ctx, "p", allScheduled, "c001", "c002")

		w.score(ctx, "c001", 80, nil)
		w.expectSelected(ctx, "p", allScheduled, "c002")
	})

	It("C2: scores() forgets expired scores when their time comes, with no other event", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 2)

		expiry := metav1.NewTime(time.Now().Add(12 * time.Second).Truncate(time.Second))
		w.score(ctx, "c001", 90, &expiry)
		w.score(ctx, "c002", 90, nil)
		w.placement(ctx, "p", matching(byCEL(`managedCluster.scores("demo").exists(s, s.value > 80)`)))
		w.expectSelected(ctx, "p", allScheduled, "c001", "c002")

		w.expectSelected(ctx, "p", allScheduled, "c002")
		Expect(time.Now()).To(BeTemporally(">", expiry.Time))
	})

	It("predicates are ORed, the selectors of one are ANDed", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.cluster(ctx, "set", "c001", labeled("cloud", "a"), claiming("zone", "1"))
		w.cluster(ctx, "set", "c002", labeled("cloud", "a"), claiming("zone", "2"))
		w.cluster(ctx, "set", "c003", labeled("cloud", "b"))

		both := byLabel("cloud", "a")
		both.RequiredClusterSelector.ClaimSelector = byClaim("zone", metav1.LabelSelectorOpIn, "2").RequiredClusterSelector.ClaimSelector
		both.RequiredClusterSelector.CelSelector.CelExpressions = []string{"true", `managedCluster.metadata.labels["cloud"] == "a"`}
		w.placement(ctx, "p", matching(both, byLabel("cloud", "b")))

		w.expectSelected(ctx, "p", allScheduled, "c002", "c003")
	})
})
