// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/selector"
	"github.com/placement-hub/placement-hub/test/property"
)

var (
	byZone = &clusterinfo.Property{Kind: clusterinfo.Label, Name: "zone"}
	byRack = &clusterinfo.Property{Kind: clusterinfo.Claim, Name: "rack"}
)

// apart returns a Request with an anti-affinity key and spread constraints, without prioritizers.
func apart(wanted *int32, key *clusterinfo.Property, constraints ...clusterv1beta1.SpreadConstraintsTerm) *Request {
	request := ConvertV1beta1(selector.NewCompiler(), placementOf(placementSpec{
		NumberOfClusters: wanted, PrioritizerPolicy: exact(), SpreadPolicy: clusterv1beta1.SpreadPolicy{SpreadConstraints: constraints},
	}))
	request.AntiAffinity = key
	return request
}

// docs/spec/placement-v1alpha1.md P7, by example; the reasons are those of docs/spec/differences.md E1.
func TestAntiAffinity(t *testing.T) {
	const (
		noZone  = "AntiAffinity: has no label zone, which must differ between the selected clusters"
		takenA1 = "AntiAffinity: label zone=a is taken by a1, rank 1"
	)
	w := newRandomHub(located("a1", "a", "x"), located("a2", "a", "y"), located("b1", "b", "x"), located("b2", "b", ""), located("c1", "c", "z"),
		located("n1", "", "y"))

	for _, tc := range []struct {
		reason      string
		request     *Request
		want        []string
		unscheduled int
		reasons     map[string]string
	}{
		{"without a key the names decide", apart(ptr.To[int32](2), nil), []string{"a1", "a2"}, 0, nil},
		{"all: one of each value", apart(nil, byZone), []string{"a1", "b1", "c1"}, 0, map[string]string{
			"a2": takenA1, "b2": "AntiAffinity: label zone=b is taken by b1, rank 3", "n1": noZone, "c1": "Selected: score 0, rank 5 of 6",
		}},
		{"as many as there are values", apart(ptr.To[int32](3), byZone), []string{"a1", "b1", "c1"}, 0, map[string]string{"a2": takenA1}},
		{"more than there are values", apart(ptr.To[int32](5), byZone), []string{"a1", "b1", "c1"}, 2, map[string]string{
			"a2": takenA1, "n1": noZone,
		}},
		{"fewer: who could not be taken beside the others says so, who was not needed gives its rank", apart(ptr.To[int32](2), byZone),
			[]string{"a1", "b1"}, 0, map[string]string{
				"a2": takenA1, "b2": "AntiAffinity: label zone=b is taken by b1, rank 3", "n1": noZone,
				"c1": "Rank: rank 5 of 6, 2 wanted, as many points as b1, which comes first by name",
			}},
		{"nobody of the value was needed", apart(ptr.To[int32](1), byZone), []string{"a1"}, 0, map[string]string{
			"a2": takenA1, "b2": "Rank: rank 4 of 6, 1 wanted, as many points as a1, which comes first by name",
		}},
		{"none wanted", apart(ptr.To[int32](0), byZone), []string{}, 0, map[string]string{
			"a1": "Rank: rank 1 of 6, 0 wanted", "a2": "Rank: rank 2 of 6, 0 wanted", "n1": noZone,
		}},
		{"claims", apart(nil, byRack), []string{"a1", "a2", "c1"}, 0, map[string]string{
			"b1": "AntiAffinity: claim rack=x is taken by a1, rank 1", "n1": "AntiAffinity: claim rack=y is taken by a2, rank 2",
			"b2": "AntiAffinity: has no claim rack, which must differ between the selected clusters",
		}},
		{"a key that nobody has", apart(ptr.To[int32](1), &clusterinfo.Property{Kind: clusterinfo.Label, Name: "planet"}), []string{}, 1, nil},
		{"spreading sees the best of each value: racks x of a1 and b1, z of c1",
			apart(ptr.To[int32](2), byZone, softly(clusterv1beta1.TopologyKeyTypeClaim, "rack")), []string{"a1", "c1"}, 0, map[string]string{
				"a2": takenA1, "b1": "Rank: rank 3 of 6, 2 wanted, the spread constraints prefer the domains of c1",
				"b2": "Rank: rank 4 of 6, 2 wanted, the spread constraints prefer the domains of c1",
			}},
		{"the domains of a constraint are those of the clusters that anti-affinity leaves: zone b is none",
			apart(nil, byRack, over(clusterv1beta1.TopologyKeyTypeLabel, "zone", 1, clusterv1beta1.DoNotSchedule)),
			[]string{"a1", "c1", "a2"}, 0, map[string]string{"b1": "AntiAffinity: claim rack=x is taken by a1, rank 1"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			result := w.scheduleRequest(t, tc.request)
			expect(t, "selected", tc.want, selected(result))
			expect(t, "unscheduled", tc.unscheduled, result.Unscheduled)
			expect(t, "feasible", 6, result.Feasible())
			for cluster, want := range tc.reasons {
				verdict, _ := result.Verdict(cluster)
				expect(t, cluster, want, verdict.Stage.String()+": "+result.Reason(verdict))
			}
		})
	}
}

