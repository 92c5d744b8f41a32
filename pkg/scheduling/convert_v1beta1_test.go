// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

func require(s clusterv1beta1.ClusterSelector) clusterv1beta1.ClusterPredicate {
	return clusterv1beta1.ClusterPredicate{RequiredClusterSelector: s}
}

func byLabel(labels ...string) clusterv1beta1.ClusterPredicate {
	s := metav1.LabelSelector{MatchLabels: map[string]string{}}
	for i := 0; i < len(labels); i += 2 {
		s.MatchLabels[labels[i]] = labels[i+1]
	}
	return require(clusterv1beta1.ClusterSelector{LabelSelector: s})
}

func byClaim(claims ...metav1.LabelSelectorRequirement) clusterv1beta1.ClusterPredicate {
	return require(clusterv1beta1.ClusterSelector{ClaimSelector: clusterv1beta1.ClusterClaimSelector{MatchExpressions: claims}})
}

func byCEL(expressions ...string) clusterv1beta1.ClusterPredicate {
	return require(clusterv1beta1.ClusterSelector{CelSelector: clusterv1beta1.ClusterCelSelector{CelExpressions: expressions}})
}

func compare(key string, operator metav1.LabelSelectorOperator, values ...string) metav1.LabelSelectorRequirement {
	return metav1.LabelSelectorRequirement{Key: key, Operator: operator, Values: values}
}

func groupsOf(groups ...clusterv1beta1.DecisionGroup) clusterv1beta1.DecisionStrategy {
	return clusterv1beta1.DecisionStrategy{GroupStrategy: clusterv1beta1.GroupStrategy{DecisionGroups: groups}}
}

func groupsOfSize(size intstr.IntOrString) clusterv1beta1.DecisionStrategy {
	return clusterv1beta1.DecisionStrategy{GroupStrategy: clusterv1beta1.GroupStrategy{ClustersPerDecisionGroup: size}}
}

func coordinateOf(c *clusterv1beta1.ScoreCoordinate) clusterv1beta1.PrioritizerPolicy {
	return additive(builtIn(Steady, 1), clusterv1beta1.PrioritizerConfig{ScoreCoordinate: c, Weight: 1})
}

