package integration

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
)

type (
	spec      = clusterv1beta1.PlacementSpec
	selectors = clusterv1beta1.ClusterSelector
)

func matching(predicates ...clusterv1beta1.ClusterPredicate) spec {
	return spec{Predicates: predicates}
}

// mistake spoils a sound spec; the words are those of the condition: the path after "spec.", the value and the rule.
type mistake struct {
	spoil func(*spec)
	words string
}

// sound is a spec that uses everything that can be wrong.
func sound() spec {
	s := matching(clusterv1beta1.ClusterPredicate{RequiredClusterSelector: selectors{
		LabelSelector: metav1.LabelSelector{
			MatchLabels:      map[string]string{"region": "eu"},
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "region", Operator: metav1.LabelSelectorOpExists}},
		},
		ClaimSelector: clusterv1beta1.ClusterClaimSelector{
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "zone", Operator: metav1.LabelSelectorOpIn, Values: []string{"z1"}}},
		},
		CelSelector: clusterv1beta1.ClusterCelSelector{CelExpressions: []string{"true"}},
	}})
	s.PrioritizerPolicy = besides(builtIn(steady, 1), demoScore(1))
	s.Tolerations = []clusterv1beta1.Toleration{{Key: "key", Operator: clusterv1beta1.TolerationOpEqual, Value: "value"}}
	s.SpreadPolicy.SpreadConstraints = []clusterv1beta1.SpreadConstraintsTerm{{
		TopologyKey: "zone", TopologyKeyType: clusterv1beta1.TopologyKeyTypeClaim, MaxSkew: 1,
		WhenUnsatisfiable: clusterv1beta1.ScheduleAnyway,
	}}
	s.DecisionStrategy = canaryStrategy(2, true)

	return s
}

// spoil makes a mistake of a change of one part of the spec.
func spoil[T any](part func(*spec) *T, change func(*T), words string) mistake {
	return mistake{spoil: func(s *spec) { change(part(s)) }, words: words}
}

func ofSpec(s *spec) *spec           { return s }
func ofPredicate(s *spec) *selectors { return &s.Predicates[0].RequiredClusterSelector }
func ofLabel(s *spec) *metav1.LabelSelectorRequirement {
	return &ofPredicate(s).LabelSelector.MatchExpressions[0]
}

