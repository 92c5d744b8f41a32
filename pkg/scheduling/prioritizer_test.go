// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/selector"
)

func builtIn(name string, weight int32) clusterv1beta1.PrioritizerConfig {
	return clusterv1beta1.PrioritizerConfig{
		ScoreCoordinate: &clusterv1beta1.ScoreCoordinate{Type: clusterv1beta1.ScoreCoordinateTypeBuiltIn, BuiltIn: name}, Weight: weight,
	}
}

func addOn(resource, score string, weight int32) clusterv1beta1.PrioritizerConfig {
	return clusterv1beta1.PrioritizerConfig{
		ScoreCoordinate: &clusterv1beta1.ScoreCoordinate{
			Type: clusterv1beta1.ScoreCoordinateTypeAddOn, AddOn: &clusterv1beta1.AddOnScore{ResourceName: resource, ScoreName: score},
		}, Weight: weight,
	}
}

func exact(configurations ...clusterv1beta1.PrioritizerConfig) clusterv1beta1.PrioritizerPolicy {
	return clusterv1beta1.PrioritizerPolicy{Mode: clusterv1beta1.PrioritizerPolicyModeExact, Configurations: configurations}
}

func additive(configurations ...clusterv1beta1.PrioritizerConfig) clusterv1beta1.PrioritizerPolicy {
	return clusterv1beta1.PrioritizerPolicy{Mode: clusterv1beta1.PrioritizerPolicyModeAdditive, Configurations: configurations}
}

// only returns the scores of a single prioritizer.
func only(t *testing.T, w *randomHub, configuration clusterv1beta1.PrioritizerConfig) (map[string]int64, *Result) {
	t.Helper()
	result := w.schedule(t, placementSpec{PrioritizerPolicy: exact(configuration)})
	if len(result.Prioritizers()) != 1 {
		t.Fatalf("got %d prioritizers, want 1", len(result.Prioritizers()))
	}
	return result.Prioritizers()[0].Scores, result
}

// docs/spec/upstream-placement.md 1.8: 2 x trunc(100 x (0.5 - count/max)), toward zero; a cluster without decisions has 100.
func TestBalance(t *testing.T) {
	for _, tc := range []struct {
		reason string
		counts map[string]int
		want   map[string]int64
	}{
		{"no decisions at all", nil, map[string]int64{"c1": 100, "c2": 100, "c3": 100}},
		{"1/3 and 2/3 of the most", map[string]int{"c1": 1, "c2": 2, "c3": 3}, map[string]int64{"c1": 32, "c2": -32, "c3": -100}},
		{"1/2", map[string]int{"c1": 1, "c2": 2}, map[string]int64{"c1": 0, "c2": -100, "c3": 100}},
		{"3/4", map[string]int{"c1": 3, "c2": 4}, map[string]int64{"c1": -50, "c2": -100, "c3": 100}},
		{"1/7 and 6/7", map[string]int{"c1": 1, "c2": 6, "c3": 7}, map[string]int64{"c1": 70, "c2": -70, "c3": -100}},
		{"everybody has the most", map[string]int{"c1": 2, "c2": 2, "c3": 2}, map[string]int64{"c1": -100, "c2": -100, "c3": -100}},
		{"the most may be elsewhere: any cluster counts, not only candidates", map[string]int{"c1": 1, "c2": 2, "gone": 4},
			map[string]int64{"c1": 50, "c2": 0, "c3": 100}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			w := newRandomHub(named("c1"), named("c2"), named("c3"))
			w.inventory.SetDecision(pageOf("ns", "p-decision-1", "p", "c1", "c1", "c1", "c1", "c1", "c2")) // Its own do not count.
			for cluster, count := range tc.counts {
				for i := range count {
					w.inventory.SetDecision(pageOf("ns"+strconv.Itoa(i), cluster, "p", cluster))
				}
			}
			scores, _ := only(t, w, builtIn(Balance, 1))
			expect(t, "scores", tc.want, scores)
		})
	}
}

func TestSteady(t *testing.T) {
	w := newRandomHub(named("c1"), named("c2"), named("c3"))
	w.incumbents = map[string]bool{"c2": true, "gone": true}
	scores, result := only(t, w, builtIn(Steady, 1))
	expect(t, "scores", map[string]int64{"c1": 0, "c2": 100, "c3": 0}, scores)
	expect(t, "order", []string{"c2", "c1", "c3"}, selected(result))
}