// docs/spec/differences.md A1, A2 and A6: every error has the path, the value and the rule, even without any cluster or set.
func TestMistakes(t *testing.T) {
	const (
		configurations = "spec.prioritizerPolicy.configurations[1].scoreCoordinate"
		strategy       = "spec.decisionStrategy.groupStrategy"
		required       = "requiredClusterSelector"
		numberOrShare  = "must be a number of clusters or a percentage such as 25%: strconv.ParseInt"
		known          = `supported values: "Balance", "Steady", "ResourceAllocatableCPU", "ResourceAllocatableMemory", "Spread"`
	)
	is := metav1.LabelSelectorRequirement{Key: "region", Operator: "Is"}
	for _, tc := range []struct {
		reason string
		spec   placementSpec
		want   []string
	}{
		{"A2: a negative count", placementSpec{NumberOfClusters: ptr.To(int32(-1))},
			[]string{"spec.numberOfClusters: Invalid value: -1: must be 0 or more, or absent for all clusters"}},
		{"label selector", placementSpec{Predicates: anyOf{
			byLabel("a", "b"), require(clusterv1beta1.ClusterSelector{LabelSelector: metav1.LabelSelector{MatchExpressions: requirements{is}}}),
		}}, []string{"spec.predicates[1]." + required +
			`.labelSelector.matchExpressions[0].operator: Invalid value: "Is": not a valid selector operator`}},
		{"match labels", placementSpec{Predicates: anyOf{byLabel("region", "a b")}}, []string{
			"spec.predicates[0]." + required + `.labelSelector.matchLabels: Invalid value: "a b": a valid label must be an empty string ` +
				`or consist of ` +
				`alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character ` +
				`(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
		}},
		{"claim selector", placementSpec{Predicates: anyOf{
			byClaim(compare("a", metav1.LabelSelectorOpExists), compare("b", metav1.LabelSelectorOpIn)),
		}}, []string{"spec.predicates[0].requiredClusterSelector.claimSelector.matchExpressions[1].values: Required value: " +
			"must be specified when `operator` is 'In' or 'NotIn'"}},
		{"CEL", placementSpec{Predicates: anyOf{byCEL("true", "1 +")}}, []string{
			`spec.predicates[0].requiredClusterSelector.celSelector.celExpressions[1]: Invalid value: "1 +": compilation failed: 1:4: ` +
				`Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', ` +
				`NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}`,
		}},
		{"mode", placementSpec{PrioritizerPolicy: clusterv1beta1.PrioritizerPolicy{Mode: "Maybe"}},
			[]string{`spec.prioritizerPolicy.mode: Unsupported value: "Maybe": supported values: "Additive", "Exact"`}},
		{"coordinate missing", placementSpec{PrioritizerPolicy: coordinateOf(nil)},
			[]string{configurations + ": Required value: scoreCoordinate field is required"}},
		{"built-in unknown", placementSpec{PrioritizerPolicy: coordinateOf(&clusterv1beta1.ScoreCoordinate{Type: "BuiltIn", BuiltIn: "Luck"})},
			[]string{configurations + `.builtIn: Unsupported value: "Luck": ` + known}},
		{"built-in missing", placementSpec{PrioritizerPolicy: coordinateOf(&clusterv1beta1.ScoreCoordinate{Type: "BuiltIn"})},
			[]string{configurations + `.builtIn: Unsupported value: "": ` + known}},
		{"addOn missing", placementSpec{PrioritizerPolicy: coordinateOf(&clusterv1beta1.ScoreCoordinate{Type: "AddOn", BuiltIn: Steady})},
			[]string{configurations + ".addOn: Required value: addOn should not be empty when type is AddOn"}},
		{"1.1: any other type is AddOn", placementSpec{PrioritizerPolicy: coordinateOf(&clusterv1beta1.ScoreCoordinate{BuiltIn: Steady})},
			[]string{configurations + ".addOn: Required value: addOn should not be empty when type is AddOn"}},
		{"1.6: empty key without Exists", placementSpec{Tolerations: tolerating{exist("", ""), equal("", "a", "")}},
			[]string{`spec.tolerations[1].operator: Invalid value: "Equal": If the key is empty, operator must be Exists.`}},
		{"1.6: empty key without an operator", placementSpec{Tolerations: tolerating{{}}},
			[]string{`spec.tolerations[0].operator: Invalid value: "": If the key is empty, operator must be Exists.`}},
		{"1.6: Exists with a value", placementSpec{Tolerations: tolerating{
			{Key: "a", Operator: clusterv1beta1.TolerationOpExists, Value: "b"},
		}}, []string{`spec.tolerations[0].value: Invalid value: "b": If the operator is Exists, the value should be empty.`}},
		{"spread constraints", placementSpec{SpreadPolicy: clusterv1beta1.SpreadPolicy{SpreadConstraints: []clusterv1beta1.SpreadConstraintsTerm{
			over(clusterv1beta1.TopologyKeyTypeLabel, "zone", 0, ""), over("Zone", "", -1, "Never"),
		}}}, []string{
			`spec.spreadPolicy.spreadConstraints[1].topologyKey: Required value: the name of a label or of a cluster claim`,
			`spec.spreadPolicy.spreadConstraints[1].topologyKeyType: Unsupported value: "Zone": supported values: "Label", "Claim"`,
			`spec.spreadPolicy.spreadConstraints[1].maxSkew: Invalid value: -1: must be 1 or more`,
			`spec.spreadPolicy.spreadConstraints[1].whenUnsatisfiable: Unsupported value: "Never": ` +
				`supported values: "DoNotSchedule", "ScheduleAnyway"`,
		}},
		{"group labels", placementSpec{DecisionStrategy: groupsOf(clusterv1beta1.DecisionGroup{GroupName: "canary"}, clusterv1beta1.DecisionGroup{
			GroupName: "rest", ClusterSelector: clusterv1beta1.GroupClusterSelector{
				LabelSelector: metav1.LabelSelector{MatchExpressions: requirements{is}},
			},
		})}, []string{strategy + `.decisionGroups[1].groupClusterSelector.labelSelector.matchExpressions[0].operator: ` +
			`Invalid value: "Is": not a valid selector operator`}},
		{"group claims", placementSpec{DecisionStrategy: groupsOf(clusterv1beta1.DecisionGroup{
			ClusterSelector: clusterv1beta1.GroupClusterSelector{
				ClaimSelector: clusterv1beta1.ClusterClaimSelector{MatchExpressions: requirements{compare("", metav1.LabelSelectorOpExists)}},
			},
		})}, []string{strategy + `.decisionGroups[0].groupClusterSelector.claimSelector.matchExpressions[0].key: ` +
			`Required value: the name of a cluster claim`}},
		{"group size", placementSpec{DecisionStrategy: groupsOfSize(intstr.FromString("abc"))},
			[]string{strategy + `.clustersPerDecisionGroup: Invalid value: "abc": ` + numberOrShare + `: parsing "abc": invalid syntax`}},
		{"group size of a percent sign alone", placementSpec{DecisionStrategy: groupsOfSize(intstr.FromString("%"))},
			[]string{strategy + `.clustersPerDecisionGroup: Invalid value: "%": ` + numberOrShare + `: parsing "": invalid syntax`}},
		{"D4: another order", placementSpec{SortBy: "Age"},
			[]string{`spec.sortBy: Unsupported value: "Age": supported values: "ClusterName", "Score"`}},
		{"D4: the interval is checked, whatever the order", placementSpec{ScoreRateLimit: "1d"}, []string{
			`spec.scoreRateLimit: Invalid value: "1d": must be a whole number of seconds, minutes or hours, such as 30s, 1m or 2h`,
		}},
		{"all of them, in the order of the spec", placementSpec{
			NumberOfClusters: ptr.To(int32(-7)), Predicates: anyOf{byCEL("7"), byCEL("8")},
			PrioritizerPolicy: coordinateOf(nil), Tolerations: tolerating{{}},
			DecisionStrategy: groupsOfSize(intstr.FromString("7.5%")),
		}, []string{
			"spec.numberOfClusters: Invalid value: -7: must be 0 or more, or absent for all clusters",
			"spec.predicates[0]." + required +
				`.celSelector.celExpressions[0]: Invalid value: "7": must be a boolean expression, but its type is int`,
			"spec.predicates[1]." + required +
				`.celSelector.celExpressions[0]: Invalid value: "8": must be a boolean expression, but its type is int`,
			configurations + ": Required value: scoreCoordinate field is required",
			`spec.tolerations[0].operator: Invalid value: "": If the key is empty, operator must be Exists.`,
			strategy + `.clustersPerDecisionGroup: Invalid value: "7.5%": ` + numberOrShare + `: parsing "7.5": invalid syntax`,
		}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			request := ConvertV1beta1(selector.NewCompiler(), placementOf(tc.spec))
			result := Schedule(request, inventory.New(selector.NewCompiler()).Snapshot(), nil, now)
			got := make([]string, 0, len(result.Errors))
			for _, mistake := range result.Errors {
				got = append(got, mistake.Error())
			}
			expect(t, "mistakes", tc.want, got)
			if result.Outcome() == Decided || len(result.Selected) > 0 || len(result.Verdicts()) > 0 {
				t.Error("there is an answer in spite of the mistakes")
			}
		})
	}
}

