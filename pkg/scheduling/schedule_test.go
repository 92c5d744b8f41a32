// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/selector"
)

func TestPredicates(t *testing.T) {
	const arn = "arn:aws:eks:eu-west-1:123456789012:cluster/a-name-that-is-longer-than-sixty-three-characters"
	eu, us, none := named("eu", "region", "eu"), named("us", "region", "us"), named("none")
	eu.Status.ClusterClaims = []clusterv1.ManagedClusterClaim{{Name: "id", Value: arn}, {Name: "url", Value: "https://eu.example.com:6443/?a=b"}}
	us.Status.ClusterClaims = []clusterv1.ManagedClusterClaim{{Name: "id", Value: "x"}}
	w := newRandomHub(eu, us, none)
	w.inventory.SetScores(scoreOf("us", "demo", nil, clusterv1alpha1.AddOnPlacementScoreItem{Name: "cpu", Value: 90}))

	labels := func(requirements ...metav1.LabelSelectorRequirement) clusterv1beta1.ClusterPredicate {
		return require(clusterv1beta1.ClusterSelector{LabelSelector: metav1.LabelSelector{MatchExpressions: requirements}})
	}
	both := byLabel("region", "eu")
	both.RequiredClusterSelector.ClaimSelector = byClaim(compare("id", metav1.LabelSelectorOpIn, arn)).RequiredClusterSelector.ClaimSelector
	combined := both
	combined.RequiredClusterSelector.CelSelector.CelExpressions = []string{`managedCluster.metadata.name == "us"`}
	for _, tc := range []struct {
		reason     string
		predicates anyOf
		want       []string
	}{
		{"1.1: none is every cluster", nil, []string{"eu", "none", "us"}},
		{"1.1: an empty one is every cluster", anyOf{{}}, []string{"eu", "none", "us"}},
		{"label", anyOf{byLabel("region", "eu")}, []string{"eu"}},
		{"label of nobody", anyOf{byLabel("region", "ap")}, []string{}},
		{"labels NotIn takes those without", anyOf{labels(compare("region", metav1.LabelSelectorOpNotIn, "eu"))},
			[]string{"none", "us"}},
		{"labels DoesNotExist takes those without", anyOf{labels(compare("region", metav1.LabelSelectorOpDoesNotExist))},
			[]string{"none"}},
		{"C1: a long ARN", anyOf{byClaim(compare("id", metav1.LabelSelectorOpIn, arn))}, []string{"eu"}},
		{"C1: a URL", anyOf{byClaim(compare("url", metav1.LabelSelectorOpIn, "https://eu.example.com:6443/?a=b"))},
			[]string{"eu"}},
		{"claims NotIn takes those without", anyOf{byClaim(compare("id", metav1.LabelSelectorOpNotIn, arn))},
			[]string{"none", "us"}},
		{"claims DoesNotExist takes those without", anyOf{byClaim(compare("url", metav1.LabelSelectorOpDoesNotExist))},
			[]string{"none", "us"}},
		{"1.1: label and claim in one are ANDed", anyOf{both}, []string{"eu"}},
		{"label, claim and CEL in one are ANDed", anyOf{combined}, []string{}},
		{"1.1: several are ORed", anyOf{byLabel("region", "ap"), byLabel("region", "us"), both}, []string{"eu", "us"}},
		{"CEL on labels", anyOf{byCEL(`managedCluster.metadata.?labels["region"].orValue("") == "us"`)}, []string{"us"}},
		{"CEL on claims", anyOf{byCEL(`managedCluster.status.clusterClaims.exists(c, c.name == "url")`)}, []string{"eu"}},
		{"CEL on scores", anyOf{byCEL(`managedCluster.scores("demo").exists(s, s.name == "cpu" && s.value > 80)`)}, []string{"us"}},
		{"several expressions are ANDed", anyOf{byCEL(`managedCluster.metadata.name != "us"`, `managedCluster.metadata.name < "f"`)},
			[]string{"eu"}},
		{"CEL that holds for all", anyOf{byCEL("true")}, []string{"eu", "none", "us"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			expect(t, "selected", tc.want, selected(w.schedule(t, placementSpec{Predicates: tc.predicates})))
		})
	}
}