// Steady finds few incumbents of a large fleet by their names, and many by going over the clusters.
func TestSteadyInALargeFleet(t *testing.T) {
	const clusters = 4 * searches
	for _, incumbents := range []int{0, 1, 3, 4, 5, clusters} {
		w, want := newRandomHub(), map[string]int64{}
		w.incumbents = map[string]bool{}
		for i := range clusters {
			name := fmt.Sprintf("c%02d", i)
			w.inventory.SetCluster(named(name))
			want[name] = 0
		}
		for i := range incumbents {
			name := fmt.Sprintf("c%02d", clusters-1-i)
			w.incumbents[name], want[name] = i%2 == 0, 100
		}
		if incumbents < clusters { // One that does not exist counts for the way, and for nothing else.
			w.incumbents["gone"] = true
		}
		scores, _ := only(t, w, builtIn(Steady, 1))
		expect(t, fmt.Sprintf("scores with %d incumbents", incumbents), want, scores)
	}
}

// docs/spec/upstream-placement.md 1.8: int(((a-min)/(max-min) - 0.5) x 200) over the filtered clusters that report both allocatable and
// capacity.
func TestResourceAllocatable(t *testing.T) {
	const absent = ""
	for _, tc := range []struct {
		reason                string
		allocatable, capacity [3]string
		want                  map[string]int64
	}{
		{"spread over the range", [3]string{"10", "7", "9"}, [3]string{"10", "10", "10"}, map[string]int64{"c1": 100, "c2": -100, "c3": 33}},
		{"units do not matter", [3]string{"50Mi", "90Mi", "80Mi"}, [3]string{"1", "1", "1"}, map[string]int64{"c1": -100, "c2": 100, "c3": 50}},
		{"fractions are cut off toward zero", [3]string{"0", "1", "3"}, [3]string{"1", "1", "1"}, map[string]int64{"c1": -100, "c2": -33, "c3": 100}},
		{"milli units", [3]string{"500m", "1", "1500m"}, [3]string{"1", "1", "1"}, map[string]int64{"c1": -100, "c2": 0, "c3": 100}},
		{"all equal", [3]string{"4", "4", "4"}, [3]string{"8", "9", "10"}, map[string]int64{"c1": 100, "c2": 100, "c3": 100}},
		{"all zero", [3]string{"0", "0", "0"}, [3]string{"0", "0", "0"}, map[string]int64{"c1": 100, "c2": 100, "c3": 100}},
		{"zero is an amount", [3]string{"0", "4", "2"}, [3]string{"4", "4", "4"}, map[string]int64{"c1": -100, "c2": 100, "c3": 0}},
		{"no allocatable, no score, and not in the range", [3]string{absent, "4", "2"}, [3]string{"4", "4", "4"},
			map[string]int64{"c2": 100, "c3": -100}},
		{"no capacity, no score, and not in the range", [3]string{"0", "4", "2"}, [3]string{absent, "4", "4"},
			map[string]int64{"c2": 100, "c3": -100}},
		{"one reports", [3]string{absent, absent, "2"}, [3]string{"4", "4", "4"}, map[string]int64{"c3": 100}},
		{"none reports", [3]string{absent, absent, absent}, [3]string{absent, absent, absent}, map[string]int64{}},
	} {
		for name, kind := range map[string]clusterv1.ResourceName{ResourceAllocatableCPU: "cpu", ResourceAllocatableMemory: "memory"} {
			t.Run(tc.reason+"/"+name, func(t *testing.T) {
				w := newRandomHub()
				for i := range tc.allocatable {
					cluster := named("c" + strconv.Itoa(i+1))
					cluster.Status.Allocatable = clusterv1.ResourceList{"other": resource.MustParse("77")}
					cluster.Status.Capacity = clusterv1.ResourceList{"other": resource.MustParse(strconv.Itoa(i))}
					if tc.allocatable[i] != absent {
						cluster.Status.Allocatable[kind] = resource.MustParse(tc.allocatable[i])
					}
					if tc.capacity[i] != absent {
						cluster.Status.Capacity[kind] = resource.MustParse(tc.capacity[i])
					}
					w.inventory.SetCluster(cluster)
				}

				// A cluster that is filtered out is not in the range.
				rich := named("rich")
				rich.Spec.Taints = []clusterv1.Taint{taint("full", "", noSelect)}
				rich.Status.Allocatable = clusterv1.ResourceList{kind: resource.MustParse("1Ti")}
				rich.Status.Capacity = rich.Status.Allocatable
				w.inventory.SetCluster(rich)
				scores, result := only(t, w, builtIn(name, 1))
				expect(t, "scores", tc.want, scores)
				expect(t, "feasible", 3, result.Feasible())
			})
		}
	}
}

