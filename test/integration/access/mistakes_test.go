// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

type (
	selectors = clusterv1beta1.ClusterSelector
)

// mistake spoils a sound spec; the words are those of the condition: the path after "spec.", the value and the rule.
type mistake struct {
	spoil func(*suite.Spec)
	words string
}

// sound is a spec that uses everything that can be wrong.
func sound() suite.Spec {
	s := suite.Matching(clusterv1beta1.ClusterPredicate{RequiredClusterSelector: selectors{
		LabelSelector: metav1.LabelSelector{
			MatchLabels:      map[string]string{"region": "eu"},
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "region", Operator: metav1.LabelSelectorOpExists}},
		},
		ClaimSelector: clusterv1beta1.ClusterClaimSelector{
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "zone", Operator: metav1.LabelSelectorOpIn, Values: []string{"z1"}}},
		},
		CelSelector: clusterv1beta1.ClusterCelSelector{CelExpressions: []string{"true"}},
	}})
	s.PrioritizerPolicy = suite.Besides(suite.BuiltIn(suite.PrioritizerSteady, 1), suite.DemoScore(1))
	s.Tolerations = []clusterv1beta1.Toleration{{Key: "key", Operator: clusterv1beta1.TolerationOpEqual, Value: "value"}}
	s.SpreadPolicy.SpreadConstraints = []clusterv1beta1.SpreadConstraintsTerm{{
		TopologyKey: "zone", TopologyKeyType: clusterv1beta1.TopologyKeyTypeClaim, MaxSkew: 1,
		WhenUnsatisfiable: clusterv1beta1.ScheduleAnyway,
	}}
	s.DecisionStrategy = suite.CanaryStrategy(2, true)

	return s
}

// spoil makes a mistake of a change of one part of the spec.
func spoil[T any](part func(*suite.Spec) *T, change func(*T), words string) mistake {
	return mistake{spoil: func(s *suite.Spec) { change(part(s)) }, words: words}
}

func ofSpec(s *suite.Spec) *suite.Spec     { return s }
func ofPredicate(s *suite.Spec) *selectors { return &s.Predicates[0].RequiredClusterSelector }
func ofLabel(s *suite.Spec) *metav1.LabelSelectorRequirement {
	return &ofPredicate(s).LabelSelector.MatchExpressions[0]
}

func ofClaim(s *suite.Spec) *metav1.LabelSelectorRequirement {
	return &ofPredicate(s).ClaimSelector.MatchExpressions[0]
}
func ofCoordinate(s *suite.Spec) **clusterv1beta1.ScoreCoordinate {
	return &s.PrioritizerPolicy.Configurations[0].ScoreCoordinate
}
func ofToleration(s *suite.Spec) *clusterv1beta1.Toleration { return &s.Tolerations[0] }
func ofSpread(s *suite.Spec) *clusterv1beta1.SpreadConstraintsTerm {
	return &s.SpreadPolicy.SpreadConstraints[0]
}
func ofStrategy(s *suite.Spec) *clusterv1beta1.GroupStrategy {
	return &s.DecisionStrategy.GroupStrategy
}
func ofGroup(s *suite.Spec) *clusterv1beta1.GroupClusterSelector {
	return &ofStrategy(s).DecisionGroups[0].ClusterSelector
}

type requirement = metav1.LabelSelectorRequirement

// Where the parts of a spec are.
const (
	inPredicate = "predicates[0].requiredClusterSelector."
	inLabels    = inPredicate + "labelSelector.matchLabels: Invalid value: "
	inLabel     = inPredicate + "labelSelector.matchExpressions[0]."
	inClaim     = inPredicate + "claimSelector.matchExpressions[0]."
	inCEL       = inPredicate + "celSelector.celExpressions[0]: Invalid value: "
	inFirst     = "prioritizerPolicy.configurations[0].scoreCoordinate"
	inSpread    = "spreadPolicy.spreadConstraints[0]."
	inStrategy  = "decisionStrategy.groupStrategy."
	inGroup     = inStrategy + "decisionGroups[0].groupClusterSelector."

	valuesNeeded    = "values: Required value: must be specified when `operator` is 'In' or 'NotIn'"
	valuesForbidden = "values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
)