// docs/spec/differences.md C2: a cluster with an error does not match, and errors are summarised by expression: the number of clusters, and
// the first of them by name.
func TestCELErrors(t *testing.T) {
	w := newRandomHub(named("c3"), named("c1"), named("c2", "region", "eu"))
	result := w.schedule(t, placementSpec{Predicates: anyOf{
		byCEL("true", `managedCluster.metadata.labels["region"] == "eu"`), byCEL(`managedCluster.scores("none").size() == 0`),
	}})
	expect(t, "selected", []string{"c2"}, selected(result))
	got := make([]string, 0, len(result.EvaluationErrors))
	for _, failed := range result.EvaluationErrors {
		got = append(got, fmt.Sprintf("%s on %d, first %s: %v", failed.Path, failed.Clusters, failed.First, failed.Err))
	}

	expect(t, "errors", []string{
		"spec.predicates[0].requiredClusterSelector.celSelector.celExpressions[1] on 2, first c1: no such key: labels",
		`spec.predicates[1].requiredClusterSelector.celSelector.celExpressions[0] on 2, first c1: ` +
			`AddOnPlacementScore "none" of cluster c1 does not exist`,
	}, got)
	verdict, known := result.Verdict("c1")
	expect(t, "known", true, known)
	expect(t, "reason", `predicate 1 CEL managedCluster.metadata.labels["region"] == "eu": no such key: labels; predicate 2 `+
		`CEL managedCluster.scores("none").size() == 0: AddOnPlacementScore "none" of cluster c1 does not exist`, result.Reason(verdict))
}

// docs/spec/differences.md C2: the cost limit of an evaluation. Expressions that cost too much for many clusters may be evaluated on few,
// and a result that exceeds the limit keeps the decisions.
func TestCELBudgetOfAPass(t *testing.T) {
	for _, tc := range []struct {
		reason   string
		clusters int
		held     bool
	}{
		{"few", 3, false},
		{"as many as a predicate may be evaluated on", 9, false},
		{"two more", 11, true},
		{"many", 70, true},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			// To look for a text in a very long one twelve times costs 800,000 of the 1,000,000 that one evaluation may cost.
			const expression = `[1,2,3,4,5,6,7,8,9,10,11,12].all(i, managedCluster.metadata.annotations.long.indexOf("aaaaaaab") < 0)`
			long := strings.Repeat("a", 100_000)
			w := newRandomHub()
			for i := range tc.clusters {
				cluster := named(fmt.Sprintf("c%03d", i))
				cluster.Annotations = map[string]string{"long": long}
				w.inventory.SetCluster(cluster)
			}
			result := w.schedule(t, placementSpec{Predicates: anyOf{byCEL(expression)}})
			expect(t, "held", tc.held, result.Outcome() != Decided)

			if !tc.held {
				expect(t, "selected", tc.clusters, len(result.Selected))
				return
			}
			expect(t, "selected", 0, len(result.Selected))
			expect(t, "mistakes", "spec.predicates: Forbidden: the CEL expressions cost more than an evaluation over all clusters may cost, "+
				"8000000 for a predicate and 40000000 for all of them: narrow the clusters by labelSelector, claimSelector or clusterSets first, or "+
				"make the expressions cheaper",
				result.Errors.ToAggregate().Error())
		})
	}
}