// docs/spec/upstream-placement.md 1.8 and docs/spec/differences.md C3: the reported value; absent or expired counts as 0; requeued after
// the earliest validUntil.
func TestAddOnScores(t *testing.T) {
	item := func(name string, value int32) clusterv1alpha1.AddOnPlacementScoreItem {
		return clusterv1alpha1.AddOnPlacementScoreItem{Name: name, Value: value}
	}
	until := func(d time.Duration) *metav1.Time { return &metav1.Time{Time: now.Add(d)} }
	for _, tc := range []struct {
		reason   string
		scores   []*clusterv1alpha1.AddOnPlacementScore
		want     map[string]int64
		order    []string
		wakeAt   time.Time
		warnings []Warning
	}{
		{"none", nil, map[string]int64{"c1": 0, "c2": 0, "c3": 0}, []string{"c1", "c2", "c3"}, time.Time{}, nil},
		{"all", []*clusterv1alpha1.AddOnPlacementScore{
			scoreOf("c1", "demo", nil, item("cpu", 80)), scoreOf("c2", "demo", nil, item("mem", 1), item("cpu", 90)), scoreOf("c3", "demo", nil,
				item("cpu", 100)),
		}, map[string]int64{"c1": 80, "c2": 90, "c3": 100}, []string{"c3", "c2", "c1"}, time.Time{}, nil},
		{"negative is worse than absent", []*clusterv1alpha1.AddOnPlacementScore{scoreOf("c1", "demo", nil, item("cpu", -100))},
			map[string]int64{"c1": -100, "c2": 0, "c3": 0}, []string{"c2", "c3", "c1"}, time.Time{}, nil},
		{"part: another object, another entry", []*clusterv1alpha1.AddOnPlacementScore{
			scoreOf("c1", "other", nil, item("cpu", 80)), scoreOf("c2", "demo", nil, item("mem", 90)), scoreOf("c3", "demo", nil, item("cpu", 1)),
		}, map[string]int64{"c1": 0, "c2": 0, "c3": 1}, []string{"c3", "c1", "c2"}, time.Time{}, nil},
		{"expired", []*clusterv1alpha1.AddOnPlacementScore{
			scoreOf("c1", "demo", until(-1), item("cpu", 80)), scoreOf("c2", "demo", until(time.Hour), item("cpu", 9)),
		}, map[string]int64{"c1": 0, "c2": 9, "c3": 0}, []string{"c2", "c1", "c3"}, now.Add(time.Hour + 1),
			[]Warning{{Source: "AddOn/demo/cpu", Message: "AddOnPlacementScores c1/demo expired"}}},
		{"valid to the very moment", []*clusterv1alpha1.AddOnPlacementScore{scoreOf("c2", "demo", until(0), item("cpu", 80))},
			map[string]int64{"c1": 0, "c2": 80, "c3": 0}, []string{"c2", "c1", "c3"}, now.Add(1), nil},
		{"the earliest expiry, whatever the score", []*clusterv1alpha1.AddOnPlacementScore{
			scoreOf("c1", "demo", until(time.Hour)), scoreOf("c2", "demo", until(time.Minute)), scoreOf("c3", "other", until(time.Second)),
		}, map[string]int64{"c1": 0, "c2": 0, "c3": 0}, []string{"c1", "c2", "c3"}, now.Add(time.Minute + 1), nil},
		{"all expired", []*clusterv1alpha1.AddOnPlacementScore{
			scoreOf("c3", "demo", until(-1), item("cpu", 80)), scoreOf("c1", "demo", until(-1), item("cpu", -80)),
		}, map[string]int64{"c1": 0, "c2": 0, "c3": 0}, []string{"c1", "c2", "c3"}, time.Time{}, []Warning{
			{Source: "AddOn/demo/cpu", Message: "AddOnPlacementScores c1/demo expired"},
			{Source: "AddOn/demo/cpu", Message: "AddOnPlacementScores c3/demo expired"},
		}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			w := newRandomHub(named("c1"), named("c2"), named("c3"))
			for _, score := range tc.scores {
				w.inventory.SetScores(score)
			}
			scores, result := only(t, w, addOn("demo", "cpu", 1))
			expect(t, "scores", tc.want, scores)
			expect(t, "order", tc.order, selected(result))
			expect(t, "wake-up", tc.wakeAt, result.RequeueAt)
			expect(t, "warnings", tc.warnings, result.Warnings())
		})
	}
}

