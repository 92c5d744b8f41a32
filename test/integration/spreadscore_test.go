package integration

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
)

// spreading is the built-in prioritizer that avoids the domains in which others are.
const spreading = "Spread"

var _ = Describe("The prioritizer Spread", func() {
	inZone := func(zone string) clusterv1beta1.PlacementSpec {
		return clusterv1beta1.PlacementSpec{Predicates: []clusterv1beta1.ClusterPredicate{byLabel("zone", zone)}}
	}
	// avoiding takes n clusters by the prioritizer alone, over zones.
	avoiding := func(n int32) clusterv1beta1.PlacementSpec {
		return clusterv1beta1.PlacementSpec{
			NumberOfClusters: ptr.To(n), PrioritizerPolicy: exactly(builtIn(spreading, 1)),
			SpreadPolicy: clusterv1beta1.SpreadPolicy{SpreadConstraints: []clusterv1beta1.SpreadConstraintsTerm{{
				TopologyKey: "zone", TopologyKeyType: clusterv1beta1.TopologyKeyTypeLabel, MaxSkew: 1,
				WhenUnsatisfiable: clusterv1beta1.ScheduleAnyway,
			}}},
		}
	}
	// zones is a world with two clusters in each of two zones.
	zones := func(ctx context.Context) *world {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 2, labeled("zone", "a"))
		w.clusters(ctx, "set", 3, 4, labeled("zone", "b"))

		return w
	}

	It("D3: prefers the domains with few decisions of other placements of the namespace", func(ctx SpecContext) {
		w := zones(ctx)
		again := func() {
			w.editPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) {
				s.Predicates = append(s.Predicates, byLabel(worldLabel, w.namespace)) // The same question in a new generation.
			})
		}

		w.placement(ctx, "p", avoiding(1))
		w.expectSelected(ctx, "p", allScheduled, "c001")

		By("not counting its own")
		again()
		w.expectSelected(ctx, "p", allScheduled, "c001")

		By("counting those of others when it is evaluated next")
		w.placement(ctx, "others", inZone("a"))
		w.expectSelected(ctx, "others", allScheduled, "c001", "c002")
		again()
		w.expectSelected(ctx, "p", allScheduled, "c003")
		w.placement(ctx, "three", avoiding(3))
		w.expectSelected(ctx, "three", allScheduled, "c001", "c003", "c004")
	})

	It("D3: does not look into other namespaces", func(ctx SpecContext) {
		w := zones(ctx)
		elsewhere := newWorld(ctx)
		elsewhere.bindAny(ctx, w.name("set"))
		elsewhere.placement(ctx, "others", inZone("a"))
		Eventually(func(g Gomega) { g.Expect(elsewhere.look(ctx, g, "others").Selected).To(HaveLen(2)) }).
			WithContext(ctx).WithTimeout(settle).Should(Succeed())

		w.placement(ctx, "p", avoiding(1))
		w.expectSelected(ctx, "p", allScheduled, "c001")
	})

	It("D3: counts the placements of the older API too", func(ctx SpecContext) {
		w := zones(ctx)
		older := &placementv1alpha1.Placement{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "older"},
			Spec: placementv1alpha1.PlacementSpec{
				Predicates: []placementv1alpha1.ClusterPredicate{{ClusterName: w.name("c001")}},
			},
		}
		w.create(ctx, older)
		Eventually(func(g Gomega) {
			g.Expect(hub.Get(ctx, client.ObjectKeyFromObject(older), older)).To(Succeed())
			g.Expect(older.Status.Conditions).NotTo(BeEmpty())
		}).WithContext(ctx).WithTimeout(settle).Should(Succeed())

		w.placement(ctx, "p", avoiding(1))
		w.expectSelected(ctx, "p", allScheduled, "c003")
	})

	It("A2, D3: without spread constraints it says nothing and is no mistake", func(ctx SpecContext) {
		w := zones(ctx)
		w.placement(ctx, "others", inZone("a"))
		w.expectSelected(ctx, "others", allScheduled, "c001", "c002")

		spec := avoiding(1)
		spec.SpreadPolicy = clusterv1beta1.SpreadPolicy{}
		w.placement(ctx, "p", spec)
		w.expectSelected(ctx, "p", allScheduled, "c001")
	})
})
