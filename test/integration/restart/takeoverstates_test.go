// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"fmt"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// legacyCluster gives the clusters of a fixture something to tell them apart.
func legacyCluster(i int, c *clusterv1.ManagedCluster) {
	c.Labels["tier"] = strconv.Itoa(i % legacyTiers)
	if i <= 60 {
		c.Labels["cloud"] = "a"
	}
	switch i {
	case 106:
		suite.Tainted("maintenance", "", clusterv1.TaintEffectNoSelect)(c)
	case 105:
		suite.Tainted("leaving", "", clusterv1.TaintEffectNoSelectIfNew)(c)
	}

	if i > 100 && i <= 105 {
		c.Labels["group"] = "canary"
	}
}

const legacyTiers = 8

// agreeing are placements of all sorts whose decisions are what they would be here too.
func agreeing(f *suite.Fixture) map[string]legacy {
	all := suite.Shorts(1, 105) // The last one is kept, as an incumbent; c106 is tainted.
	wanting := func(n int32, policy clusterv1beta1.PrioritizerPolicy) clusterv1beta1.PlacementSpec {
		return clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To(n), PrioritizerPolicy: policy}
	}
	where := func(predicate clusterv1beta1.ClusterPredicate) clusterv1beta1.PlacementSpec {
		return clusterv1beta1.PlacementSpec{Predicates: []clusterv1beta1.ClusterPredicate{predicate}}
	}
	tolerating := func(toleration clusterv1beta1.Toleration) clusterv1beta1.PlacementSpec {
		return clusterv1beta1.PlacementSpec{Tolerations: []clusterv1beta1.Toleration{toleration}}
	}
	wrong := tolerating(clusterv1beta1.Toleration{Key: "key", Operator: clusterv1beta1.TolerationOpExists, Value: "value"})
	byDefault := clusterv1beta1.PrioritizerPolicy{}
	marked := hundreds(0, "", all)
	marked[1].edits = []func(*clusterv1beta1.PlacementDecision){
		func(p *clusterv1beta1.PlacementDecision) { p.Labels["example.com/team"] = "blue" },
	}

	const message = "TaintToleration:If the operator is Exists, the value should be empty."
	placements := map[string]legacy{
		"all":     {pages: hundreds(0, "", all), state: legacyScheduled},
		"marked":  {pages: marked, state: legacyScheduled},
		"few":     {spec: wanting(3, byDefault), pages: onePage(suite.Shorts(1, 3)), state: legacyScheduled},
		"hundred": {spec: wanting(100, byDefault), pages: onePage(suite.Shorts(1, 100)), state: legacyScheduled},
		"kept":    {spec: wanting(1, byDefault), pages: onePage([]string{"c105"}), state: legacyScheduled},
		"wanting": {spec: wanting(500, byDefault), pages: hundreds(0, "", all), state: legacyState{
			metav1.ConditionFalse, "NotAllDecisionsScheduled", "395 cluster decisions unscheduled",
		}},
		"label": {spec: where(suite.ByLabel("cloud", "a")), pages: onePage(suite.Shorts(1, 60)), state: legacyScheduled},
		"claim": {spec: where(suite.ByClaim("zone", metav1.LabelSelectorOpDoesNotExist)), pages: hundreds(0, "", all), state: legacyScheduled},
		"cel": {
			spec: where(suite.ByCEL(`"cloud" in managedCluster.metadata.labels`)), pages: onePage(suite.Shorts(1, 60)), state: legacyScheduled,
		},
		"score": {spec: wanting(2, suite.Exactly(suite.DemoScore(1))), pages: onePage([]string{"c007", "c050"}), state: legacyScheduled},
		"steady": {
			spec:  wanting(2, suite.Exactly(suite.BuiltIn(suite.PrioritizerSteady, 1))),
			pages: onePage([]string{"c010", "c020"}), state: legacyScheduled,
		},
		"none":    {spec: where(suite.ByLabel("cloud", "z")), pages: onePage(nil), state: legacyUnmatched},
		"emptied": {spec: where(suite.ByLabel("cloud", "z")), pages: onePage([]string{}), state: legacyUnmatched},
		"zero":    {spec: wanting(0, byDefault), pages: onePage(nil), state: legacyUnmatched},
		"unbound": {spec: clusterv1beta1.PlacementSpec{ClusterSets: []string{"absent"}}, pages: onePage(nil), state: legacyState{
			metav1.ConditionFalse, "NoIntersection", "None of ManagedClusterSets [absent] is bound to placement namespace",
		}},
		"nobody": {spec: clusterv1beta1.PlacementSpec{ClusterSets: f.Names("empty")}, pages: onePage(nil), state: legacyState{
			metav1.ConditionFalse, "AllManagedClusterSetsEmpty", "All ManagedClusterSets [" + f.Name("empty") + "] have no member ManagedCluster",
		}},
		"wrong":     {spec: wrong, pages: onePage([]string{}), state: legacyUnmatched, wrong: message},
		"wrong-new": {spec: wrong, pages: onePage(nil), state: legacyUnmatched, wrong: message},
		"tolerant": {spec: tolerating(clusterv1beta1.Toleration{Key: "maintenance", Operator: clusterv1beta1.TolerationOpExists}),
			pages: hundreds(0, "", suite.Shorts(1, 106)), state: legacyScheduled},
		"spread": {spec: clusterv1beta1.PlacementSpec{SpreadPolicy: clusterv1beta1.SpreadPolicy{
			SpreadConstraints: []clusterv1beta1.SpreadConstraintsTerm{{
				TopologyKey: "tier", TopologyKeyType: clusterv1beta1.TopologyKeyTypeLabel, MaxSkew: 3,
				WhenUnsatisfiable: clusterv1beta1.ScheduleAnyway,
			}},
		}}, pages: hundreds(0, "", all), state: legacyScheduled},
		"disabled": {pages: []legacyPage{{clusters: []string{"c001", "ghost"}}}, state: legacyScheduled, disabled: true},
		"thirds": {spec: grouped(intstr.FromString("30%")), state: legacyScheduled, pages: slices.Concat(hundreds(0, "", suite.Shorts(1, 32)),
			hundreds(1, "", suite.Shorts(33, 64)), hundreds(2, "", suite.Shorts(65, 96)), hundreds(3, "", suite.Shorts(97, 105)))},
		"forties": {spec: grouped(intstr.FromInt32(40), "canary"), state: legacyScheduled, pages: slices.Concat(
			hundreds(0, "canary", suite.Shorts(101, 105)), hundreds(1, "", suite.Shorts(1, 40)), hundreds(2, "", suite.Shorts(41, 80)),
			hundreds(3, "", suite.Shorts(81, 100)))},
		"canary": {spec: grouped(intstr.FromString("100%"), "nobody", "canary"), state: legacyScheduled, pages: slices.Concat(
			hundreds(0, "canary", suite.Shorts(101, 105)), hundreds(1, "", suite.Shorts(1, 100)))},
		"large": {spec: grouped(intstr.FromInt32(102)), state: legacyScheduled,
			pages: slices.Concat(hundreds(0, "", suite.Shorts(1, 102)), hundreds(1, "", suite.Shorts(103, 105)))},
	}

	for tier := range legacyTiers {
		members := []string{}
		for i, cluster := range all {
			if (i+1)%legacyTiers == tier {
				members = append(members, cluster)
			}
		}
		placements[fmt.Sprintf("tier-%d", tier)] = legacy{
			spec: where(suite.ByLabel("tier", strconv.Itoa(tier))), pages: onePage(members), state: legacyScheduled,
		}
	}

	return placements
}

