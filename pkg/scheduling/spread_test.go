// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/test/property"
)

func over(kind clusterv1beta1.TopologyKeyType, key string, skew int32, action clusterv1beta1.UnsatisfiableMaxSkewAction,
) clusterv1beta1.SpreadConstraintsTerm {
	return clusterv1beta1.SpreadConstraintsTerm{TopologyKey: key, TopologyKeyType: kind, MaxSkew: skew, WhenUnsatisfiable: action}
}

// located returns a cluster in a zone (a label) and a rack (a claim); empty means none.
func located(name, zone, rack string) *clusterv1.ManagedCluster {
	cluster := named(name)
	if zone != "" {
		cluster.Labels["zone"] = zone
	}
	if rack != "" {
		cluster.Status.ClusterClaims = []clusterv1.ManagedClusterClaim{{Name: "rack", Value: rack}}
	}
	return cluster
}

// docs/spec/differences.md D2, by example.
func TestSpread(t *testing.T) {
	const hard, soft = clusterv1beta1.DoNotSchedule, clusterv1beta1.ScheduleAnyway
	zone := func(skew int32, action clusterv1beta1.UnsatisfiableMaxSkewAction) clusterv1beta1.SpreadConstraintsTerm {
		return over(clusterv1beta1.TopologyKeyTypeLabel, "zone", skew, action)
	}
	rack := func(skew int32, action clusterv1beta1.UnsatisfiableMaxSkewAction) clusterv1beta1.SpreadConstraintsTerm {
		return over(clusterv1beta1.TopologyKeyTypeClaim, "rack", skew, action)
	}
	w := newRandomHub(located("a1", "a", "x"), located("a2", "a", "y"), located("a3", "a", "x"), located("b1", "b", "x"), located("n1", "", "y"))
	for _, tc := range []struct {
		reason      string
		wanted      *int32
		constraints []clusterv1beta1.SpreadConstraintsTerm
		want        []string
		unscheduled int
		reasons     map[string]string
	}{
		{"without constraints the names decide", ptr.To[int32](3), nil, []string{"a1", "a2", "a3"}, 0, nil},
		{"emptier domains first", ptr.To[int32](2), []clusterv1beta1.SpreadConstraintsTerm{zone(1, soft)}, []string{"a1", "b1"}, 0,
			map[string]string{"a2": "rank 2 of 5, 2 wanted, the spread constraints prefer the domains of b1"}},
		{"among domains that are as empty the names decide, and what has none is out whatever the room", ptr.To[int32](1),
			[]clusterv1beta1.SpreadConstraintsTerm{zone(1, hard)}, []string{"a1"}, 0, map[string]string{
				"b1": "rank 4 of 5, 1 wanted, as many points as a1, which comes first by name",
				"n1": "has no label zone, over which the clusters must be spread",
			}},
		{"a soft skew may be exceeded; without the key last", nil, []clusterv1beta1.SpreadConstraintsTerm{zone(1, soft)},
			[]string{"a1", "b1", "a2", "a3", "n1"}, 0, nil},
		{"a hard skew may not; without the key never", ptr.To[int32](5), []clusterv1beta1.SpreadConstraintsTerm{zone(1, hard)},
			[]string{"a1", "b1", "a2"}, 2, map[string]string{
				"a3": "label zone a is full: it has 2 selected clusters, b has 1, and 1 more are allowed",
				"n1": "has no label zone, over which the clusters must be spread",
			}},
		{"a wider skew", ptr.To[int32](5), []clusterv1beta1.SpreadConstraintsTerm{zone(2, hard)}, []string{"a1", "b1", "a2", "a3"}, 1, nil},
		{"as many as the constraint allows when all are wanted", nil, []clusterv1beta1.SpreadConstraintsTerm{zone(1, hard)},
			[]string{"a1", "b1", "a2"}, 0, nil},
		{"the first constraint goes before the second", ptr.To[int32](3), []clusterv1beta1.SpreadConstraintsTerm{zone(1, soft), rack(1, soft)},
			[]string{"a1", "b1", "a2"}, 0, nil},
		{"claims are domains too", ptr.To[int32](3), []clusterv1beta1.SpreadConstraintsTerm{rack(1, hard)}, []string{"a1", "a2", "a3"}, 0, nil},
		{"the second decides among equals of the first", ptr.To[int32](2), []clusterv1beta1.SpreadConstraintsTerm{rack(1, soft), zone(1, soft)},
			[]string{"a1", "a2"}, 0, nil},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			result := w.schedule(t, placementSpec{
				NumberOfClusters: tc.wanted, SpreadPolicy: clusterv1beta1.SpreadPolicy{SpreadConstraints: tc.constraints},
			})
			got := []string{}
			for _, verdict := range result.Best() {
				got = append(got, verdict.Cluster.Name)
			}
			expect(t, "selected in the order in which they were taken", tc.want, got)
			expect(t, "unscheduled", tc.unscheduled, result.Unscheduled)

			for cluster, want := range tc.reasons {
				verdict, _ := result.Verdict(cluster)
				expect(t, cluster, want, result.Reason(verdict))
			}
		})
	}
}