// docs/spec/differences.md A2: the name labels every PlacementDecision.
func TestNames(t *testing.T) {
	for _, tc := range []struct {
		name, want string
	}{
		{strings.Repeat("x", 63), ""},
		{"with.dots-and-1", ""},
		{strings.Repeat("x", 64), `metadata.name: Invalid value: "` + strings.Repeat("x", 64) +
			`": labels every PlacementDecision and must be no more than 63 bytes`},
	} {
		placement := placementOf(placementSpec{})
		placement.Name = tc.name
		got := ""
		if err := ConvertV1beta1(selector.NewCompiler(), placement).Errors.ToAggregate(); err != nil {
			got = err.Error()
		}
		expect(t, "mistake of "+tc.name, tc.want, got)
	}
}

// docs/spec/upstream-placement.md 1.9 and docs/spec/differences.md A2: a number, a quoted number, or ceil(P/100 x selected); at most the
// number of selected clusters, and 0 means no limit.
func TestGroupLength(t *testing.T) {
	for _, tc := range []struct {
		reason   string
		size     intstr.IntOrString
		selected int
		want     int
	}{
		{"nothing said", intstr.IntOrString{}, 7, 7},
		{"an empty string", intstr.FromString(""), 7, 7},
		{"the default", intstr.FromString("100%"), 7, 7},
		{"a number", intstr.FromInt32(3), 7, 3},
		{"as many as there are", intstr.FromInt32(7), 7, 7},
		{"more than there are", intstr.FromInt32(8), 7, 7},
		{"A2: a quoted number", intstr.FromString("25"), 70, 25},
		{"A2: 0", intstr.FromInt32(0), 7, 7},
		{"A2: quoted 0", intstr.FromString("0"), 7, 7},
		{"0%", intstr.FromString("0%"), 7, 7},
		{"negative", intstr.FromInt32(-2), 7, 7},
		{"a percentage", intstr.FromString("50%"), 10, 5},
		{"rounds up", intstr.FromString("50%"), 7, 4},
		{"rounds up from little", intstr.FromString("1%"), 7, 1},
		{"does not round what is whole", intstr.FromString("20%"), 10, 2},
		{"34% of 3", intstr.FromString("34%"), 3, 2},
		{"33% of 3", intstr.FromString("33%"), 3, 1},
		{"over 100%", intstr.FromString("250%"), 3, 3},
		{"of none it is at least 1", intstr.FromString("50%"), 0, 1},
		{"of none, a number", intstr.FromInt32(4), 0, 1},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			request := ConvertV1beta1(selector.NewCompiler(), placementOf(placementSpec{DecisionStrategy: groupsOfSize(tc.size)}))
			if len(request.Errors) > 0 {
				t.Fatal(request.Errors.ToAggregate())
			}
			expect(t, "length", tc.want, request.GroupLength.Of(tc.selected))
		})
	}
}