// grouped cuts the selected clusters into decision groups; those of the label group come first.
func grouped(length intstr.IntOrString, names ...string) clusterv1beta1.PlacementSpec {
	strategy := clusterv1beta1.GroupStrategy{ClustersPerDecisionGroup: length}
	for _, name := range names {
		strategy.DecisionGroups = append(strategy.DecisionGroups, clusterv1beta1.DecisionGroup{
			GroupName: name, ClusterSelector: clusterv1beta1.GroupClusterSelector{
				LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"group": name}},
			},
		})
	}
	return clusterv1beta1.PlacementSpec{DecisionStrategy: clusterv1beta1.DecisionStrategy{GroupStrategy: strategy}}
}

// interrupted are placements of the clusters c002 to c205, as upstream leaves them when it ends, or fails, in the middle of its work.
func interrupted() map[string]legacy {
	wrong := "incorrect builtin prioritizer: " + suite.Spreading
	odd := hundreds(0, "", suite.Shorts(2, 205))
	odd[0].edits = []func(*clusterv1beta1.PlacementDecision){func(p *clusterv1beta1.PlacementDecision) { p.OwnerReferences = nil }}
	odd[1].edits = []func(*clusterv1beta1.PlacementDecision){
		func(p *clusterv1beta1.PlacementDecision) { delete(p.Labels, clusterv1beta1.DecisionGroupIndexLabel) },
	}
	return map[string]legacy{
		"gone": {state: legacyScheduled, pages: hundreds(0, "", suite.Shorts(1, 205))},
		"shifted": {state: legacyScheduled, pages: []legacyPage{
			{clusters: suite.Shorts(2, 101)}, {clusters: suite.Shorts(101, 200)}, {clusters: suite.Shorts(201, 205)},
		}},
		"stale": {state: legacyScheduled, pages: []legacyPage{
			{clusters: suite.Shorts(1, 100)}, {clusters: suite.Shorts(101, 200)}, {clusters: suite.Shorts(201, 205)},
			{clusters: suite.Shorts(301, 302)},
		}},
		"twice": {state: legacyScheduled, pages: []legacyPage{
			{clusters: suite.Shorts(2, 101)}, {clusters: suite.Shorts(52, 151)}, {clusters: suite.Shorts(152, 205)},
		}},
		"lost-page": {state: legacyScheduled, pages: []legacyPage{
			{clusters: suite.Shorts(2, 101)}, {lost: true}, {clusters: suite.Shorts(202, 205)},
		}},
		"overfull": {state: legacyScheduled, pages: []legacyPage{{clusters: suite.Shorts(2, 151)}, {clusters: suite.Shorts(152, 205)}}},
		"unfilled": {state: legacyScheduled, pages: []legacyPage{{clusters: suite.Shorts(2, 101)}, {clusters: nil}}},
		"odd":      {state: legacyScheduled, pages: odd},
		"ruled": {state: legacyScheduled, pages: []legacyPage{
			{lost: true}, {clusters: suite.Shorts(102, 201)}, {clusters: suite.Shorts(202, 205)},
		}},
		"bare": {pages: hundreds(0, "", suite.Shorts(2, 205))},
		// The decisions of the first page are those of the new group, and its labels not yet.
		"regrouped": {spec: grouped(intstr.FromString("100%"), "canary"), state: legacyScheduled, pages: []legacyPage{
			{clusters: suite.Shorts(2, 11)}, {clusters: suite.Shorts(102, 201)}, {clusters: suite.Shorts(202, 205)},
		}},
		// Upstream does not know this order, and writes no scores.
		"by-score": {spec: clusterv1beta1.PlacementSpec{
			SortBy: clusterv1beta1.PlacementSortByScore, ScoreRateLimit: "1h", PrioritizerPolicy: suite.Exactly(suite.DemoScore(1)),
		}, state: legacyScheduled, pages: hundreds(0, "", suite.Shorts(2, 205))},
		// Upstream takes all decisions from these two.
		"quoted": {spec: grouped(intstr.FromString("25")), state: legacyScheduled, wrong: ":25 invalid type: string is not a percentage"},
		"apart": {spec: clusterv1beta1.PlacementSpec{PrioritizerPolicy: suite.Besides(suite.BuiltIn(suite.Spreading, 1))}, state: legacyUnmatched,
			pages: onePage([]string{}), wrong: wrong},
	}
}