// Anti-affinity comes before spreading: when a hard constraint forbids the best cluster of a value, no other cluster of the value is
// selected.
func TestAntiAffinityBeforeSpread(t *testing.T) {
	// Of rack z the best is a3, in the zone that a1 and a2 have filled; c2 of rack z would have done.
	w := newRandomHub(located("a1", "a", "x"), located("a2", "a", "y"), located("a3", "a", "z"), located("b1", "b", "w"), located("c2", "c", "z"))
	result := w.scheduleRequest(t, apart(nil, byRack, over(clusterv1beta1.TopologyKeyTypeLabel, "zone", 1, clusterv1beta1.DoNotSchedule)))
	expect(t, "selected", []string{"a1", "b1", "a2"}, selected(result))
	expect(t, "the domains are those of the clusters that went on", []Spread{{
		Constraint: SpreadConstraint{Key: *byZone, MaxSkew: 1, Hard: true}, Selected: map[string]int{"a": 2, "b": 1},
	}}, result.Spreads)

	for cluster, want := range map[string]string{
		"a3": "Spread: label zone a is full: it has 2 selected clusters, b has 1, and 1 more are allowed",
		"c2": "AntiAffinity: claim rack=z is left to a cluster that is not selected either: a3, rank 3",
	} {
		verdict, _ := result.Verdict(cluster)
		expect(t, cluster, want, verdict.Stage.String()+": "+result.Reason(verdict))
	}
}

// docs/spec/placement-v1alpha1.md P11: among the clusters of a value the best ranked cluster is selected, by default the incumbent.
func TestAntiAffinityKeepsIncumbents(t *testing.T) {
	w := newRandomHub(located("a1", "a", ""), located("a2", "a", ""), located("b1", "b", ""), located("b2", "b", ""))
	w.incumbents = map[string]bool{"a2": true, "b1": true}
	request := ConvertV1beta1(selector.NewCompiler(), placementOf(placementSpec{}))
	request.AntiAffinity = byZone
	expect(t, "selected", []string{"a2", "b1"}, selected(w.scheduleRequest(t, request)))
	verdict, _ := w.scheduleRequest(t, request).Verdict("a1")
	expect(t, "a1", "label zone=a is taken by a2, rank 1", w.scheduleRequest(t, request).Reason(verdict))

	tainted := located("a2", "a", "")
	tainted.Spec.Taints = []clusterv1.Taint{taint("old", "", prefer)}
	w.inventory.SetCluster(tainted)
	expect(t, "D1: it goes before the score", []string{"b1", "a1"}, selected(w.scheduleRequest(t, request)))
}

func TestAntiAffinityTakesTheEmptyValueForAValue(t *testing.T) {
	w := newRandomHub(named("e1", "zone", ""), named("e2", "zone", ""), named("n1"))
	result := w.scheduleRequest(t, apart(nil, byZone))
	expect(t, "selected", []string{"e1"}, selected(result))
	verdict, _ := result.Verdict("e2")
	expect(t, "e2", "label zone= is taken by e1, rank 1", result.Reason(verdict))
}

