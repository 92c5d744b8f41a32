package integration

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// createPlacement is "clusteradm create placement p". With --overwrite a placement that is there is updated as a whole.
func (c *clusteradm) createPlacement(
	ctx context.Context, overwrite bool, placementSpec clusterv1beta1.PlacementSpec,
) (existed bool, err error) {
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: "p"}, Spec: placementSpec}

	existed, err = c.getOrCreate(ctx, placement)
	if err != nil || !existed || !overwrite {
		return existed, err
	}

	found := &clusterv1beta1.Placement{}
	if err := c.Get(ctx, client.ObjectKeyFromObject(placement), found); err != nil {
		return true, err
	}

	found.Spec = placementSpec

	return true, c.Update(ctx, found)
}

// placementRow is a row of "clusteradm get placements".
type placementRow struct {
	status   metav1.ConditionStatus
	reason   string
	selected int32
}

// getPlacements is "clusteradm get placements --namespace NAMESPACE". The command reads the first condition of every placement without a
// look whether there is one.
func (c *clusteradm) getPlacements(ctx context.Context, g Gomega) map[string]placementRow {
	list := &clusterv1beta1.PlacementList{}
	g.Expect(c.List(ctx, list, client.InNamespace(c.namespace))).To(Succeed())

	rows := map[string]placementRow{}

	for _, placement := range list.Items {
		g.Expect(placement.Status.Conditions).NotTo(BeEmpty(), "A5: conditions of %s", placement.Name)

		first := placement.Status.Conditions[0]
		rows[placement.Name] = placementRow{first.Status, first.Reason, placement.Status.NumberOfSelectedClusters}
	}

	return rows
}

// clusterRow is a row of "clusteradm get clusters".
type clusterRow struct {
	accepted       bool
	available, set string
}

// getClusters is "clusteradm get clusters --clusterset SET,SET".
func (c *clusteradm) getClusters(ctx context.Context, g Gomega, sets ...string) map[string]clusterRow {
	list := &clusterv1.ManagedClusterList{}

	options := &client.ListOptions{Raw: &metav1.ListOptions{
		LabelSelector: clusterv1beta2.ClusterSetLabel + " in (" + strings.Join(sets, ",") + ")",
	}}
	g.Expect(c.List(ctx, list, options)).To(Succeed())

	rows := map[string]clusterRow{}

	for _, cluster := range list.Items {
		row := clusterRow{accepted: cluster.Spec.HubAcceptsClient, set: cluster.Labels[clusterv1beta2.ClusterSetLabel]}
		if available := meta.FindStatusCondition(cluster.Status.Conditions, clusterv1.ManagedClusterConditionAvailable); available != nil {
			row.available = string(available.Status)
		}

		rows[cluster.Name] = row
	}

	return rows
}

