// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/test/property"
)

func softly(kind clusterv1beta1.TopologyKeyType, key string) clusterv1beta1.SpreadConstraintsTerm {
	return over(kind, key, 1, clusterv1beta1.ScheduleAnyway)
}

// docs/spec/differences.md D3: linear over [-100, 100] in the decisions of the other Placements of the namespace in the domains of a
// cluster.
func TestSpreadScore(t *testing.T) {
	zone, rack := softly(clusterv1beta1.TopologyKeyTypeLabel, "zone"), softly(clusterv1beta1.TopologyKeyTypeClaim, "rack")
	hard := over(clusterv1beta1.TopologyKeyTypeLabel, "zone", 3, clusterv1beta1.DoNotSchedule)
	older := inventory.NewPlacementKey(inventory.V1alpha1, "ns", "p")
	for _, tc := range []struct {
		reason      string
		constraints []clusterv1beta1.SpreadConstraintsTerm
		pages       []inventory.Page
		want        map[string]int64
	}{
		{"without constraints there is nothing to tell apart", nil, []inventory.Page{pageOf("ns", "q-1", "q", "a1")},
			map[string]int64{"a1": 0, "a2": 0, "b1": 0, "c1": 0}},
		{"no decisions at all: equal", []clusterv1beta1.SpreadConstraintsTerm{zone}, nil,
			map[string]int64{"a1": 100, "a2": 100, "b1": 100, "c1": 100}},
		{"what counts is the domain and not the cluster", []clusterv1beta1.SpreadConstraintsTerm{zone},
			[]inventory.Page{pageOf("ns", "q-1", "q", "a1")}, map[string]int64{"a1": -100, "a2": -100, "b1": 100, "c1": 100}},
		{"1 of 3, cut off toward zero", []clusterv1beta1.SpreadConstraintsTerm{zone},
			[]inventory.Page{pageOf("ns", "q-1", "q", "a1", "a2", "b1"), pageOf("ns", "r-1", "r", "a1")},
			map[string]int64{"a1": -100, "a2": -100, "b1": 33, "c1": 100}},
		{"equal loads", []clusterv1beta1.SpreadConstraintsTerm{zone}, []inventory.Page{pageOf("ns", "q-1", "q", "a1", "b1", "c1")},
			map[string]int64{"a1": 100, "a2": 100, "b1": 100, "c1": 100}},
		{"its own decisions, other namespaces and clusters that are gone do not count", []clusterv1beta1.SpreadConstraintsTerm{zone},
			[]inventory.Page{
				pageOf("ns", "p-1", "p", "a1"), pageOf("other", "q-1", "q", "b1"), pageOf("ns", "r-1", "r", "gone"), pageOf("ns", "s-1", "", "a1"),
				pageOf("ns", "t-1", "t", "c1"),
			}, map[string]int64{"a1": 100, "a2": 100, "b1": 100, "c1": -100}},
		{"placements of the other API count", []clusterv1beta1.SpreadConstraintsTerm{zone},
			[]inventory.Page{{Key: older.Decision("p-1"), Owner: older, Clusters: []string{"b1"}}},
			map[string]int64{"a1": 100, "a2": 100, "b1": -100, "c1": 100}},
		{"tainted clusters count, those out of scope and terminating ones do not", []clusterv1beta1.SpreadConstraintsTerm{zone},
			[]inventory.Page{pageOf("ns", "q-1", "q", "tainted", "outside", "terminating")},
			map[string]int64{"a1": 100, "a2": 100, "b1": -100, "c1": 100}},
		{"the range is that of the feasible clusters", []clusterv1beta1.SpreadConstraintsTerm{zone},
			[]inventory.Page{pageOf("ns", "q-1", "q", "lonely", "lonely", "lonely", "b1")},
			map[string]int64{"a1": 100, "a2": 100, "b1": -100, "c1": 100}},
		{"several keys add up, and who lacks one counts as in its fullest domain", []clusterv1beta1.SpreadConstraintsTerm{zone, rack},
			[]inventory.Page{pageOf("ns", "q-1", "q", "a1", "b1")}, // Zones a 1, b 1, c 0; racks x 1 (a1), y 0 (a2), z 1 (b1); c1 has none.
			map[string]int64{"a1": -100, "a2": 100, "b1": -100, "c1": 100}},
		{"who lacks the only key is never better than others", []clusterv1beta1.SpreadConstraintsTerm{rack},
			[]inventory.Page{pageOf("ns", "q-1", "q", "a1", "a1", "b1")}, map[string]int64{"a1": -100, "a2": 100, "b1": 0, "c1": -100}},
		{"a key that nobody has", []clusterv1beta1.SpreadConstraintsTerm{softly(clusterv1beta1.TopologyKeyTypeLabel, "planet")},
			[]inventory.Page{pageOf("ns", "q-1", "q", "a1")}, map[string]int64{"a1": 100, "a2": 100, "b1": 100, "c1": 100}},
		{"two constraints over one key are one", []clusterv1beta1.SpreadConstraintsTerm{zone, rack, hard},
			[]inventory.Page{pageOf("ns", "q-1", "q", "b1", "b1"), pageOf("ns", "r-1", "r", "a1")}, // Loads: a1 2, a2 1, b1 4, c1 2.
			map[string]int64{"a1": 33, "a2": 100, "b1": -100, "c1": 33}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			tainted, terminating := located("tainted", "b", ""), located("terminating", "a", "")
			tainted.Spec.Taints = []clusterv1.Taint{taint("full", "", noSelect)}
			terminating.DeletionTimestamp = &metav1.Time{Time: now}
			lonely := located("lonely", "d", "")
			lonely.Spec.Taints = tainted.Spec.Taints
			outside := located("outside", "a", "")
			outside.Labels["out"] = ""

			w := newRandomHub(located("a1", "a", "x"), located("a2", "a", "y"), located("b1", "b", "z"), located("c1", "c", ""), tainted,
				terminating, lonely, outside)
			w.inventory.SetClusterSet(setOf("all", clusterv1beta2.LabelSelector, &metav1.LabelSelector{MatchExpressions: requirements{
				compare("out", metav1.LabelSelectorOpDoesNotExist),
			}}))
			for _, page := range tc.pages {
				w.inventory.SetDecision(page)
			}

			result := w.schedule(t, placementSpec{
				PrioritizerPolicy: exact(builtIn(SpreadScore, 1)), SpreadPolicy: clusterv1beta1.SpreadPolicy{SpreadConstraints: tc.constraints},
			})
			expect(t, "scores", tc.want, result.Prioritizers()[0].Scores)
		})
	}
}