// docs/spec/upstream-placement.md 1.5: terminating clusters are not available, clusters of overlapping sets count once, and broken sets
// stall the result.
func TestScopeOfSchedule(t *testing.T) {
	a, b, both, gone := named("a", clusterv1beta2.ClusterSetLabel, "a"), named("b", clusterv1beta2.ClusterSetLabel, "b"),
		named("both", clusterv1beta2.ClusterSetLabel, "a", "region", "eu"), named("gone", clusterv1beta2.ClusterSetLabel, "a")
	gone.DeletionTimestamp = &metav1.Time{Time: now}

	everything := func() *randomHub {
		w := newRandomHub(a, b, both, gone)
		w.inventory.DeleteBinding("ns", "all")
		w.inventory.SetClusterSet(setOf("a", "", nil))
		w.inventory.SetClusterSet(setOf("b", clusterv1beta2.ExclusiveClusterSetLabel, nil))
		w.inventory.SetClusterSet(setOf("eu", clusterv1beta2.LabelSelector, &metav1.LabelSelector{MatchLabels: map[string]string{"region": "eu"}}))
		w.inventory.SetClusterSet(setOf("broken", "Nonsense", nil))
		for _, set := range []string{"a", "b", "eu"} {
			w.inventory.SetBinding(bindingOf("ns", set))
		}
		return w
	}

	for _, tc := range []struct {
		reason          string
		change          func(*randomHub)
		sets            []string
		want            map[string]string
		bound, eligible []string
		available       int
		broken          []string
	}{
		{"all that is bound; in two sets counts once; terminating is out", func(*randomHub) {}, nil,
			map[string]string{"a": "Selected", "b": "Selected", "both": "Selected", "gone": "Terminating"},
			[]string{"a", "b", "eu"}, []string{"a", "b", "eu"}, 3, nil},
		{"what is asked for", func(*randomHub) {}, []string{"eu"},
			map[string]string{"a": "OutOfScope", "b": "OutOfScope", "both": "Selected", "gone": "OutOfScope"}, []string{"a", "b",
				"eu"}, []string{"eu"}, 1, nil},
		{"no intersection", func(*randomHub) {}, []string{"all"},
			map[string]string{"a": "OutOfScope", "b": "OutOfScope", "both": "OutOfScope", "gone": "OutOfScope"}, []string{"a", "b",
				"eu"}, nil, 0, nil},
		{"a set is removed", func(w *randomHub) { w.inventory.DeleteClusterSet("a") }, nil,
			map[string]string{"a": "OutOfScope", "b": "Selected", "both": "Selected", "gone": "OutOfScope"}, []string{"b", "eu"}, []string{"b",
				"eu"}, 2, nil},
		{"all sets are empty", func(w *randomHub) { w.inventory.SetClusterSet(setOf("b", clusterv1beta2.LabelSelector, nil)) }, []string{"b"},
			map[string]string{"a": "OutOfScope", "b": "OutOfScope", "both": "OutOfScope", "gone": "OutOfScope"}, []string{"a", "b",
				"eu"}, []string{"b"}, 0, nil},
		{"everything", func(w *randomHub) { w.inventory.SetBinding(bindingOf("ns", "all")) }, []string{"all"},
			map[string]string{"a": "Selected", "b": "Selected", "both": "Selected", "gone": "Terminating"}, []string{"a", "all", "b",
				"eu"}, []string{"all"}, 3, nil},
		{"A4: a broken set that is used", func(w *randomHub) { w.inventory.SetBinding(bindingOf("ns", "broken")) }, nil,
			map[string]string{}, []string{"a", "b", "broken", "eu"}, []string{"a", "b", "broken", "eu"}, 0, []string{"broken"}},
		{"A4: a broken set that is not used", func(w *randomHub) { w.inventory.SetBinding(bindingOf("ns", "broken")) }, []string{"b"},
			map[string]string{"a": "OutOfScope", "b": "Selected", "both": "OutOfScope", "gone": "OutOfScope"}, []string{"a", "b", "broken",
				"eu"}, []string{"b"}, 1, nil},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			w := everything()
			tc.change(w)
			result := w.schedule(t, placementSpec{ClusterSets: tc.sets})
			var broken []string
			for _, set := range result.BrokenSets {
				broken = append(broken, set.Name)
			}

			var inScope, wantScope []string
			for info := range result.InScope() {
				inScope = append(inScope, info.Name)
			}
			for _, name := range slices.Sorted(maps.Keys(tc.want)) {
				if tc.want[name] != "OutOfScope" {
					wantScope = append(wantScope, name)
				}
			}

			expect(t, "stages", tc.want, stages(result))
			expect(t, "in scope", wantScope, inScope)
			expect(t, "bound", tc.bound, result.Bound)
			expect(t, "eligible", tc.eligible, result.Eligible)
			expect(t, "available", tc.available, result.Available)
			expect(t, "broken", tc.broken, broken)
			expect(t, "held", len(tc.broken) > 0, result.Outcome() != Decided)
		})
	}
}

