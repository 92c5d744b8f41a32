package integration

import (
	"fmt"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// legacyCluster gives the clusters of a world something to tell them apart.
func legacyCluster(i int, c *clusterv1.ManagedCluster) {
	c.Labels["tier"] = strconv.Itoa(i % legacyTiers)

	if i <= 60 {
		c.Labels["cloud"] = "a"
	}

	switch i {
	case 106:
		tainted("maintenance", "", clusterv1.TaintEffectNoSelect)(c)
	case 105:
		tainted("leaving", "", clusterv1.TaintEffectNoSelectIfNew)(c)
	}

	if i > 100 && i <= 105 {
		c.Labels["group"] = "canary"
	}
}

const legacyTiers = 8

// agreeing are placements of all sorts whose decisions are what they would be here too.
func (w *world) agreeing() map[string]legacy {
	all := shorts(1, 105) // The last one is kept, as an incumbent; c106 is tainted.
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
		"few":     {spec: wanting(3, byDefault), pages: one(shorts(1, 3)), state: legacyScheduled},
		"hundred": {spec: wanting(100, byDefault), pages: one(shorts(1, 100)), state: legacyScheduled},
		"kept":    {spec: wanting(1, byDefault), pages: one([]string{"c105"}), state: legacyScheduled},
		"wanting": {spec: wanting(500, byDefault), pages: hundreds(0, "", all), state: legacyState{
			metav1.ConditionFalse, "NotAllDecisionsScheduled", "395 cluster decisions unscheduled",
		}},
		"label":   {spec: where(byLabel("cloud", "a")), pages: one(shorts(1, 60)), state: legacyScheduled},
		"claim":   {spec: where(byClaim("zone", metav1.LabelSelectorOpDoesNotExist)), pages: hundreds(0, "", all), state: legacyScheduled},
		"cel":     {spec: where(byCEL(`"cloud" in managedCluster.metadata.labels`)), pages: one(shorts(1, 60)), state: legacyScheduled},
		"score":   {spec: wanting(2, exactly(demoScore(1))), pages: one([]string{"c007", "c050"}), state: legacyScheduled},
		"steady":  {spec: wanting(2, exactly(builtIn(steady, 1))), pages: one([]string{"c010", "c020"}), state: legacyScheduled},
		"none":    {spec: where(byLabel("cloud", "z")), pages: one(nil), state: legacyUnmatched},
		"emptied": {spec: where(byLabel("cloud", "z")), pages: one([]string{}), state: legacyUnmatched},
		"zero":    {spec: wanting(0, byDefault), pages: one(nil), state: legacyUnmatched},
		"unbound": {spec: clusterv1beta1.PlacementSpec{ClusterSets: []string{"absent"}}, pages: one(nil), state: legacyState{
			metav1.ConditionFalse, "NoIntersection", "None of ManagedClusterSets [absent] is bound to placement namespace",
		}},
		"nobody": {spec: clusterv1beta1.PlacementSpec{ClusterSets: w.names("empty")}, pages: one(nil), state: legacyState{
			metav1.ConditionFalse, "AllManagedClusterSetsEmpty", "All ManagedClusterSets [" + w.name("empty") + "] have no member ManagedCluster",
		}},
		"wrong":     {spec: wrong, pages: one([]string{}), state: legacyUnmatched, wrong: message},
		"wrong-new": {spec: wrong, pages: one(nil), state: legacyUnmatched, wrong: message},
		"tolerant": {spec: tolerating(clusterv1beta1.Toleration{Key: "maintenance", Operator: clusterv1beta1.TolerationOpExists}),
			pages: hundreds(0, "", shorts(1, 106)), state: legacyScheduled},
		"spread": {spec: clusterv1beta1.PlacementSpec{SpreadPolicy: clusterv1beta1.SpreadPolicy{
			SpreadConstraints: []clusterv1beta1.SpreadConstraintsTerm{{
				TopologyKey: "tier", TopologyKeyType: clusterv1beta1.TopologyKeyTypeLabel, MaxSkew: 3,
				WhenUnsatisfiable: clusterv1beta1.ScheduleAnyway,
			}},
		}}, pages: hundreds(0, "", all), state: legacyScheduled},
		"disabled": {pages: []legacyPage{{clusters: []string{"c001", "ghost"}}}, state: legacyScheduled, disabled: true},
		"thirds": {spec: grouped(intstr.FromString("30%")), state: legacyScheduled, pages: slices.Concat(hundreds(0, "", shorts(1, 32)),
			hundreds(1, "", shorts(33, 64)), hundreds(2, "", shorts(65, 96)), hundreds(3, "", shorts(97, 105)))},
		"forties": {spec: grouped(intstr.FromInt32(40), "canary"), state: legacyScheduled, pages: slices.Concat(
			hundreds(0, "canary", shorts(101, 105)), hundreds(1, "", shorts(1, 40)), hundreds(2, "", shorts(41, 80)),
			hundreds(3, "", shorts(81, 100)))},
		"canary": {spec: grouped(intstr.FromString("100%"), "nobody", "canary"), state: legacyScheduled, pages: slices.Concat(
			hundreds(0, "canary", shorts(101, 105)), hundreds(1, "", shorts(1, 100)))},
		"large": {spec: grouped(intstr.FromInt32(102)), state: legacyScheduled,
			pages: slices.Concat(hundreds(0, "", shorts(1, 102)), hundreds(1, "", shorts(103, 105)))},
	}

	for tier := range legacyTiers {
		members := []string{}

		for i, cluster := range all {
			if (i+1)%legacyTiers == tier {
				members = append(members, cluster)
			}
		}

		placements[fmt.Sprintf("tier-%d", tier)] = legacy{
			spec: where(byLabel("tier", strconv.Itoa(tier))), pages: one(members), state: legacyScheduled,
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
	wrong := "incorrect builtin prioritizer: " + spreading
	odd := hundreds(0, "", shorts(2, 205))
	odd[0].edits = []func(*clusterv1beta1.PlacementDecision){func(p *clusterv1beta1.PlacementDecision) { p.OwnerReferences = nil }}
	odd[1].edits = []func(*clusterv1beta1.PlacementDecision){
		func(p *clusterv1beta1.PlacementDecision) { delete(p.Labels, clusterv1beta1.DecisionGroupIndexLabel) },
	}

	return map[string]legacy{
		"gone": {state: legacyScheduled, pages: hundreds(0, "", shorts(1, 205))},
		"shifted": {state: legacyScheduled, pages: []legacyPage{
			{clusters: shorts(2, 101)}, {clusters: shorts(101, 200)}, {clusters: shorts(201, 205)},
		}},
		"stale": {state: legacyScheduled, pages: []legacyPage{
			{clusters: shorts(1, 100)}, {clusters: shorts(101, 200)}, {clusters: shorts(201, 205)}, {clusters: shorts(301, 302)},
		}},
		"twice": {state: legacyScheduled, pages: []legacyPage{
			{clusters: shorts(2, 101)}, {clusters: shorts(52, 151)}, {clusters: shorts(152, 205)},
		}},
		"lost-page": {state: legacyScheduled, pages: []legacyPage{{clusters: shorts(2, 101)}, {lost: true}, {clusters: shorts(202, 205)}}},
		"overfull":  {state: legacyScheduled, pages: []legacyPage{{clusters: shorts(2, 151)}, {clusters: shorts(152, 205)}}},
		"unfilled":  {state: legacyScheduled, pages: []legacyPage{{clusters: shorts(2, 101)}, {clusters: nil}}},
		"odd":       {state: legacyScheduled, pages: odd},
		"ruled":     {state: legacyScheduled, pages: []legacyPage{{lost: true}, {clusters: shorts(102, 201)}, {clusters: shorts(202, 205)}}},
		"bare":      {pages: hundreds(0, "", shorts(2, 205))},
		// The decisions of the first page are those of the new group, and its labels not yet.
		"regrouped": {spec: grouped(intstr.FromString("100%"), "canary"), state: legacyScheduled, pages: []legacyPage{
			{clusters: shorts(2, 11)}, {clusters: shorts(102, 201)}, {clusters: shorts(202, 205)},
		}},
		// Upstream does not know this order, and writes no scores.
		"by-score": {spec: clusterv1beta1.PlacementSpec{
			SortBy: clusterv1beta1.PlacementSortByScore, ScoreRateLimit: "1h", PrioritizerPolicy: exactly(demoScore(1)),
		}, state: legacyScheduled, pages: hundreds(0, "", shorts(2, 205))},
		// Upstream takes all decisions from these two.
		"quoted": {spec: grouped(intstr.FromString("25")), state: legacyScheduled, wrong: ":25 invalid type: string is not a percentage"},
		"apart": {spec: clusterv1beta1.PlacementSpec{PrioritizerPolicy: besides(builtIn(spreading, 1))}, state: legacyUnmatched,
			pages: one([]string{}), wrong: wrong},
	}
}