// costly is a CEL expression that goes through six nested lists of ten.
func costly() string {
	expression := "true"
	for name := range strings.SplitSeq("abcdef", "") {
		expression = "[0,1,2,3,4,5,6,7,8,9].map(" + name + ", " + expression + ")"
	}
	return expression + ".size() > 0"
}

// mistakes are all that can be wrong in the spec of a Placement, one for each rule.
var mistakes = map[string]mistake{
	"count": spoil(ofSpec, func(s *suite.Spec) { s.NumberOfClusters = ptr.To[int32](-1) },
		"numberOfClusters: Invalid value: -1: must be 0 or more"),

	"label key": spoil(ofPredicate, func(s *selectors) { s.LabelSelector.MatchLabels["no key!"] = "a" },
		inLabels+`"no key!": name part must consist of`),
	"label value": spoil(ofPredicate, func(s *selectors) { s.LabelSelector.MatchLabels["a"] = "no value!" },
		inLabels+`"no value!": a valid label must be`),
	"label expression key": spoil(ofLabel, func(r *requirement) { r.Key = "no key!" },
		inLabel+`key: Invalid value: "no key!": name part must consist of`),
	"label expression operator": spoil(ofLabel, func(r *requirement) { r.Operator = "Like" },
		inLabel+`operator: Invalid value: "Like": not a valid selector operator`),
	"label expression without values": spoil(ofLabel, func(r *requirement) { r.Operator = metav1.LabelSelectorOpNotIn }, inLabel+valuesNeeded),
	"label expression with values":    spoil(ofLabel, func(r *requirement) { r.Values = []string{"eu"} }, inLabel+valuesForbidden),
	"label expression of a wrong value": spoil(ofLabel, func(r *requirement) {
		*r = requirement{Key: "a", Operator: metav1.LabelSelectorOpIn, Values: []string{"no value!"}}
	}, inLabel+`values[0]: Invalid value: "no value!": a valid label must be`),

	"claim name": spoil(ofClaim, func(r *requirement) { r.Key = "" }, inClaim+"key: Required value: the name of a cluster claim"),
	"claim operator": spoil(ofClaim, func(r *requirement) { r.Operator = "Like" },
		inClaim+`operator: Unsupported value: "Like": supported values: `),
	"claim without values": spoil(ofClaim, func(r *requirement) { r.Values = nil }, inClaim+valuesNeeded),
	"claim with values":    spoil(ofClaim, func(r *requirement) { r.Operator = metav1.LabelSelectorOpExists }, inClaim+valuesForbidden),

	"cel": spoil(ofPredicate, func(s *selectors) { s.CelSelector.CelExpressions[0] = "1 +" }, inCEL+`"1 +": compilation failed: `),
	"cel type": spoil(ofPredicate, func(s *selectors) { s.CelSelector.CelExpressions[0] = "1 + 1" },
		inCEL+`"1 + 1": must be a boolean expression, but its type is int`),
	"cel cost": spoil(ofPredicate, func(s *selectors) { s.CelSelector.CelExpressions[0] = costly() },
		inCEL+strconv.Quote(costly())+": costs at least "),

	"mode": spoil(ofSpec, func(s *suite.Spec) { s.PrioritizerPolicy.Mode = "Best" },
		`prioritizerPolicy.mode: Unsupported value: "Best": supported values: `),
	"no coordinate": spoil(ofCoordinate, func(c **clusterv1beta1.ScoreCoordinate) { *c = nil },
		inFirst+": Required value: scoreCoordinate field is required"),
	"built-in": spoil(ofCoordinate, func(c **clusterv1beta1.ScoreCoordinate) { (*c).BuiltIn = "Fastest" },
		inFirst+`.builtIn: Unsupported value: "Fastest": supported values: `),
	"add-on": spoil(ofCoordinate, func(c **clusterv1beta1.ScoreCoordinate) { (*c).Type = clusterv1beta1.ScoreCoordinateTypeAddOn },
		inFirst+".addOn: Required value: addOn should not be empty when type is AddOn"),

	"toleration of everything": spoil(ofToleration, func(t *clusterv1beta1.Toleration) { t.Key = "" },
		`tolerations[0].operator: Invalid value: "Equal": If the key is empty, operator must be Exists.`),
	"toleration of a value": spoil(ofToleration, func(t *clusterv1beta1.Toleration) { t.Operator = clusterv1beta1.TolerationOpExists },
		`tolerations[0].value: Invalid value: "value": If the operator is Exists, the value should be empty.`),

	"topology key": spoil(ofSpread, func(c *clusterv1beta1.SpreadConstraintsTerm) { c.TopologyKey = "" },
		inSpread+"topologyKey: Required value: the name of a label or of a cluster claim"),
	"topology type": spoil(ofSpread, func(c *clusterv1beta1.SpreadConstraintsTerm) { c.TopologyKeyType = "Planet" },
		inSpread+`topologyKeyType: Unsupported value: "Planet": supported values: `),
	"skew": spoil(ofSpread, func(c *clusterv1beta1.SpreadConstraintsTerm) { c.MaxSkew = -1 },
		inSpread+"maxSkew: Invalid value: -1: must be 1 or more"),
	"spread action": spoil(ofSpread, func(c *clusterv1beta1.SpreadConstraintsTerm) { c.WhenUnsatisfiable = "Panic" },
		inSpread+`whenUnsatisfiable: Unsupported value: "Panic": supported values: `),

	"group label": spoil(ofGroup, func(g *clusterv1beta1.GroupClusterSelector) { g.LabelSelector.MatchLabels["group"] = "no value!" },
		inGroup+`labelSelector.matchLabels: Invalid value: "no value!": a valid label must be`),
	"group claim": spoil(ofGroup, func(g *clusterv1beta1.GroupClusterSelector) {
		g.ClaimSelector.MatchExpressions = []requirement{{Key: "a", Operator: "Like"}}
	}, inGroup+`claimSelector.matchExpressions[0].operator: Unsupported value: "Like"`),
	"group length": spoil(ofStrategy, func(g *clusterv1beta1.GroupStrategy) { g.ClustersPerDecisionGroup = intstr.FromString("many") },
		inStrategy+`clustersPerDecisionGroup: Invalid value: "many": must be a number of clusters or a percentage such as 25%`),
	"group percentage": spoil(ofStrategy, func(g *clusterv1beta1.GroupStrategy) { g.ClustersPerDecisionGroup = intstr.FromString("2.5%") },
		inStrategy+`clustersPerDecisionGroup: Invalid value: "2.5%": must be a number of clusters or a percentage such as 25%`),
}