// docs/spec/upstream-placement.md 1.5: score descending, name ascending; the first numberOfClusters, or all.
func TestSelection(t *testing.T) {
	for _, tc := range []struct {
		reason      string
		wanted      *int32
		want        []string
		unscheduled int
	}{
		{"nil is all", nil, []string{"c9", "c1", "c10", "c2"}, 0},
		{"0 is none", ptr.To(int32(0)), []string{}, 0},
		{"less: ties by name", ptr.To(int32(3)), []string{"c9", "c1", "c10"}, 0},
		{"as many as there are", ptr.To(int32(4)), []string{"c9", "c1", "c10", "c2"}, 0},
		{"more", ptr.To(int32(10)), []string{"c9", "c1", "c10", "c2"}, 6},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			w := newRandomHub(named("c9"), named("c2"), named("c10"), named("c1"))
			w.incumbents["c9"] = true
			result := w.schedule(t, placementSpec{NumberOfClusters: tc.wanted})
			expect(t, "selected", tc.want, selected(result))
			expect(t, "unscheduled", tc.unscheduled, result.Unscheduled)
			expect(t, "feasible", 4, result.Feasible())
			expect(t, "wake-up", time.Time{}, result.RequeueAt)
			expect(t, "generation", w.inventory.Snapshot().Generation, result.Generation)
		})
	}
}

// docs/spec/differences.md E1: every cluster has a verdict and its exact reason.
func TestReasons(t *testing.T) {
	w := newRandomHub(named("a"), named("b"), named("c"), named("tainted"), named("us", "region", "us"), named("out"), named("gone"))
	w.inventory.SetClusterSet(setOf("all", clusterv1beta2.LabelSelector, &metav1.LabelSelector{MatchExpressions: requirements{
		compare("out", metav1.LabelSelectorOpDoesNotExist),
	}}))
	w.inventory.SetCluster(named("out", "out", ""))
	tainted, gone := named("tainted"), named("gone")
	tainted.Spec.Taints = []clusterv1.Taint{taint("gpu", "a100", noSelect)}
	gone.DeletionTimestamp = &metav1.Time{Time: now}

	w.inventory.SetCluster(tainted)
	w.inventory.SetCluster(gone)
	w.inventory.SetScores(scoreOf("c", "demo", nil, clusterv1alpha1.AddOnPlacementScoreItem{Name: "x", Value: 14}))
	w.inventory.SetScores(scoreOf("b", "demo", nil, clusterv1alpha1.AddOnPlacementScoreItem{Name: "x", Value: -3}))

	spec := placementSpec{
		NumberOfClusters: ptr.To(int32(1)), PrioritizerPolicy: exact(addOn("demo", "x", 1)),
		Predicates: anyOf{require(clusterv1beta1.ClusterSelector{LabelSelector: metav1.LabelSelector{
			MatchExpressions: requirements{compare("region", metav1.LabelSelectorOpNotIn, "us", "ap")},
		}})},
	}
	reasons := func(r *Result) map[string]string {
		all := map[string]string{}
		for _, verdict := range r.Verdicts() {
			all[verdict.Cluster.Name] = verdict.Stage.String() + ": " + r.Reason(verdict)
		}
		return all
	}

	expect(t, "reasons", map[string]string{
		"a":       "Rank: rank 2 of 3, 1 wanted, 14 points below c, no score, counted as 0",
		"b":       "Rank: rank 3 of 3, 1 wanted, 17 points below c",
		"c":       "Selected: score 14, rank 1 of 3",
		"gone":    "Terminating: is being deleted",
		"out":     "OutOfScope: not in a bound set",
		"tainted": "Taint: taint gpu=a100:NoSelect not tolerated",
		"us":      "Predicate: predicate 1 label region NotIn [ap us]: is us",
	}, reasons(w.schedule(t, spec)))

	spec.PrioritizerPolicy = exact()
	b, known := w.schedule(t, spec).Verdict("b")
	expect(t, "known", true, known)
	expect(t, "a tie", "rank 2 of 3, 1 wanted, as many points as a, which comes first by name", w.schedule(t, spec).Reason(b))
	spec.NumberOfClusters = ptr.To(int32(0))
	expect(t, "none wanted", "Rank: rank 2 of 3, 0 wanted", reasons(w.schedule(t, spec))["b"])
	spec.ClusterSets = []string{"all", "more"}
	expect(t, "named sets", "OutOfScope: not in all", reasons(w.schedule(t, spec))["out"])
	spec.ClusterSets = []string{"more"}
	expect(t, "no intersection", "OutOfScope: none of the cluster sets asked for is bound to the namespace", reasons(w.schedule(t, spec))["a"])

	w.inventory.DeleteBinding("ns", "all")
	expect(t, "no binding", "OutOfScope: no cluster set is bound to the namespace", reasons(w.schedule(t, spec))["a"])
	_, known = w.scheduleRequest(t, ConvertV1beta1(selector.NewCompiler(), placementOf(spec))).Verdict("nobody")
	expect(t, "an unknown cluster", false, known)
}