// docs/spec/differences.md D4: sortBy defaults to ClusterName and scoreRateLimit to 1m.
func TestOrder(t *testing.T) {
	for _, tc := range []struct {
		reason   string
		spec     placementSpec
		order    Order
		text     string
		interval time.Duration
	}{
		{"the defaults", placementSpec{}, ByName, "name", time.Minute},
		{"by name", placementSpec{SortBy: clusterv1beta1.PlacementSortByClusterName, ScoreRateLimit: "2h"}, ByName, "name", 2 * time.Hour},
		{"by score", placementSpec{SortBy: clusterv1beta1.PlacementSortByScore, ScoreRateLimit: "090s"}, ByScore, "score", 90 * time.Second},
		{"without a bound", placementSpec{SortBy: clusterv1beta1.PlacementSortByScore, ScoreRateLimit: "0m"}, ByScore, "score", 0},
		{"the longest there is", placementSpec{ScoreRateLimit: "2562047h"}, ByName, "name", 2562047 * time.Hour},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			request := ConvertV1beta1(selector.NewCompiler(), placementOf(tc.spec))
			if len(request.Errors) > 0 {
				t.Fatal(request.Errors.ToAggregate())
			}
			expect(t, "order", tc.order, request.Order)
			expect(t, "text", tc.text, request.Order.String())
			expect(t, "interval", tc.interval, request.ScoreInterval)
		})
	}
}

// docs/spec/differences.md D4: scoreRateLimit has the form ^[0-9]+[hms]$ and must fit into a duration.
func TestMistakesInScoreRateLimit(t *testing.T) {
	const form = "must be a whole number of seconds, minutes or hours, such as 30s, 1m or 2h"
	for limit, want := range map[string]string{
		"1d": form, "60": form, "m": form, "-1m": form, "+1m": form, "1.5h": form, "1h30m": form, "1_0s": form, "1 m": form, "1M": form,
		"2562048h":                    "must be no more than 2562047h, which is 292 years",
		"153722867m":                  "",
		"153722868m":                  "must be no more than 153722867m, which is 292 years",
		strings.Repeat("9", 30) + "s": "must be no more than 9223372036s, which is 292 years",
		strings.Repeat("9", 30) + "x": form,
	} {
		got := ""
		if err := ConvertV1beta1(selector.NewCompiler(), placementOf(placementSpec{ScoreRateLimit: limit})).Errors.ToAggregate(); err != nil {
			got = err.Error()
		}
		if want != "" {
			want = `spec.scoreRateLimit: Invalid value: "` + limit + `": ` + want
		}
		expect(t, "mistake of "+limit, want, got)
	}
}

