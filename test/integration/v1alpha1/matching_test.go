// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	. "github.com/onsi/ginkgo/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// anyOf asks for clusters that fit one of the predicates.
func anyOf(predicates ...placementv1alpha1.ClusterPredicate) placementv1alpha1.PlacementSpec {
	return placementv1alpha1.PlacementSpec{Predicates: predicates}
}

// withLabel is a predicate on a label of one value.
func withLabel(key, value string) placementv1alpha1.ClusterPredicate {
	return placementv1alpha1.ClusterPredicate{LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{key: value}}}
}

// withClaim is a predicate on a claim of one value.
func withClaim(name, value string) placementv1alpha1.ClusterPredicate {
	return placementv1alpha1.ClusterPredicate{ClaimSelector: placementv1alpha1.ClusterClaimSelector{MatchClaims: map[string]string{name: value}}}
}

// whereClaim is a predicate on a claim in the form of an expression.
func whereClaim(name string, operator metav1.LabelSelectorOperator, values ...string) placementv1alpha1.ClusterPredicate {
	return placementv1alpha1.ClusterPredicate{ClaimSelector: placementv1alpha1.ClusterClaimSelector{
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: name, Operator: operator, Values: values}},
	}}
}

var _ = Describe("P2 to P6, P9: a Placement selects", func() {
	const (
		arn     = "arn:aws:iam::123456789012:role/a-role-whose-name-is-so-long-that-no-label-could-hold-it-as-its-value"
		address = "https://api.example.com:6443/?a=b&c"
		oddName = "the address of/it"
	)

	It("what clusterSets, predicates and numberOfClusters say together (C1)", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "east")
		f.Set(ctx, "west")
		f.UnboundSet(ctx, "hidden")
		f.Cluster(ctx, "east", "c001", suite.Labeled("region", "eu"), suite.Claiming("arn", arn))
		f.Cluster(ctx, "east", "c002", suite.Labeled("region", "us"), suite.Claiming(oddName, address))
		f.Cluster(ctx, "west", "c003", suite.Labeled("region", "eu"), suite.Claiming("arn", "short"))
		f.Cluster(ctx, "west", "c004")
		f.Cluster(ctx, "hidden", "c005", suite.Labeled("region", "eu"), suite.Claiming("arn", arn))

		named := func(short string) placementv1alpha1.ClusterPredicate {
			return placementv1alpha1.ClusterPredicate{ClusterName: f.Name(short)}
		}
		all := func(short, region, claim string) placementv1alpha1.ClusterPredicate {
			both := withClaim("arn", claim)
			both.ClusterName, both.LabelSelector = f.Name(short), withLabel("region", region).LabelSelector
			return both
		}
		bothClaims := withClaim("arn", arn)
		bothClaims.ClaimSelector.MatchExpressions = whereClaim(oddName, metav1.LabelSelectorOpExists).ClaimSelector.MatchExpressions

		cases := map[string]struct {
			spec placementv1alpha1.PlacementSpec
			want []string
		}{
			"empty spec: every cluster of every bound set": {placementv1alpha1.PlacementSpec{}, suite.Shorts(1, 4)},
			"clusterSets: the intersection with the bound ones": {
				placementv1alpha1.PlacementSpec{ClusterSets: f.Names("east", "hidden")}, suite.Shorts(1, 2),
			},
			"numberOfClusters 0: none":                {placementv1alpha1.PlacementSpec{NumberOfClusters: ptr.To[int32](0)}, nil},
			"numberOfClusters: all that there are":    {placementv1alpha1.PlacementSpec{NumberOfClusters: ptr.To[int32](4)}, suite.Shorts(1, 4)},
			"an empty predicate: no constraint":       {anyOf(placementv1alpha1.ClusterPredicate{}), suite.Shorts(1, 4)},
			"clusterName: exactly that one":           {anyOf(named("c002")), []string{"c002"}},
			"clusterName: of the scope":               {anyOf(named("c005")), nil},
			"predicates are ORed":                     {anyOf(withLabel("region", "eu"), named("c002")), suite.Shorts(1, 3)},
			"the parts of one are ANDed: all hold":    {anyOf(all("c001", "eu", arn)), []string{"c001"}},
			"the parts of one are ANDed: wrong label": {anyOf(all("c001", "us", arn)), nil},
			"the parts of one are ANDed: wrong name":  {anyOf(all("c003", "eu", arn)), nil},
			"the parts of one are ANDed: wrong claim": {anyOf(all("c001", "eu", "short")), nil},
			"matchClaims: an ARN over 63 characters":  {anyOf(withClaim("arn", arn)), []string{"c001"}},
			"matchClaims: odd name, URL":              {anyOf(withClaim(oddName, address)), []string{"c002"}},
			"matchClaims and matchExpressions":        {anyOf(bothClaims), nil},
			"matchExpressions: In, URL":               {anyOf(whereClaim(oddName, "In", "other", address)), []string{"c002"}},
			"matchExpressions: NotIn, ARN":            {anyOf(whereClaim("arn", "NotIn", arn)), suite.Shorts(2, 4)},
			"matchExpressions: Exists":                {anyOf(whereClaim("arn", "Exists")), []string{"c001", "c003"}},
			"matchExpressions: DoesNotExist":          {anyOf(whereClaim("arn", "DoesNotExist")), []string{"c002", "c004"}},
			"the sets AND the predicates": {
				placementv1alpha1.PlacementSpec{ClusterSets: f.Names("west"), Predicates: anyOf(withLabel("region", "eu")).Predicates},
				[]string{"c003"},
			},
		}

		names := map[string]string{}
		for rule, c := range cases {
			names[rule] = "p" + string(rune('a'+len(names)))
			f.AlphaPlacement(ctx, names[rule], c.spec)
		}
		for rule, c := range cases {
			By(rule)
			f.ExpectAlpha(ctx, names[rule], suite.AllScheduled, c.want...)
		}

		By("a cluster that begins to match")
		f.EditCluster(ctx, "c004", func(c *clusterv1.ManagedCluster) { c.Labels["region"] = "eu" })
		f.ExpectAlpha(ctx, names["the sets AND the predicates"], suite.AllScheduled, "c003", "c004")
	})

	It("no cluster with a taint, for none is tolerated", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Cluster(ctx, "set", "c001")
		f.Cluster(ctx, "set", "c002", suite.Tainted("gpu", "a100", clusterv1.TaintEffectNoSelect))
		f.Cluster(ctx, "set", "c003", suite.Tainted("new", "", clusterv1.TaintEffectNoSelectIfNew))
		f.Cluster(ctx, "set", "c004", suite.Tainted("slow", "", clusterv1.TaintEffectPreferNoSelect))
		f.AlphaPlacement(ctx, "all", placementv1alpha1.PlacementSpec{})
		f.AlphaPlacement(ctx, "named", anyOf(placementv1alpha1.ClusterPredicate{ClusterName: f.Name("c002")}))
		f.AlphaPlacement(ctx, "one", placementv1alpha1.PlacementSpec{NumberOfClusters: ptr.To[int32](1)})
		f.ExpectAlpha(ctx, "all", suite.AllScheduled, "c001", "c004")
		f.ExpectAlpha(ctx, "named", suite.AllScheduled)
		f.ExpectAlpha(ctx, "one", suite.AllScheduled, "c001")

		By("a taint that goes, and one that comes with NoSelectIfNew, which drives nobody out")
		f.EditCluster(ctx, "c002", func(c *clusterv1.ManagedCluster) { c.Spec.Taints = nil })
		f.EditCluster(ctx, "c001", suite.Tainted("new", "", clusterv1.TaintEffectNoSelectIfNew))
		f.ExpectAlpha(ctx, "all", suite.AllScheduled, "c001", "c002", "c004")
		f.ExpectAlpha(ctx, "named", suite.AllScheduled, "c002")

		By("a taint that drives out")
		f.EditCluster(ctx, "c004", suite.Tainted("gpu", "a100", clusterv1.TaintEffectNoSelect))
		f.ExpectAlpha(ctx, "all", suite.AllScheduled, "c001", "c002")
	})
})
