package integration

import (
	. "github.com/onsi/ginkgo/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
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
		w := newWorld(ctx)
		w.set(ctx, "east")
		w.set(ctx, "west")
		w.unboundSet(ctx, "hidden")
		w.cluster(ctx, "east", "c001", labeled("region", "eu"), claiming("arn", arn))
		w.cluster(ctx, "east", "c002", labeled("region", "us"), claiming(oddName, address))
		w.cluster(ctx, "west", "c003", labeled("region", "eu"), claiming("arn", "short"))
		w.cluster(ctx, "west", "c004")
		w.cluster(ctx, "hidden", "c005", labeled("region", "eu"), claiming("arn", arn))

		named := func(short string) placementv1alpha1.ClusterPredicate {
			return placementv1alpha1.ClusterPredicate{ClusterName: w.name(short)}
		}
		all := func(short, region, claim string) placementv1alpha1.ClusterPredicate {
			both := withClaim("arn", claim)
			both.ClusterName, both.LabelSelector = w.name(short), withLabel("region", region).LabelSelector

			return both
		}
		bothClaims := withClaim("arn", arn)
		bothClaims.ClaimSelector.MatchExpressions = whereClaim(oddName, metav1.LabelSelectorOpExists).ClaimSelector.MatchExpressions

		cases := map[string]struct {
			spec placementv1alpha1.PlacementSpec
			want []string
		}{
			"empty spec: every cluster of every bound set": {placementv1alpha1.PlacementSpec{}, shorts(1, 4)},
			"clusterSets: the intersection with the bound ones": {
				placementv1alpha1.PlacementSpec{ClusterSets: w.names("east", "hidden")}, shorts(1, 2),
			},
			"numberOfClusters 0: none":                {placementv1alpha1.PlacementSpec{NumberOfClusters: ptr.To[int32](0)}, nil},
			"numberOfClusters: all that there are":    {placementv1alpha1.PlacementSpec{NumberOfClusters: ptr.To[int32](4)}, shorts(1, 4)},
			"an empty predicate: no constraint":       {anyOf(placementv1alpha1.ClusterPredicate{}), shorts(1, 4)},
			"clusterName: exactly that one":           {anyOf(named("c002")), []string{"c002"}},
			"clusterName: of the scope":               {anyOf(named("c005")), nil},
			"predicates are ORed":                     {anyOf(withLabel("region", "eu"), named("c002")), shorts(1, 3)},
			"the parts of one are ANDed: all hold":    {anyOf(all("c001", "eu", arn)), []string{"c001"}},
			"the parts of one are ANDed: wrong label": {anyOf(all("c001", "us", arn)), nil},
			"the parts of one are ANDed: wrong name":  {anyOf(all("c003", "eu", arn)), nil},
			"the parts of one are ANDed: wrong claim": {anyOf(all("c001", "eu", "short")), nil},
			"matchClaims: an ARN over 63 characters":  {anyOf(withClaim("arn", arn)), []string{"c001"}},
			"matchClaims: odd name, URL":              {anyOf(withClaim(oddName, address)), []string{"c002"}},
			"matchClaims and matchExpressions":        {anyOf(bothClaims), nil},
			"matchExpressions: In, URL":               {anyOf(whereClaim(oddName, "In", "other", address)), []string{"c002"}},
			"matchExpressions: NotIn, ARN":            {anyOf(whereClaim("arn", "NotIn", arn)), shorts(2, 4)},
			"matchExpressions: Exists":                {anyOf(whereClaim("arn", "Exists")), []string{"c001", "c003"}},
			"matchExpressions: DoesNotExist":          {anyOf(whereClaim("arn", "DoesNotExist")), []string{"c002", "c004"}},
			"the sets AND the predicates": {
				placementv1alpha1.PlacementSpec{ClusterSets: w.names("west"), Predicates: anyOf(withLabel("region", "eu")).Predicates},
				[]string{"c003"},
			},
		}

		names := map[string]string{}
		for rule, c := range cases {
			names[rule] = "p" + string(rune('a'+len(names)))
			w.alpha(ctx, names[rule], c.spec)
		}

		for rule, c := range cases {
			By(rule)
			w.expectAlpha(ctx, names[rule], allScheduled, c.want...)
		}

		By("a cluster that begins to match")
		w.editCluster(ctx, "c004", func(c *clusterv1.ManagedCluster) { c.Labels["region"] = "eu" })
		w.expectAlpha(ctx, names["the sets AND the predicates"], allScheduled, "c003", "c004")
	})

	It("no cluster with a taint, for none is tolerated", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.cluster(ctx, "set", "c001")
		w.cluster(ctx, "set", "c002", tainted("gpu", "a100", clusterv1.TaintEffectNoSelect))
		w.cluster(ctx, "set", "c003", tainted("new", "", clusterv1.TaintEffectNoSelectIfNew))
		w.cluster(ctx, "set", "c004", tainted("slow", "", clusterv1.TaintEffectPreferNoSelect))
		w.alpha(ctx, "all", placementv1alpha1.PlacementSpec{})
		w.alpha(ctx, "named", anyOf(placementv1alpha1.ClusterPredicate{ClusterName: w.name("c002")}))
		w.alpha(ctx, "one", placementv1alpha1.PlacementSpec{NumberOfClusters: ptr.To[int32](1)})
		w.expectAlpha(ctx, "all", allScheduled, "c001", "c004")
		w.expectAlpha(ctx, "named", allScheduled)
		w.expectAlpha(ctx, "one", allScheduled, "c001")

		By("a taint that goes, and one that comes with NoSelectIfNew, which drives nobody out")
		w.editCluster(ctx, "c002", func(c *clusterv1.ManagedCluster) { c.Spec.Taints = nil })
		w.editCluster(ctx, "c001", tainted("new", "", clusterv1.TaintEffectNoSelectIfNew))
		w.expectAlpha(ctx, "all", allScheduled, "c001", "c002", "c004")
		w.expectAlpha(ctx, "named", allScheduled, "c002")

		By("a taint that drives out")
		w.editCluster(ctx, "c004", tainted("gpu", "a100", clusterv1.TaintEffectNoSelect))
		w.expectAlpha(ctx, "all", allScheduled, "c001", "c002")
	})
})