func ofClaim(s *spec) *metav1.LabelSelectorRequirement {
	return &ofPredicate(s).ClaimSelector.MatchExpressions[0]
}
func ofCoordinate(s *spec) **clusterv1beta1.ScoreCoordinate {
	return &s.PrioritizerPolicy.Configurations[0].ScoreCoordinate
}
func ofToleration(s *spec) *clusterv1beta1.Toleration { return &s.Tolerations[0] }
func ofSpread(s *spec) *clusterv1beta1.SpreadConstraintsTerm {
	return &s.SpreadPolicy.SpreadConstraints[0]
}
func ofStrategy(s *spec) *clusterv1beta1.GroupStrategy { return &s.DecisionStrategy.GroupStrategy }
func ofGroup(s *spec) *clusterv1beta1.GroupClusterSelector {
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
	"count": spoil(ofSpec, func(s *spec) { s.NumberOfClusters = ptr.To[int32](-1) },
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

	"mode": spoil(ofSpec, func(s *spec) { s.PrioritizerPolicy.Mode = "Best" },
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

// spoilt is a sound spec with the mistake.
func (m mistake) spoilt() spec {
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

var _ = Describe("A misconfigured placement", Ordered, ContinueOnFailure, Serial, func() {
	var (
		shared *world
		// now is what a sound spec selects at the moment, and next what it does when c003 and c004 have changed places.
		now, next []string
	)

	BeforeAll(func(ctx SpecContext) {
		trust(ctx)

		now, next = []string{"c001", "c002", "c003"}, []string{"c001", "c002", "c004"}

		shared = newWorld(ctx)
		shared.set(ctx, "set")
		shared.clusters(ctx, "set", 1, 3, labeled("region", "eu"), claiming("zone", "z1"))
		shared.clusters(ctx, "set", 4, 4, labeled("region", "us"), claiming("zone", "z1"))
		shared.placement(ctx, "p", sound())
		shared.placement(ctx, "witness", sound())
	})

	expectSound := func(ctx context.Context, name string) {
		GinkgoHelper()
		Eventually(func(g Gomega) {
			seen := shared.look(ctx, g, name)
			g.Expect(seen.Selected).To(HaveExactElements(now))
			g.Expect(seen.Satisfied).To(Equal(allScheduled))
			g.Expect(seen.Misconfigured).To(Equal(configured))
		}).WithContext(ctx).WithTimeout(settle).Should(Succeed())
	}
	// goOn lets the world change, which the witness follows.
	goOn := func(ctx context.Context) {
		GinkgoHelper()
		shared.editCluster(ctx, next[2], func(c *clusterv1.ManagedCluster) { c.Labels["region"] = "eu" })
		shared.editCluster(ctx, now[2], func(c *clusterv1.ManagedCluster) { c.Labels["region"] = "us" })

		now, next = next, now

		expectSound(ctx, "witness")
	}
	DescribeTable("A1, A2, 8, 20: keeps its decisions untouched, names field, value and rule, and recovers", func(ctx SpecContext, name string) {
		shared.editPlacement(ctx, "p", func(s *spec) { *s = sound() }) // Whatever became of the entry before.
		expectSound(ctx, "p")
		expectSound(ctx, "witness")

		kept, words := now, "spec."+mistakes[name].words
		pages := shared.pages(ctx, Default, "p")

		shared.editPlacement(ctx, "p", func(s *spec) { *s = mistakes[name].spoilt() })
		shared.expectMisconfigured(ctx, "p", words, kept...)
		goOn(ctx)
		shared.expectMisconfigured(ctx, "p", words, kept...)
		Expect(shared.pages(ctx, Default, "p")).To(HaveExactElements(pages), "no PlacementDecision is written: its resourceVersion would tell")

		shared.editPlacement(ctx, "p", func(s *spec) { *s = sound() })
		expectSound(ctx, "p")
	}, mistakeEntries())

	It("A1, A3, A6: a new one gets one empty page and both conditions even without clusters, and nothing loops", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		errors := w.activity(Default).Errors
		names := map[string]string{}

		for text := range mistakes {
			names[text] = strings.ReplaceAll(text, " ", "-")
			w.placement(ctx, names[text], mistakes[text].spoilt())
		}

		told := func() {
			GinkgoHelper()

			for text, mistake := range mistakes {
				w.expectMisconfigured(ctx, names[text], "spec."+mistake.words)
			}
		}
		told()
		w.clusters(ctx, "set", 1, 1, labeled("region", "eu"), claiming("zone", "z1"))
		told()

		for _, name := range names {
			Expect(w.look(ctx, Default, name).Groups).To(HaveExactElements("0/: 0 [" + name + "-decision-1]"))
		}

		w.expectSilence(ctx)
		Expect(w.activity(Default).Errors).To(Equal(errors))
	})

	It("A6: says all its mistakes at once", func(ctx SpecContext) {
		w := newWorld(ctx)
		together := []string{"count", "label value", "claim operator", "cel", "mode", "skew", "toleration of everything", "group length"}
		wrong := sound()

		for _, text := range together {
			mistakes[text].spoil(&wrong)
		}

		w.placement(ctx, "p", wrong)

		for _, text := range together {
			w.expectMisconfigured(ctx, "p", "spec."+mistakes[text].words)
		}
	})

	It("A2: a name that cannot be a label gets its conditions, no page, and nothing loops", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 1)

		errors := w.activity(Default).Errors
		placement := w.placement(ctx, strings.Repeat("long", 16), spec{})

		Eventually(func(g Gomega) {
			g.Expect(w.read(ctx, g, placement.Name).Status.Conditions).To(HaveLen(2))
		}).WithContext(ctx).WithTimeout(settle).Should(Succeed())
		w.expectSilence(ctx)

		conditions := w.read(ctx, Default, placement.Name).Status.Conditions
		Expect(conditionText(conditions[0])).To(Equal(misconfigured))
		Expect(conditions[0].Message).To(And(HavePrefix("metadata.name: Invalid value: "), ContainSubstring("must be no more than 63")))
		Expect(conditionText(conditions[1])).To(Equal(nothingMatched))
		Expect(allPages(ctx, w)).To(BeEmpty())
		Expect(w.activity(Default).Errors).To(Equal(errors))
	})
})
