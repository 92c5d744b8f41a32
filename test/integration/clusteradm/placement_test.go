// SPDX-License-Identifier: Apache-2.0

package clusteradm

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

	"github.com/placement-hub/placement-hub/test/integration/suite"
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
		func(ctx SpecContext, specOf func(f *suite.Fixture) clusterv1beta1.PlacementSpec, satisfied string, selected []string) {
			f := suite.NewFixture(ctx)
			f.Set(ctx, "set")
			f.Cluster(ctx, "set", "c001", suite.Labeled("region", "eu"), suite.Offering("90", "10"))
			f.Cluster(ctx, "set", "c002", suite.Labeled("region", "eu"), suite.Offering("10", "90"))
			f.Cluster(ctx, "set", "c003", suite.Labeled("region", "us"), suite.Offering("50", "50"))
			f.Score(ctx, "c002", 100, nil)

			Expect(tenant(ctx, f).createPlacement(ctx, false, specOf(f))).To(BeFalse())
			sent := &unstructured.Unstructured{}
			sent.SetAPIVersion(clusterv1beta1.GroupVersion.String())
			sent.SetKind("Placement")
			Expect(suite.Client.Get(ctx, client.ObjectKey{Namespace: f.Namespace, Name: "p"}, sent)).To(Succeed())
			length, found, err := unstructured.NestedFieldNoCopy(sent.Object, "spec", "decisionStrategy", "groupStrategy", "clustersPerDecisionGroup")
			Expect(err).NotTo(HaveOccurred())
			Expect(found).To(BeTrue(), "a client written in Go sends what nobody asked for")
			Expect(length).To(BeEquivalentTo(0))

			f.ExpectSelected(ctx, "p", satisfied, selected...)
		},
		Entry("with nothing else", func(*suite.Fixture) clusterv1beta1.PlacementSpec { return clusterv1beta1.PlacementSpec{} },
			suite.AllScheduled, suite.Shorts(1, 3)),
		Entry("--clustersets", func(f *suite.Fixture) clusterv1beta1.PlacementSpec {
			return clusterv1beta1.PlacementSpec{ClusterSets: []string{f.Name("set")}}
		}, suite.AllScheduled, suite.Shorts(1, 3)),
		Entry("--cluster-selector region=eu --num-of-clusters 3", func(*suite.Fixture) clusterv1beta1.PlacementSpec {
			return clusterv1beta1.PlacementSpec{
				NumberOfClusters: ptr.To[int32](3), Predicates: []clusterv1beta1.ClusterPredicate{suite.ByLabel("region", "eu")},
			}
		}, suite.NotAllScheduled, suite.Shorts(1, 2)),
		Entry("--prioritizers BuiltIn:ResourceAllocatableCPU:3 --num-of-clusters 1", func(*suite.Fixture) clusterv1beta1.PlacementSpec {
			return clusterv1beta1.PlacementSpec{
				NumberOfClusters: ptr.To[int32](1), PrioritizerPolicy: suite.Besides(suite.BuiltIn("ResourceAllocatableCPU", 3)),
			}
		}, suite.AllScheduled, []string{"c001"}),
		Entry("--prioritizers AddOn:demo:size:1, without a mode, --num-of-clusters 1", func(*suite.Fixture) clusterv1beta1.PlacementSpec {
			return clusterv1beta1.PlacementSpec{
				NumberOfClusters:  ptr.To[int32](1),
				PrioritizerPolicy: clusterv1beta1.PrioritizerPolicy{Configurations: []clusterv1beta1.PrioritizerConfig{suite.DemoScore(1)}},
			}
		}, suite.AllScheduled, []string{"c002"}),
	)

	It("create placement --overwrite updates the whole of it, while the hub writes its status", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 3)
		tenant := tenant(ctx, f)
		one := clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](1)}

		Expect(tenant.createPlacement(ctx, true, one)).To(BeFalse())
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001")
		Expect(tenant.createPlacement(ctx, false, clusterv1beta1.PlacementSpec{})).To(BeTrue(), "it is there, and left as it is")
		Expect(tenant.createPlacement(ctx, true, clusterv1beta1.PlacementSpec{})).To(BeTrue())
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(1, 3)...)
		Expect(tenant.createPlacement(ctx, true, one)).To(BeTrue())
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001")
	})

	const (
		no, yes      = metav1.ConditionFalse, metav1.ConditionTrue
		sound, wrong = "Succeedconfigured", "Misconfigured"
	)

	It("get placements: a single placement without conditions would break the table of all", func(ctx SpecContext) {
		f := suite.NewFixture(ctx, suite.WithoutAdmission)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 2)
		tenant := tenant(ctx, f)
		want := map[string]placementRow{}

		for name, made := range map[string]struct {
			spec clusterv1beta1.PlacementSpec
			row  placementRow
		}{
			"satisfied":     {suite.Spec{}, placementRow{no, sound, 2}},
			"unsatisfied":   {suite.Spec{NumberOfClusters: ptr.To[int32](9)}, placementRow{no, sound, 2}},
			"unbound":       {suite.Spec{ClusterSets: []string{"absent"}}, placementRow{no, sound, 0}},
			"unmatched":     {suite.Matching(suite.ByLabel("no", "such")), placementRow{no, sound, 0}},
			"misconfigured": {suite.Spec{NumberOfClusters: ptr.To[int32](-1)}, placementRow{yes, wrong, 0}},
			"disabled":      {suite.Spec{}, placementRow{no, sound, 2}},
		} {
			f.Placement(ctx, name, made.spec)
			want[name] = made.row
		}

		Eventually(func(g Gomega) map[string]placementRow { return tenant.getPlacements(ctx, g) }).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(Equal(want))

		suite.Edit(ctx, &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: "disabled"}},
			func(p *clusterv1beta1.Placement) {
				p.Annotations = map[string]string{clusterv1beta1.PlacementDisableAnnotation: "true"}
			})

		// No state on the way to the next one is without conditions either.
		for name, change := range map[string]func(*clusterv1beta1.PlacementSpec){
			"satisfied":     func(s *clusterv1beta1.PlacementSpec) { s.NumberOfClusters = ptr.To[int32](-1) },
			"misconfigured": func(s *clusterv1beta1.PlacementSpec) { s.NumberOfClusters = nil },
			"unbound":       func(s *clusterv1beta1.PlacementSpec) { s.ClusterSets = nil },
		} {
			f.EditPlacement(ctx, name, change)
		}
		want["satisfied"] = placementRow{yes, wrong, 2}
		want["misconfigured"] = placementRow{no, sound, 2}
		want["unbound"] = placementRow{no, sound, 2}

		// With Default: the table never breaks meanwhile.
		Eventually(func() map[string]placementRow { return tenant.getPlacements(ctx, Default) }).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(Equal(want))
	})

	It("get clusters --clusterset asks by label", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set1")
		f.Set(ctx, "set2")
		f.Cluster(ctx, "set1", "c001", suite.IsAvailable(metav1.ConditionTrue), func(c *clusterv1.ManagedCluster) { c.Spec.HubAcceptsClient = true })
		f.Cluster(ctx, "set2", "c002")
		f.Cluster(ctx, "", "c003")
		Expect(admin(ctx, f).getClusters(ctx, Default, f.Names("set1", "set2")...)).To(Equal(map[string]clusterRow{
			f.Name("c001"): {accepted: true, available: "True", set: f.Name("set1")},
			f.Name("c002"): {set: f.Name("set2")},
		}))
	})
})
