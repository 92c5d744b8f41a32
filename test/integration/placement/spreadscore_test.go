// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("The prioritizer Spread", func() {
	inZone := func(zone string) clusterv1beta1.PlacementSpec {
		return clusterv1beta1.PlacementSpec{Predicates: []clusterv1beta1.ClusterPredicate{suite.ByLabel("zone", zone)}}
	}
	// avoiding takes n clusters by the prioritizer alone, over zones.
	avoiding := func(n int32) clusterv1beta1.PlacementSpec {
		return clusterv1beta1.PlacementSpec{
			NumberOfClusters: ptr.To(n), PrioritizerPolicy: suite.Exactly(suite.BuiltIn(suite.Spreading, 1)),
			SpreadPolicy: clusterv1beta1.SpreadPolicy{SpreadConstraints: []clusterv1beta1.SpreadConstraintsTerm{{
				TopologyKey: "zone", TopologyKeyType: clusterv1beta1.TopologyKeyTypeLabel, MaxSkew: 1,
				WhenUnsatisfiable: clusterv1beta1.ScheduleAnyway,
			}}},
		}
	}
	// zones is a fixture with two clusters in each of two zones.
	zones := func(ctx context.Context) *suite.Fixture {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 2, suite.Labeled("zone", "a"))
		f.Clusters(ctx, "set", 3, 4, suite.Labeled("zone", "b"))
		return f
	}

	It("D3: prefers the domains with few decisions of other placements of the namespace", func(ctx SpecContext) {
		f := zones(ctx)
		again := func() {
			f.EditPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) {
				s.Predicates = append(s.Predicates, suite.ByLabel(suite.FixtureLabel, f.Namespace)) // The same question in a new generation.
			})
		}
		f.Placement(ctx, "p", avoiding(1))
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001")

		By("not counting its own")
		again()
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001")

		By("counting those of others when it is evaluated next")
		f.Placement(ctx, "others", inZone("a"))
		f.ExpectSelected(ctx, "others", suite.AllScheduled, "c001", "c002")
		again()
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c003")
		f.Placement(ctx, "three", avoiding(3))
		f.ExpectSelected(ctx, "three", suite.AllScheduled, "c001", "c003", "c004")
	})

	It("D3: does not look into other namespaces", func(ctx SpecContext) {
		f := zones(ctx)
		elsewhere := suite.NewFixture(ctx)
		elsewhere.BindAny(ctx, f.Name("set"))
		elsewhere.Placement(ctx, "others", inZone("a"))
		Eventually(func(g Gomega) { g.Expect(elsewhere.Look(ctx, g, "others").Selected).To(HaveLen(2)) }).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		f.Placement(ctx, "p", avoiding(1))
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001")
	})

	It("D3: counts the placements of the older API too", func(ctx SpecContext) {
		f := zones(ctx)
		older := &placementv1alpha1.Placement{
			ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: "older"},
			Spec: placementv1alpha1.PlacementSpec{
				Predicates: []placementv1alpha1.ClusterPredicate{{ClusterName: f.Name("c001")}},
			},
		}
		f.Create(ctx, older)
		Eventually(func(g Gomega) {
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(older), older)).To(Succeed())
			g.Expect(older.Status.Conditions).NotTo(BeEmpty())
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())

		f.Placement(ctx, "p", avoiding(1))
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c003")
	})

	It("A2, D3: without spread constraints it says nothing and is no mistake", func(ctx SpecContext) {
		f := zones(ctx)
		f.Placement(ctx, "others", inZone("a"))
		f.ExpectSelected(ctx, "others", suite.AllScheduled, "c001", "c002")
		spec := avoiding(1)
		spec.SpreadPolicy = clusterv1beta1.SpreadPolicy{}
		f.Placement(ctx, "p", spec)
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001")
	})
})