// docs/spec/differences.md D3: with the prioritizer, two Placements with equal constraints do not select the same domain.
func TestSpreadScoreDecides(t *testing.T) {
	w := newRandomHub(located("a1", "a", ""), located("b1", "b", ""), located("c1", "c", ""))
	w.inventory.SetDecision(pageOf("ns", "q-1", "q", "a1"))
	spec := placementSpec{
		NumberOfClusters: ptr.To[int32](2), PrioritizerPolicy: exact(builtIn(SpreadScore, 1)), SpreadPolicy: clusterv1beta1.SpreadPolicy{
			SpreadConstraints: []clusterv1beta1.SpreadConstraintsTerm{softly(clusterv1beta1.TopologyKeyTypeLabel, "zone")},
		},
	}
	expect(t, "selected", []string{"b1", "c1"}, selected(w.schedule(t, spec)))
	spec.PrioritizerPolicy = exact(builtIn(SpreadScore, -1))
	expect(t, "selected by a negative weight", []string{"a1", "b1"}, selected(w.schedule(t, spec)))
}

// docs/spec/differences.md D3: scores are in [-100, 100] and reach both ends when counts differ, a higher count has no higher score, and
// the order of the events does not matter.
func TestSpreadScoreIsTheRule(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		clusters, pages := drawNeighbourhood(t)
		request := &Request{
			Key: inventory.NewPlacementKey(inventory.V1beta1, "ns", "p"), Spread: drawConstraints(t),
			Prioritizers: []Prioritizer{{BuiltIn: SpreadScore, Weight: 1}},
		}
		scores := spreadScores(request, clusters, pages)
		loads := loadsByCounting(request.Spread, clusters, pages)

		least, most := slices.Min(slices.Collect(maps.Values(loads))), slices.Max(slices.Collect(maps.Values(loads)))
		for a, load := range loads {
			score, scored := scores[a]
			switch {
			case !scored || score < -100 || score > 100:
				t.Fatalf("%s has the score %d (%v)", a, score, scored)
			case load == least && score != 100, load == most && most > least && score != -100:
				t.Fatalf("%s has the score %d for %d of %d to %d", a, score, load, least, most)
			}

			for b := range loads {
				if loads[a] < loads[b] && scores[a] < scores[b] || loads[a] == loads[b] && scores[a] != scores[b] {
					t.Fatalf("%s has %d for %d, %s has %d for %d", a, scores[a], loads[a], b, scores[b], loads[b])
				}
			}
		}

		shuffle := rand.New(rand.NewPCG(1, rapid.Uint64().Draw(t, "seed")))
		shuffle.Shuffle(len(clusters), func(i, j int) { clusters[i], clusters[j] = clusters[j], clusters[i] })
		shuffle.Shuffle(len(pages), func(i, j int) { pages[i], pages[j] = pages[j], pages[i] })
		if again := spreadScores(request, clusters, pages); !maps.Equal(scores, again) {
			t.Fatalf("%v became %v in another order", scores, again)
		}
	})
}