// docs/spec/placement-v1alpha1.md P7, P11: all values differ, the number of clusters is the highest possible, each selected cluster is the
// best ranked of its value, and no other selection of the same size has better ranks. The order of the events does not matter.
func TestAntiAffinityIsTheRule(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		clusters := []*clusterv1.ManagedCluster{}
		incumbents := map[string]bool{}
		for i := range rapid.IntRange(0, 8).Draw(t, "clusters") {
			clusters = append(clusters, located(fmt.Sprintf("c%d", i), pick(t, "zone", "", "a", "b", "c"), pick(t, "rack", "", "x", "y")))
			incumbents[clusters[i].Name] = rapid.Bool().Draw(t, "incumbent")
		}
		request := ConvertV1beta1(selector.NewCompiler(), placementOf(placementSpec{}))
		request.AntiAffinity = rapid.SampledFrom([]*clusterinfo.Property{byZone, byRack}).Draw(t, "key")

		if rapid.Bool().Draw(t, "limited") {
			request.Wanted = ptr.To(rapid.Int32Range(0, 5).Draw(t, "wanted"))
		}
		result := Schedule(request, newRandomHub(clusters...).inventory.Snapshot(), incumbents, now)

		got := []int{}
		for _, verdict := range result.Best() {
			got = append(got, verdict.Rank)
		}
		if want := bestApart(result.ranked, *request.AntiAffinity, request.Wanted); !slices.Equal(want, got) {
			t.Fatalf("the clusters of the ranks %v are selected, the best are %v", got, want)
		}
		checkApart(t, result)

		rand.New(rand.NewPCG(1, rapid.Uint64().Draw(t, "seed"))).Shuffle(len(clusters), func(i, j int) {
			clusters[i], clusters[j] = clusters[j], clusters[i]
		})
		again := Schedule(request, newRandomHub(clusters...).inventory.Snapshot(), incumbents, now)
		if was, is := writtenParts(result), writtenParts(again); was != is {
			t.Fatalf("it was\n%s\nand in another order it is\n%s", was, is)
		}
	})
}

// checkApart checks every verdict against its definition.
func checkApart(t *rapid.T, result *Result) {
	key := *result.Request.AntiAffinity
	holders := map[string]string{}
	for _, verdict := range result.Best() {
		value, found := verdict.Cluster.Value(key)
		if !found || holders[value] != "" {
			t.Fatalf("%s is selected with the value %q (%v), as is %s", verdict.Cluster.Name, value, found, holders[value])
		}
		holders[value] = verdict.Cluster.Name
	}

	for _, verdict := range result.Verdicts() {
		value, found := verdict.Cluster.Value(key)

		want := StageRank
		if !found || holders[value] != "" {
			want = StageAntiAffinity
		}
		if holders[value] == verdict.Cluster.Name {
			want = StageSelected
		}
		if verdict.Stage != want || result.Reason(verdict) == "" {
			t.Fatalf("%s came to %s, not %s: %s", verdict.Cluster.Name, verdict.Stage, want, result.Reason(verdict))
		}
	}
}

// bestApart tries every set of the ranked clusters: of the sets without equal values, the largest up to the wanted number, and of those the
// set with the lexicographically smallest ranks.
func bestApart(ranked []Verdict, key clusterinfo.Property, wanted *int32) []int {
	best := []int{}
	for set := range 1 << len(ranked) {
		ranks, values := []int{}, map[string]bool{}
		for i, verdict := range ranked {
			if set&(1<<i) == 0 {
				continue
			}
			if value, found := verdict.Cluster.Value(key); found {
				values[value] = true
			}
			ranks = append(ranks, verdict.Rank)
		}

		if len(values) < len(ranks) || wanted != nil && len(ranks) > int(*wanted) {
			continue
		}
		if len(ranks) > len(best) || len(ranks) == len(best) && slices.Compare(ranks, best) < 0 {
			best = ranks
		}
	}

	return best
}
