// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("Predicates", func() {
	It("18: a label predicate is added and changed", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 3, suite.Labeled("cloud", "a"))
		f.Clusters(ctx, "set", 4, 5, suite.Labeled("cloud", "b"))
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](10)})
		f.ExpectSelected(ctx, "p", suite.NotAllScheduled, suite.Shorts(1, 5)...)

		f.EditPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { *s = suite.Matching(suite.ByLabel("cloud", "a")) })
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(1, 3)...)

		f.EditPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { *s = suite.Matching(suite.ByLabel("cloud", "b")) })
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(4, 5)...)

		f.EditCluster(ctx, "c001", func(c *clusterv1.ManagedCluster) { c.Labels["cloud"] = "b" })
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001", "c004", "c005")
	})

	It("19: a claim predicate is added and changed", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 3, suite.Claiming("cloud", "a"))
		f.Clusters(ctx, "set", 4, 5, suite.Claiming("cloud", "b"))
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](10)})
		f.ExpectSelected(ctx, "p", suite.NotAllScheduled, suite.Shorts(1, 5)...)
		in := metav1.LabelSelectorOpIn
		f.EditPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { *s = suite.Matching(suite.ByClaim("cloud", in, "a")) })
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(1, 3)...)

		f.EditPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { *s = suite.Matching(suite.ByClaim("cloud", in, "b")) })
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(4, 5)...)
	})

	It("C1: claims are plain strings of any name and value in every operator", func(ctx SpecContext) {
		const arn = "arn:aws:iam::123456789012:role/delivery/cluster"
		name := "https://example.com/" + strings.Repeat("long", 20) + "?what=account"
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Cluster(ctx, "set", "c001", suite.Claiming(name, arn))
		f.Cluster(ctx, "set", "c002", suite.Claiming(name, arn+"/other"))
		f.Cluster(ctx, "set", "c003")

		for placement, predicate := range map[string]clusterv1beta1.ClusterPredicate{
			"in":     suite.ByClaim(name, metav1.LabelSelectorOpIn, arn),
			"not-in": suite.ByClaim(name, metav1.LabelSelectorOpNotIn, arn),
			"exists": suite.ByClaim(name, metav1.LabelSelectorOpExists),
			"absent": suite.ByClaim(name, metav1.LabelSelectorOpDoesNotExist),
		} {
			f.Placement(ctx, placement, suite.Matching(predicate))
		}

		f.ExpectSelected(ctx, "in", suite.AllScheduled, "c001")
		f.ExpectSelected(ctx, "not-in", suite.AllScheduled, "c002", "c003")
		f.ExpectSelected(ctx, "exists", suite.AllScheduled, "c001", "c002")
		f.ExpectSelected(ctx, "absent", suite.AllScheduled, "c003")
	})

	It("20: a bad CEL expression selects nothing on a new placement; a good one on scores the cluster that has them", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 3)
		f.Score(ctx, "c001", 70, nil)
		f.Score(ctx, "c002", 90, nil)
		f.Placement(ctx, "p", suite.Matching(suite.ByCEL("managedCluster.metadata.")))
		f.ExpectMisconfigured(ctx, "p", "spec.predicates[0].requiredClusterSelector.celSelector.celExpressions[0]: Invalid value:")
		Expect(f.Look(ctx, Default, "p").Groups).To(HaveExactElements("0/: 0 [p-decision-1]"))

		f.EditPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) {
			*s = suite.Matching(suite.ByCEL(`managedCluster.scores("demo").filter(s, s.name == 'size').all(s, s.value > 80)`))
		})
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c002")
	})

	It("C2: an error at run time leaves the cluster out and is summed up in the condition", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 2)
		f.Clusters(ctx, "set", 3, 5, suite.Labeled("size", "large"))
		f.Placement(ctx, "p", suite.Matching(suite.ByCEL(`managedCluster.metadata.labels.size == "large"`)))
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(3, 5)...)
		Expect(f.Message(ctx, Default, "p", clusterv1beta1.PlacementConditionMisconfigured)).To(And(
			HavePrefix("Placement configurations check pass; spec.predicates[0].requiredClusterSelector.celSelector.celExpressions[0] "),
			ContainSubstring("on 2 clusters"), ContainSubstring(f.Name("c001")), ContainSubstring("no such key: size"),
		))

		f.EditCluster(ctx, "c001", func(c *clusterv1.ManagedCluster) { c.Labels["size"] = "small" })
		Eventually(func(g Gomega) {
			g.Expect(f.Message(ctx, g, "p", clusterv1beta1.PlacementConditionMisconfigured)).
				To(And(ContainSubstring("on 1 clusters"), ContainSubstring(f.Name("c002"))))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	})

	It("C2: an expression that is no boolean is a mistake", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 1)
		f.Placement(ctx, "p", suite.Matching(suite.ByCEL("'yes'")))
		f.ExpectMisconfigured(ctx, "p", "must be a boolean expression, but its type is string")
	})

	It("C2: scores() follows the scores", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 2)
		f.Score(ctx, "c001", 90, nil)
		f.Placement(ctx, "p", suite.Matching(suite.ByCEL(`managedCluster.scores("demo").exists(s, s.name == 'size' && s.value > 80)`)))
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001")
		f.Score(ctx, "c002", 81, nil)
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001", "c002")
		f.Score(ctx, "c001", 80, nil)
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c002")
	})

	It("C2: scores() forgets expired scores when their time comes, with no other event", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 2)
		f.Score(ctx, "c001", 90, nil)
		f.Score(ctx, "c002", 90, nil)
		f.Placement(ctx, "p", suite.Matching(suite.ByCEL(`managedCluster.scores("demo").exists(s, s.value > 80)`)))
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001", "c002")

		expiry := inAWhile()
		f.Score(ctx, "c001", 90, &expiry)
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c002")
		Expect(time.Now()).To(BeTemporally(">", expiry.Time))
	})

	It("predicates are ORed, the selectors of one are ANDed", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Cluster(ctx, "set", "c001", suite.Labeled("cloud", "a"), suite.Claiming("zone", "1"))
		f.Cluster(ctx, "set", "c002", suite.Labeled("cloud", "a"), suite.Claiming("zone", "2"))
		f.Cluster(ctx, "set", "c003", suite.Labeled("cloud", "b"))
		both := suite.ByLabel("cloud", "a")
		both.RequiredClusterSelector.ClaimSelector = suite.ByClaim("zone", metav1.LabelSelectorOpIn, "2").RequiredClusterSelector.ClaimSelector
		both.RequiredClusterSelector.CelSelector.CelExpressions = []string{"true", `managedCluster.metadata.labels["cloud"] == "a"`}
		f.Placement(ctx, "p", suite.Matching(both, suite.ByLabel("cloud", "b")))
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c002", "c003")
	})
})