// docs/spec/differences.md D2 against a search that tries every candidate at every step: a hard constraint is never violated, no allowed
// cluster is left while clusters are wanted, and each selected cluster is the best by the rule.
func TestSpreadIsTheRule(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		constraints := drawConstraints(t)
		ranked, all := []Verdict{}, &candidates{}
		for i := range rapid.IntRange(0, 9).Draw(t, "clusters") {
			zone := rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "zone")
			rack := rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "rack")
			info := clusterinfo.New(located(fmt.Sprintf("c%d", i), zone, rack), nil)
			ranked, all.clusters = append(ranked, Verdict{Cluster: info, candidate: i}), append(all.clusters, info)
		}
		wanted := rapid.IntRange(0, len(ranked)).Draw(t, "wanted")
		chosen, spreads := selectSpread(constraints, all.findDomains, ranked, wanted)

		counts := newSpreads(constraints, ranked)
		for step, got := range chosen {
			want := bestByTrial(counts, ranked, chosen[:step])
			if got != want {
				t.Fatalf("step %d took %d, the rule says %d", step, got, want)
			}
			take(counts, ranked[got].Cluster)
			for _, s := range counts {
				if s.Constraint.Hard && (s.Skew() > s.Constraint.MaxSkew || len(s.Without) > 0) {
					t.Fatalf("the constraint over %s is broken: %v, without the key %v", s.Constraint.Key, s.Selected, s.Without)
				}
			}
		}

		if left := bestByTrial(counts, ranked, chosen); len(chosen) < wanted && left >= 0 {
			t.Fatalf("%d is allowed and was not taken", left)
		}
		for i := range spreads {
			if fmt.Sprint(spreads[i]) != fmt.Sprint(counts[i]) {
				t.Fatalf("the result says %v, counted were %v", spreads[i], counts[i])
			}
		}
	})
}

func drawConstraints(t *rapid.T) []SpreadConstraint {
	keys := []clusterinfo.Property{{Kind: clusterinfo.Label, Name: "zone"}, {Kind: clusterinfo.Claim, Name: "rack"}}
	constraints := []SpreadConstraint{}
	for range rapid.IntRange(1, 2).Draw(t, "constraints") {
		constraints = append(constraints, SpreadConstraint{
			Key: rapid.SampledFrom(keys).Draw(t, "key"), MaxSkew: rapid.IntRange(1, 3).Draw(t, "skew"), Hard: rapid.Bool().Draw(t, "hard"),
		})
	}
	return constraints
}

// bestByTrial applies the rule literally to all remaining clusters; -1 when none is allowed.
func bestByTrial(counts []Spread, ranked []Verdict, taken []int) int {
	best := -1
	for i, verdict := range ranked {
		if slices.Contains(taken, i) || !allowedByTrial(counts, verdict.Cluster) {
			continue
		}
		if best < 0 || slices.Compare(domainCounts(counts, verdict.Cluster), domainCounts(counts, ranked[best].Cluster)) < 0 {
			best = i
		}
	}
	return best
}

func allowedByTrial(counts []Spread, f *clusterinfo.ClusterInfo) bool {
	for _, s := range counts {
		if !s.Constraint.Hard {
			continue
		}
		domain, found := s.Constraint.domain(f)
		if !found {
			return false
		}

		for _, count := range s.Selected {
			if s.Selected[domain]+1-count > s.Constraint.MaxSkew {
				return false
			}
		}
	}

	return true
}

func newSpreads(constraints []SpreadConstraint, feasible []Verdict) []Spread {
	spreads := make([]Spread, 0, len(constraints))
	for _, constraint := range constraints {
		spread := Spread{Constraint: constraint, Selected: map[string]int{}}
		for _, verdict := range feasible {
			if domain, found := constraint.domain(verdict.Cluster); found {
				spread.Selected[domain] = 0
			}
		}
		spreads = append(spreads, spread)
	}
	return spreads
}

func take(spreads []Spread, f *clusterinfo.ClusterInfo) {
	for i := range spreads {
		if domain, found := spreads[i].Constraint.domain(f); found {
			spreads[i].Selected[domain]++
		} else {
			spreads[i].Without = append(spreads[i].Without, f.Name)
			slices.Sort(spreads[i].Without)
		}
	}
}

// TestSpreadProblem checks what a status says of a distribution. It names the first of several domains with the same number of clusters.
func TestSpreadProblem(t *testing.T) {
	zone := SpreadConstraint{Key: *byZone, MaxSkew: 1}
	for _, tc := range []struct {
		reason         string
		spread         Spread
		want, wantText string
	}{
		{"no domain", Spread{Constraint: zone}, "DomainsMissing", "no feasible cluster has the label zone"},
		{"as uneven as allowed", Spread{Constraint: zone, Selected: map[string]int{"a": 2, "b": 1}}, "", ""},
		{
			"more uneven, with several fullest and emptiest domains",
			Spread{Constraint: zone, Selected: map[string]int{"a": 2, "b": 3, "c": 1, "d": 3, "e": 1}}, "SkewExceeded",
			"label zone: b has 3 and c has 1 selected clusters, which is more than the 1 allowed between them",
		},
		{
			"clusters without the key", Spread{Constraint: zone, Selected: map[string]int{"a": 1}, Without: []string{"c1", "c2"}}, "DomainsMissing",
			"2 selected clusters do not have the label zone, the first is c1",
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			got, text := tc.spread.Problem()
			expect(t, "reason", tc.want, got)
			expect(t, "message", tc.wantText, text)
		})
	}
}