// TestSatisfied checks which results have as many clusters as the Placement wants.
func TestSatisfied(t *testing.T) {
	eu := anyOf{byLabel("region", "eu")}
	for _, tc := range []struct {
		reason       string
		spec         placementSpec
		noneIsEnough bool
		want         bool
	}{
		{"as many as are wanted", placementSpec{NumberOfClusters: ptr.To[int32](2)}, false, true},
		{"fewer than are wanted", placementSpec{NumberOfClusters: ptr.To[int32](3)}, true, false},
		{"all that match", placementSpec{}, false, true},
		{"none matches", placementSpec{Predicates: eu}, false, false},
		{"none matches, which is enough", placementSpec{Predicates: eu}, true, true},
		{"none is in scope", placementSpec{ClusterSets: []string{"other"}}, true, false},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			request := ConvertV1beta1(selector.NewCompiler(), placementOf(tc.spec))
			request.NoneIsEnough = tc.noneIsEnough
			expect(t, "satisfied", tc.want, newRandomHub(named("c1"), named("c2")).scheduleRequest(t, request).Satisfied())
		})
	}
}

// TestComparesAll checks which Requests depend on the order of the clusters, for which of them clusters that are not selected matter, and which
// depend on the decisions of other Placements.
func TestComparesAll(t *testing.T) {
	one, cpu := ptr.To[int32](1), exact(builtIn(ResourceAllocatableCPU, 1))
	evenly := over(clusterv1beta1.TopologyKeyTypeLabel, "zone", 1, clusterv1beta1.ScheduleAnyway)
	lower := func(spec placementSpec) *Request { return ConvertV1beta1(selector.NewCompiler(), placementOf(spec)) }
	for _, tc := range []struct {
		reason                          string
		request                         *Request
		ranks, compares, readsDecisions bool
	}{
		{"all that match", lower(placementSpec{}), false, false, false},
		{"all that match, with relative scores", lower(placementSpec{PrioritizerPolicy: cpu}), false, false, false},
		{"the best", lower(placementSpec{NumberOfClusters: one}), true, false, true},
		{"the best by relative scores", lower(placementSpec{NumberOfClusters: one, PrioritizerPolicy: cpu}), true, true, false},
		{"all, sorted by score", lower(placementSpec{SortBy: clusterv1beta1.PlacementSortByScore}), true, false, true},
		{"anti-affinity", apart(nil, byZone), true, true, false},
		{"spread constraints", apart(nil, nil, evenly), true, true, false},
		{"spread constraints and the decisions in domains", lower(placementSpec{
			PrioritizerPolicy: exact(builtIn(SpreadScore, 1)), SpreadPolicy: clusterv1beta1.SpreadPolicy{
				SpreadConstraints: []clusterv1beta1.SpreadConstraintsTerm{evenly},
			},
		}), true, true, true},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			expect(t, "ranks", tc.ranks, tc.request.Ranks())
			expect(t, "compares all", tc.compares, tc.request.ComparesAll())
			expect(t, "reads decisions", tc.readsDecisions, tc.request.ReadsDecisions())
		})
	}
}