var _ = Describe("clusteradm and placements", func() {
	DescribeTable("create placement",
		func(ctx SpecContext, specOf func(w *world) clusterv1beta1.PlacementSpec, satisfied string, selected []string) {
			w := newWorld(ctx)
			w.set(ctx, "set")
			w.cluster(ctx, "set", "c001", labeled("region", "eu"), offering("90", "10"))
			w.cluster(ctx, "set", "c002", labeled("region", "eu"), offering("10", "90"))
			w.cluster(ctx, "set", "c003", labeled("region", "us"), offering("50", "50"))
			w.score(ctx, "c002", 100, nil)

			Expect(w.tenant(ctx).createPlacement(ctx, false, specOf(w))).To(BeFalse())

			sent := &unstructured.Unstructured{}
			sent.SetAPIVersion(clusterv1beta1.GroupVersion.String())
			sent.SetKind("Placement")
			Expect(hub.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: "p"}, sent)).To(Succeed())
			length, found, err := unstructured.NestedFieldNoCopy(sent.Object, "spec", "decisionStrategy", "groupStrategy", "clustersPerDecisionGroup")
			Expect(err).NotTo(HaveOccurred())
			Expect(found).To(BeTrue(), "a client written in Go sends what nobody asked for")
			Expect(length).To(BeEquivalentTo(0))

			w.expectSelected(ctx, "p", satisfied, selected...)
		},
		Entry("with nothing else", func(*world) clusterv1beta1.PlacementSpec { return clusterv1beta1.PlacementSpec{} },
			allScheduled, shorts(1, 3)),
		Entry("--clustersets", func(w *world) clusterv1beta1.PlacementSpec {
			return clusterv1beta1.PlacementSpec{ClusterSets: []string{w.name("set")}}
		}, allScheduled, shorts(1, 3)),
		Entry("--cluster-selector region=eu --num-of-clusters 3", func(*world) clusterv1beta1.PlacementSpec {
			return clusterv1beta1.PlacementSpec{
				NumberOfClusters: ptr.To[int32](3), Predicates: []clusterv1beta1.ClusterPredicate{byLabel("region", "eu")},
			}
		}, notAllScheduled, shorts(1, 2)),
		Entry("--prioritizers BuiltIn:ResourceAllocatableCPU:3 --num-of-clusters 1", func(*world) clusterv1beta1.PlacementSpec {
			return clusterv1beta1.PlacementSpec{
				NumberOfClusters: ptr.To[int32](1), PrioritizerPolicy: besides(builtIn("ResourceAllocatableCPU", 3)),
			}
		}, allScheduled, []string{"c001"}),
		Entry("--prioritizers AddOn:demo:size:1, without a mode, --num-of-clusters 1", func(*world) clusterv1beta1.PlacementSpec {
			return clusterv1beta1.PlacementSpec{
				NumberOfClusters:  ptr.To[int32](1),
				PrioritizerPolicy: clusterv1beta1.PrioritizerPolicy{Configurations: []clusterv1beta1.PrioritizerConfig{demoScore(1)}},
			}
		}, allScheduled, []string{"c002"}),
	)

	It("create placement --overwrite updates the whole of it, while the hub writes its status", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 3)
		tenant := w.tenant(ctx)
		one := clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](1)}

		Expect(tenant.createPlacement(ctx, true, one)).To(BeFalse())
		w.expectSelected(ctx, "p", allScheduled, "c001")
		Expect(tenant.createPlacement(ctx, false, clusterv1beta1.PlacementSpec{})).To(BeTrue(), "it is there, and left as it is")
		Expect(tenant.createPlacement(ctx, true, clusterv1beta1.PlacementSpec{})).To(BeTrue())
		w.expectSelected(ctx, "p", allScheduled, shorts(1, 3)...)
		Expect(tenant.createPlacement(ctx, true, one)).To(BeTrue())
		w.expectSelected(ctx, "p", allScheduled, "c001")
	})

	const (
		no, yes      = metav1.ConditionFalse, metav1.ConditionTrue
		sound, wrong = "Succeedconfigured", "Misconfigured"
	)

	It("get placements: a single placement without conditions would break the table of all", func(ctx SpecContext) {
		w := newWorld(ctx, withoutAdmission)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 2)

		tenant := w.tenant(ctx)
		want := map[string]placementRow{}

		for name, made := range map[string]struct {
			spec clusterv1beta1.PlacementSpec
			row  placementRow
		}{
			"satisfied":     {spec{}, placementRow{no, sound, 2}},
			"unsatisfied":   {spec{NumberOfClusters: ptr.To[int32](9)}, placementRow{no, sound, 2}},
			"unbound":       {spec{ClusterSets: []string{"absent"}}, placementRow{no, sound, 0}},
			"unmatched":     {matching(byLabel("no", "such")), placementRow{no, sound, 0}},
			"misconfigured": {spec{NumberOfClusters: ptr.To[int32](-1)}, placementRow{yes, wrong, 0}},
			"disabled":      {spec{}, placementRow{no, sound, 2}},
		} {
			w.placement(ctx, name, made.spec)

			want[name] = made.row
		}

		Eventually(func(g Gomega) map[string]placementRow { return tenant.getPlacements(ctx, g) }).
			WithContext(ctx).WithTimeout(settle).Should(Equal(want))

		edit(ctx, &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "disabled"}},
			func(p *clusterv1beta1.Placement) {
				p.Annotations = map[string]string{clusterv1beta1.PlacementDisableAnnotation: "true"}
			})

		// No state on the way to the next one is without conditions either.
		for name, change := range map[string]func(*clusterv1beta1.PlacementSpec){
			"satisfied":     func(s *clusterv1beta1.PlacementSpec) { s.NumberOfClusters = ptr.To[int32](-1) },
			"misconfigured": func(s *clusterv1beta1.PlacementSpec) { s.NumberOfClusters = nil },
			"unbound":       func(s *clusterv1beta1.PlacementSpec) { s.ClusterSets = nil },
		} {
			w.editPlacement(ctx, name, change)
		}

		want["satisfied"] = placementRow{yes, wrong, 2}
		want["misconfigured"] = placementRow{no, sound, 2}
		want["unbound"] = placementRow{no, sound, 2}

		// With Default: the table never breaks meanwhile.
		Eventually(func() map[string]placementRow { return tenant.getPlacements(ctx, Default) }).
			WithContext(ctx).WithTimeout(settle).Should(Equal(want))
	})

	It("get clusters --clusterset asks by label", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set1")
		w.set(ctx, "set2")
		w.cluster(ctx, "set1", "c001", isAvailable(metav1.ConditionTrue), func(c *clusterv1.ManagedCluster) { c.Spec.HubAcceptsClient = true })
		w.cluster(ctx, "set2", "c002")
		w.cluster(ctx, "", "c003")

		Expect(w.admin(ctx).getClusters(ctx, Default, w.names("set1", "set2")...)).To(Equal(map[string]clusterRow{
			w.name("c001"): {accepted: true, available: "True", set: w.name("set1")},
			w.name("c002"): {set: w.name("set2")},
		}))
	})
})