// docs/spec/upstream-placement.md 1.1 and 1.8, docs/spec/differences.md C4.
func TestWeights(t *testing.T) {
	balanced, steady := Prioritizer{BuiltIn: Balance, Weight: 1}, Prioritizer{BuiltIn: Steady, Weight: 1}
	for _, tc := range []struct {
		reason string
		policy clusterv1beta1.PrioritizerPolicy
		want   []Prioritizer
	}{
		{"no policy is Additive: Balance and Steady", clusterv1beta1.PrioritizerPolicy{}, []Prioritizer{balanced, steady}},
		{"Additive", additive(), []Prioritizer{balanced, steady}},
		{"no mode is Additive", clusterv1beta1.PrioritizerPolicy{Configurations: []clusterv1beta1.PrioritizerConfig{builtIn(Steady, 3)}},
			[]Prioritizer{balanced, {BuiltIn: Steady, Weight: 3}}},
		{"Additive adds", additive(builtIn(ResourceAllocatableCPU, 2), addOn("demo", "cpu", -1)), []Prioritizer{
			balanced, steady, {BuiltIn: ResourceAllocatableCPU, Weight: 2}, {Resource: "demo", Score: "cpu", Weight: -1},
		}},
		{"weight 0 switches a default off", additive(builtIn(Balance, 0)), []Prioritizer{steady}},
		{"Exact is what is listed", exact(addOn("demo", "cpu", 1), builtIn(Steady, -10)), []Prioritizer{
			{Resource: "demo", Score: "cpu", Weight: 1}, {BuiltIn: Steady, Weight: -10},
		}},
		{"Exact with nothing listed", exact(), []Prioritizer{}},
		{"Exact with weight 0", exact(builtIn(Balance, 0), addOn("demo", "cpu", 0)), []Prioritizer{}},
		{"C4: of two for one built-in coordinate the last wins", exact(builtIn(Steady, 1), builtIn(Balance, 2), builtIn(Steady, 3)),
			[]Prioritizer{
				{BuiltIn: Steady, Weight: 3}, {BuiltIn: Balance, Weight: 2},
			}},
		{"C4: and of two for one AddOn coordinate", exact(addOn("demo", "cpu", 1), addOn("demo", "mem", 1), addOn("demo", "cpu", 5)),
			[]Prioritizer{
				{Resource: "demo", Score: "cpu", Weight: 5}, {Resource: "demo", Score: "mem", Weight: 1},
			}},
		{"a last one of weight 0 switches off what came before", exact(addOn("demo", "cpu", 4), addOn("demo", "cpu", 0)), []Prioritizer{}},
		{"coordinates are told apart by their parts", exact(addOn("a/b", "c", 1), addOn("a", "b/c", 2)), []Prioritizer{
			{Resource: "a/b", Score: "c", Weight: 1}, {Resource: "a", Score: "b/c", Weight: 2},
		}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			request := ConvertV1beta1(selector.NewCompiler(), placementOf(placementSpec{PrioritizerPolicy: tc.policy}))
			if len(request.Errors) > 0 {
				t.Fatal(request.Errors.ToAggregate())
			}
			got := request.Prioritizers
			if got == nil {
				got = []Prioritizer{}
			}
			expect(t, "prioritizers", tc.want, got)
		})
	}
}

// docs/spec/upstream-placement.md 1.8: an incumbent is dropped for an unused newcomer under the default weights, and kept with Steady at 3.
func TestTotals(t *testing.T) {
	w := newRandomHub(named("c1"), named("c2"))
	w.incumbents["c2"] = true
	w.inventory.SetDecision(pageOf("other", "q-decision-1", "q", "c2"))
	for _, tc := range []struct {
		reason string
		policy clusterv1beta1.PrioritizerPolicy
		want   []string
		scores []int64
	}{
		{"default weights: -100 + 100 against 100 + 0", additive(), []string{"c1", "c2"}, []int64{100, 0}},
		{"Steady 3: -100 + 300 against 100", additive(builtIn(Steady, 3)), []string{"c2", "c1"}, []int64{200, 100}},
		{"a negative weight prefers low scores", exact(builtIn(Balance, -2)), []string{"c2", "c1"}, []int64{200, -200}},
		{"nothing listed: by name", exact(), []string{"c1", "c2"}, []int64{0, 0}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			result := w.schedule(t, placementSpec{NumberOfClusters: ptr.To(int32(2)), PrioritizerPolicy: tc.policy})
			expect(t, "selected", tc.want, selected(result))
			expect(t, "scores", tc.scores, []int64{result.Best()[0].Score, result.Best()[1].Score})
		})
	}
}