// init adds the limits of a Placement, each exceeded by one.
func init() {
	const limit = inPredicate + "labelSelector.matchExpressions[1].values: Too many: 1001: must have at most 1000 values: "
	maps.Copy(mistakes, map[string]mistake{
		"C2a: predicates": spoil(ofSpec, func(s *suite.Spec) { s.Predicates = slices.Repeat(s.Predicates, 65) },
			"predicates: Too many: 65: must have at most 64 predicates: merge those that differ in one value"),
		"C2a: requirements": spoil(ofPredicate, func(s *selectors) {
			s.LabelSelector.MatchExpressions = slices.Repeat(s.LabelSelector.MatchExpressions, 99) // One of matchLabels, and one of a claim.
		}, inPredicate[:len(inPredicate)-1]+": Too many: 101: must have at most 100 requirements on labels and claims: give the clusters"),
		"C2a: requirements of a group": spoil(ofGroup, func(g *clusterv1beta1.GroupClusterSelector) {
			g.ClaimSelector.MatchExpressions = slices.Repeat([]requirement{{Key: "a", Operator: metav1.LabelSelectorOpExists}}, 100)
		}, inGroup[:len(inGroup)-1]+": Too many: 101: must have at most 100 requirements"),
		"C2a: values": spoil(ofPredicate, func(s *selectors) {
			s.LabelSelector.MatchExpressions = append(s.LabelSelector.MatchExpressions, requirement{
				Key: "region", Operator: metav1.LabelSelectorOpIn, Values: slices.Repeat([]string{"eu"}, 1001),
			})
		}, limit+"give the clusters one label"),
		"C2a: values of a claim": spoil(ofClaim, func(r *requirement) { r.Values = slices.Repeat(r.Values, 1001) },
			inClaim+"values: Too many: 1001: must have at most 1000 values"),
		"C2a: tolerations": spoil(ofSpec, func(s *suite.Spec) { s.Tolerations = slices.Repeat(s.Tolerations, 65) },
			"tolerations: Too many: 65: must have at most 64 tolerations: tolerate all values of a key with operator Exists"),
		"C2a: prioritizers": spoil(ofSpec, func(s *suite.Spec) {
			s.PrioritizerPolicy.Configurations = slices.Repeat(s.PrioritizerPolicy.Configurations[:1], 33)
		}, "prioritizerPolicy.configurations: Too many: 33: must have at most 32 prioritizers: remove those with the least weight"),
		"C2a: spread constraints": spoil(ofSpec, func(s *suite.Spec) {
			s.SpreadPolicy.SpreadConstraints = slices.Repeat(s.SpreadPolicy.SpreadConstraints, 17)
		}, "spreadPolicy.spreadConstraints: Too many: 17: must have at most 16 spread constraints: remove the last ones"),
		"C2a: decision groups": spoil(ofStrategy, func(g *clusterv1beta1.GroupStrategy) {
			g.DecisionGroups = slices.Repeat(g.DecisionGroups[:1], 101)
		}, inStrategy+"decisionGroups: Too many: 101: must have at most 100 decision groups: divide the clusters by clustersPerDecisionGroup"),
		"C2a: CEL": spoil(ofPredicate, func(s *selectors) {
			s.CelSelector.CelExpressions = []string{
				"true || 'ä' == '" + strings.Repeat("x", 40_000) + "'", "true || '" + strings.Repeat("x", 40_000) + "' == ''",
			}
		}, "predicates: Too many: 80034: must have at most 65536 bytes of CEL expressions: shorten them, or use labels and claims"),
	})
}