func TestConvertedDependencies(t *testing.T) {
	spec := placementSpec{
		ClusterSets: []string{"b", "a"},
		Predicates: anyOf{
			byLabel("region", "eu"), byClaim(compare("id", metav1.LabelSelectorOpExists)), byCEL(`managedCluster.scores("cel").size() > 0`),
		},
		PrioritizerPolicy: additive(builtIn(ResourceAllocatableCPU, 1), builtIn(ResourceAllocatableMemory, 1), addOn("demo", "x", 1),
			addOn("off", "x", 0)),
		DecisionStrategy: groupsOf(clusterv1beta1.DecisionGroup{GroupName: "canary", ClusterSelector: clusterv1beta1.GroupClusterSelector{
			LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"canary": "yes"}},
		}}),
	}
	predicates := []string{"label region In [eu]", "claim id Exists", `CEL managedCluster.scores("cel").size() > 0`}
	expectInterest(t, inventory.Dependencies{ClusterSets: []string{"b", "a"}, Reads: []clusterinfo.Property{
		{Kind: clusterinfo.Taint}, {Kind: clusterinfo.Score, Name: "demo"}, {Kind: clusterinfo.Label, Name: "canary"},
	}}, predicates, ConvertV1beta1(selector.NewCompiler(), placementOf(spec)).Dependencies())

	spec.NumberOfClusters = ptr.To[int32](3) // Now it matters which ones are the best.
	request := ConvertV1beta1(selector.NewCompiler(), placementOf(spec))
	expectInterest(t, inventory.Dependencies{ClusterSets: []string{"b", "a"}, Reads: []clusterinfo.Property{
		{Kind: clusterinfo.Taint}, {Kind: clusterinfo.Resource, Name: "cpu"}, {Kind: clusterinfo.Resource, Name: "memory"},
		{Kind: clusterinfo.Score, Name: "demo"},
		{Kind: clusterinfo.Label, Name: "canary"},
	}}, predicates, request.Dependencies())

	spread := placementSpec{PrioritizerPolicy: additive(builtIn(SpreadScore, 1))}
	spread.SpreadPolicy.SpreadConstraints = []clusterv1beta1.SpreadConstraintsTerm{softly(clusterv1beta1.TopologyKeyTypeLabel, "zone")}
	zone := clusterinfo.Property{Kind: clusterinfo.Label, Name: "zone"}
	expectInterest(t, inventory.Dependencies{
		Reads: []clusterinfo.Property{{Kind: clusterinfo.Taint}, zone}, ScopeReads: []clusterinfo.Property{zone},
	}, nil, ConvertV1beta1(selector.NewCompiler(), placementOf(spread)).Dependencies())
}

// expectInterest compares dependencies, with predicates by their text.
func expectInterest(t *testing.T, want inventory.Dependencies, predicates []string, got inventory.Dependencies) {
	t.Helper()
	var texts []string
	for _, predicate := range got.Predicates {
		texts = append(texts, predicate.String())
	}
	expect(t, "predicates", predicates, texts)
	got.Predicates = nil
	expect(t, "interest", want, got)
}

// As upstream, a prioritizer with weight 0 is not validated, unless its coordinate is missing.
func TestSwitchedOffIsNoMistake(t *testing.T) {
	off := func(c *clusterv1beta1.ScoreCoordinate) clusterv1beta1.PrioritizerConfig {
		return clusterv1beta1.PrioritizerConfig{ScoreCoordinate: c}
	}
	request := ConvertV1beta1(selector.NewCompiler(), placementOf(placementSpec{PrioritizerPolicy: additive(
		off(&clusterv1beta1.ScoreCoordinate{Type: clusterv1beta1.ScoreCoordinateTypeBuiltIn, BuiltIn: "Customize"}),
		off(&clusterv1beta1.ScoreCoordinate{Type: clusterv1beta1.ScoreCoordinateTypeAddOn}),
	)}))
	expect(t, "mistakes", 0, len(request.Errors))
	expect(t, "prioritizers", 2, len(request.Prioritizers))

	request = ConvertV1beta1(selector.NewCompiler(), placementOf(placementSpec{PrioritizerPolicy: additive(off(nil))}))
	expect(t, "mistakes of a coordinate that is not there", 1, len(request.Errors))
}