func drawNeighbourhood(t *rapid.T) ([]*clusterv1.ManagedCluster, []inventory.Page) {
	clusters, names := []*clusterv1.ManagedCluster{}, []string{}
	for i := range rapid.IntRange(1, 8).Draw(t, "clusters") {
		names = append(names, fmt.Sprintf("c%d", i))
		clusters = append(clusters, located(names[i], pick(t, "zone", "", "a", "b", "c"), pick(t, "rack", "", "x", "y")))
	}
	pages := []inventory.Page{}
	for i := range rapid.IntRange(0, 6).Draw(t, "pages") {
		pages = append(pages, pageOf(pick(t, "namespace", "ns", "ns", "other"), fmt.Sprintf("page-%d", i), pick(t, "placement", "p", "q", "r"),
			some(t, "decisions", 6, names...)...))
	}
	return clusters, pages
}

func spreadScores(request *Request, clusters []*clusterv1.ManagedCluster, pages []inventory.Page) map[string]int64 {
	w := newRandomHub(clusters...)
	for _, page := range pages {
		w.inventory.SetDecision(page)
	}
	return Schedule(request, w.inventory.Snapshot(), nil, now).Prioritizers()[0].Scores
}

// loadsByCounting counts the decisions one by one.
func loadsByCounting(constraints []SpreadConstraint, clusters []*clusterv1.ManagedCluster, pages []inventory.Page) map[string]int {
	loads, known := map[string]int{}, map[string]*clusterinfo.ClusterInfo{}
	for _, cluster := range clusters {
		known[cluster.Name] = clusterinfo.New(cluster, nil)
	}
	keys := map[clusterinfo.Property]bool{}
	for _, constraint := range constraints {
		keys[constraint.Key] = true
	}

	for key := range keys {
		fullest, here := 0, map[string]int{}
		for name, f := range known {
			domain, found := f.Value(key)
			for _, page := range pages {
				for _, decision := range page.Clusters {
					other, shared := known[decision].Value(key)
					if page.Owner.Namespace == "ns" && page.Owner.Name != "p" && found && shared && other == domain {
						here[name]++
					}
				}
			}
			fullest = max(fullest, here[name])
		}

		for name, f := range known {
			if _, found := f.Value(key); !found {
				here[name] = fullest
			}
			loads[name] += here[name]
		}
	}

	return loads
}