// spoilt is a sound spec with the mistake.
func (m mistake) spoilt() suite.Spec {
	s := sound()
	m.spoil(&s)
	return s
}

// mistakeEntries are the names of all mistakes.
func mistakeEntries() []TableEntry {
	var entries []TableEntry
	for _, name := range slices.Sorted(maps.Keys(mistakes)) {
		entries = append(entries, Entry(name, name))
	}
	return entries
}

var _ = Describe("A misconfigured placement", Ordered, ContinueOnFailure, func() {
	var (
		shared *suite.Fixture
		// now is what a sound spec selects at the moment, and next what it does when c003 and c004 have changed places.
		now, next []string
	)

	BeforeAll(func(ctx SpecContext) {
		suite.SeparateWithoutValidation(ctx)
		now, next = []string{"c001", "c002", "c003"}, []string{"c001", "c002", "c004"}
		shared = suite.NewFixture(ctx)
		shared.Set(ctx, "set")
		shared.Clusters(ctx, "set", 1, 3, suite.Labeled("region", "eu"), suite.Claiming("zone", "z1"))
		shared.Clusters(ctx, "set", 4, 4, suite.Labeled("region", "us"), suite.Claiming("zone", "z1"))
		shared.Placement(ctx, "p", sound())
		shared.Placement(ctx, "witness", sound())
	})

	expectSound := func(ctx context.Context, name string) {
		GinkgoHelper()
		Eventually(func(g Gomega) {
			seen := shared.Look(ctx, g, name)
			g.Expect(seen.Selected).To(HaveExactElements(now))
			g.Expect(seen.Satisfied).To(Equal(suite.AllScheduled))
			g.Expect(seen.Misconfigured).To(Equal(suite.Configured))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	}
	// goOn lets the fixture change, which the witness follows.
	goOn := func(ctx context.Context) {
		GinkgoHelper()
		shared.EditCluster(ctx, next[2], func(c *clusterv1.ManagedCluster) { c.Labels["region"] = "eu" })
		shared.EditCluster(ctx, now[2], func(c *clusterv1.ManagedCluster) { c.Labels["region"] = "us" })
		now, next = next, now
		expectSound(ctx, "witness")
	}
	DescribeTable("A1, A2, 8, 20: keeps its decisions untouched, names field, value and rule, and recovers", func(ctx SpecContext, name string) {
		shared.EditPlacement(ctx, "p", func(s *suite.Spec) { *s = sound() }) // Whatever became of the entry before.
		expectSound(ctx, "p")
		expectSound(ctx, "witness")
		kept, words := now, "spec."+mistakes[name].words
		pages := shared.Pages(ctx, Default, "p")
		shared.EditPlacement(ctx, "p", func(s *suite.Spec) { *s = mistakes[name].spoilt() })
		shared.ExpectMisconfigured(ctx, "p", words, kept...)
		goOn(ctx)
		shared.ExpectMisconfigured(ctx, "p", words, kept...)
		Expect(shared.Pages(ctx, Default, "p")).To(HaveExactElements(pages), "no PlacementDecision is written: its resourceVersion would tell")

		shared.EditPlacement(ctx, "p", func(s *suite.Spec) { *s = sound() })
		expectSound(ctx, "p")
	}, mistakeEntries())

	It("A1, A3, A6: a new one gets one empty page and both conditions even without clusters, and nothing loops", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		errors := f.Activity(Default).Errors
		names, named := map[string]string{}, strings.NewReplacer(" ", "-", ":", "")
		for text := range mistakes {
			names[text] = named.Replace(strings.ToLower(text))
			f.Placement(ctx, names[text], mistakes[text].spoilt())
		}

		told := func() {
			GinkgoHelper()
			for text, mistake := range mistakes {
				f.ExpectMisconfigured(ctx, names[text], "spec."+mistake.words)
			}
		}
		told()
		f.Clusters(ctx, "set", 1, 1, suite.Labeled("region", "eu"), suite.Claiming("zone", "z1"))
		told()

		for _, name := range names {
			Expect(f.Look(ctx, Default, name).Groups).To(HaveExactElements("0/: 0 [" + name + "-decision-1]"))
		}
		f.ExpectSilence(ctx)
		Expect(f.Activity(Default).Errors).To(Equal(errors))
	})

	It("A6: says all its mistakes at once", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		together := []string{"count", "label value", "claim operator", "cel", "mode", "skew", "toleration of everything", "group length"}
		wrong := sound()
		for _, text := range together {
			mistakes[text].spoil(&wrong)
		}
		f.Placement(ctx, "p", wrong)
		for _, text := range together {
			f.ExpectMisconfigured(ctx, "p", "spec."+mistakes[text].words)
		}
	})

	It("A2: a name that cannot be a label gets its conditions, no page, and nothing loops", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 1)
		errors := f.Activity(Default).Errors
		placement := f.Placement(ctx, strings.Repeat("long", 16), suite.Spec{})
		Eventually(func(g Gomega) {
			g.Expect(f.Read(ctx, g, placement.Name).Status.Conditions).To(HaveLen(2))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		f.ExpectSilence(ctx)

		conditions := f.Read(ctx, Default, placement.Name).Status.Conditions
		Expect(suite.ConditionText(conditions[0])).To(Equal(suite.Misconfigured))
		Expect(conditions[0].Message).To(And(HavePrefix("metadata.name: Invalid value: "), ContainSubstring("must be no more than 63")))
		Expect(suite.ConditionText(conditions[1])).To(Equal(suite.NothingMatched))
		Expect(suite.AllPages(ctx, f)).To(BeEmpty())
		Expect(f.Activity(Default).Errors).To(Equal(errors))
	})
})
