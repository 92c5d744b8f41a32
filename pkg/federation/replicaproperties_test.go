// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/test/property"
)

// drawShares draws preferences and clusters without works.
func drawShares(t *rapid.T) (Preferences, []ReplicaCluster) {
	names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}), 1, 5, rapid.ID[string]).Draw(t, "names")
	return Preferences{
		Rebalance: rapid.Bool().Draw(t, "rebalance"),
		Clusters:  rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c", "*"}), rapid.Custom(drawPreference), 0, 4).Draw(t, "clusters"),
	}, available(names...)
}

// TestReadinessMovesNothing checks that replicas stay where they were planned first, in whatever order the clusters become ready and restart
// their Pods (docs/spec/trust.md T15).
func TestReadinessMovesNothing(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		preferences, clusters := drawShares(t)
		total := rapid.Int32Range(0, 40).Draw(t, "total")
		first := PlanReplicas(key, total, preferences, clusters)
		for range rapid.IntRange(1, 8).Draw(t, "rounds") {
			for i := range clusters {
				planned := first[clusters[i].Name]
				clusters[i].Planned, clusters[i].Ready = planned, rapid.Int32Range(0, planned).Draw(t, "ready")
			}
			if diff := cmp.Diff(first, PlanReplicas(key, total, preferences, clusters)); diff != "" {
				t.Fatalf("%+v: %s", clusters, diff)
			}
		}
	})
}

// TestPlanReplicasSettles checks that a plan changes nothing once the replicas that it asks for are ready, and that replicas stay within the
// total at every step of a random history.
func TestPlanReplicasSettles(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		preferences, clusters := drawShares(t)
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			total := rapid.OneOf(rapid.Int32Range(0, 40), rapid.Int32Min(0)).Draw(t, "total")
			plan := PlanReplicas(key, total, preferences, clusters)
			var sum int64
			for i := range clusters {
				planned := plan[clusters[i].Name]
				sum += int64(planned)
				clusters[i].Planned, clusters[i].Ready = planned, planned
			}

			if sum > int64(total) {
				t.Fatalf("%v has %d of %d replicas", plan, sum, total)
			}
			if diff := cmp.Diff(plan, PlanReplicas(key, total, preferences, clusters)); diff != "" {
				t.Fatalf("the plan does not settle: %s", diff)
			}
			for i := range clusters {
				clusters[i].Ready = rapid.Int32Range(0, clusters[i].Planned).Draw(t, "ready")
			}
		}
	})
}

// drawReplicaClusters draws clusters with works in any state.
func drawReplicaClusters(t *rapid.T) []ReplicaCluster {
	var clusters []ReplicaCluster
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}), 1, 5, rapid.ID[string]).Draw(t, "names") {
		planned := rapid.Int32Range(0, 9).Draw(t, "planned")
		clusters = append(clusters, ReplicaCluster{
			Name: name, Available: rapid.IntRange(0, 3).Draw(t, "available") > 0,
			Planned: planned, Ready: rapid.Int32Range(0, planned).Draw(t, "ready"),
		})
	}
	return clusters
}

func drawPreferences(t *rapid.T) Preferences {
	return Preferences{
		Rebalance: rapid.Bool().Draw(t, "rebalance"),
		Clusters:  rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c", "*"}), rapid.Custom(drawPreference), 1, 4).Draw(t, "clusters"),
	}
}

// weightsOnly returns preferences with these weights, and their clusters.
func weightsOnly(rebalance bool, weights ...int32) (Preferences, []ReplicaCluster) {
	preferences := Preferences{Rebalance: rebalance, Clusters: map[string]Preference{}}
	names := make([]string, 0, len(weights))
	for i, weight := range weights {
		name := "c" + strconv.Itoa(i)
		preferences.Clusters[name] = Preference{Weight: weight}
		names = append(names, name)
	}
	return preferences, available(names...)
}

// docs/spec/federated-selector.md 3.1.6: plans of weights alone, by the order of the clusters. They are the same where the replicas are added one by
// one and nothing is rebalanced.
func TestPlanReplicasByWeight(t *testing.T) {
	for _, c := range []struct {
		reason  string
		weights []int32
		total   int32
		want    []int32
	}{
		{"exact shares", []int32{3, 2, 1}, 12, []int32{6, 4, 2}},
		{"each one has a replica before the first one has two for twice the weight", []int32{2, 1}, 2, []int32{1, 1}},
		{"of equal quotients, that of the higher weight is first", []int32{3, 1}, 2, []int32{2, 0}},
		{"before the growth", []int32{170, 110, 60}, 6, []int32{3, 2, 1}},
		{"growth takes none from the last one", []int32{170, 110, 60}, 7, []int32{4, 2, 1}},
		{"the first clusters do not round up one after the other", []int32{13, 12, 11, 10}, 10, []int32{3, 3, 2, 2}},
		{"one more than its exact share, because the others are nearer to none", []int32{8, 1, 1, 1, 1}, 4, []int32{4, 0, 0, 0, 0}},
		{"all others are nearer to none than to one", []int32{10, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 5, []int32{5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
		{"the largest weights and totals", []int32{math.MaxInt32, 1}, math.MaxInt32, []int32{math.MaxInt32 - 1, 1}},
		{"the quotient of the lower weight is higher by less than a level", []int32{3_000_000, 1_000_001}, 2, []int32{1, 1}},
		{"the quotient of the lower weight is lower by less than a level", []int32{3_000_000, 999_999}, 2, []int32{2, 0}},
		{"no weight", []int32{0, 0}, 9, []int32{0, 0}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			preferences, clusters := weightsOnly(false, c.weights...)
			want := map[string]int32{}
			for i, replicas := range c.want {
				want[clusters[i].Name] = replicas
			}
			if diff := cmp.Diff(want, PlanReplicas(key, c.total, preferences, clusters)); diff != "" {
				t.Error(diff)
			}
			if c.total > 100 {
				return
			}

			for total := range c.total + 1 {
				plan := PlanReplicas(key, total, preferences, clusters)
				for i := range clusters {
					clusters[i].Planned, clusters[i].Ready = plan[clusters[i].Name], plan[clusters[i].Name]
				}
			}
			if diff := cmp.Diff(want, PlanReplicas(key, c.total, preferences, clusters)); diff != "" {
				t.Errorf("one by one: %s", diff)
			}
		})
	}
}

// docs/spec/federated-selector.md 3.1.6: a larger total takes no replica from a cluster, whatever the state of the works.
func TestGrowthTakesNoReplica(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		preferences, clusters := drawPreferences(t), drawReplicaClusters(t)
		total := rapid.OneOf(rapid.Int32Range(0, 40), rapid.Int32Range(0, math.MaxInt32-1)).Draw(t, "total")
		more := total + rapid.OneOf(rapid.Just(int32(1)), rapid.Int32Range(1, math.MaxInt32-total)).Draw(t, "growth")
		before, after := PlanReplicas(key, total, preferences, clusters), PlanReplicas(key, more, preferences, clusters)
		for name, replicas := range before {
			if after[name] < replicas {
				t.Fatalf("%v of %d, %v of %d: %s loses replicas", before, total, after, more, name)
			}
		}
	})
}

// docs/spec/federated-selector.md 3.1.6: replicas that are added in any steps, with any readiness in between, are where they would be at once.
func TestGrowthKeepsToTheWeights(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		preferences, clusters := drawShares(t)
		total := int32(0)
		for range rapid.IntRange(1, 8).Draw(t, "steps") {
			total += rapid.Int32Range(0, 5).Draw(t, "growth")
			for i := range clusters {
				clusters[i].Ready = rapid.Int32Range(0, clusters[i].Planned).Draw(t, "ready")
			}
			plan := PlanReplicas(key, total, preferences, clusters)
			atOnce := make([]ReplicaCluster, 0, len(clusters))
			for i := range clusters {
				clusters[i].Planned = plan[clusters[i].Name]
				atOnce = append(atOnce, ReplicaCluster{Name: clusters[i].Name, Available: true})
			}
			if diff := cmp.Diff(PlanReplicas(key, total, preferences, atOnce), plan); diff != "" {
				t.Fatalf("%d replicas, at once and in steps: %s", total, diff)
			}
		}
	})
}

// docs/spec/federated-selector.md 3.1.6: a cluster that joins gives no replica to another one, and a cluster that leaves takes none from the others.
func TestClustersTakeNoReplicaWithThem(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		preferences, clusters := drawPreferences(t), drawReplicaClusters(t)
		total := rapid.OneOf(rapid.Int32Range(0, 40), rapid.Int32Min(0)).Draw(t, "total")
		leaving := rapid.IntRange(0, len(clusters)-1).Draw(t, "leaving")
		with := PlanReplicas(key, total, preferences, clusters)
		without := PlanReplicas(key, total, preferences, slices.Delete(slices.Clone(clusters), leaving, leaving+1))
		for name, replicas := range without {
			if replicas < with[name] {
				t.Fatalf("%v, and without %s %v: %s loses replicas", with, clusters[leaving].Name, without, name)
			}
		}
	})
}

// docs/spec/federated-selector.md 3.1.6: a cluster that is away for a while moves no replica.
func TestUnavailabilityMovesNothing(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		preferences, clusters := drawShares(t)
		total := rapid.OneOf(rapid.Int32Range(0, 40), rapid.Int32Min(0)).Draw(t, "total")
		plan := PlanReplicas(key, total, preferences, clusters)
		for i := range clusters {
			planned := plan[clusters[i].Name]
			clusters[i].Available, clusters[i].Planned = rapid.Bool().Draw(t, "available"), planned
			clusters[i].Ready = rapid.Int32Range(0, planned).Draw(t, "ready")
		}
		if diff := cmp.Diff(plan, PlanReplicas(key, total, preferences, clusters)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// docs/spec/federated-selector.md 3.1.6: of n clusters, one whose part of all weights is p differs from its exact share by (1+p(n-2))/2 at
// most, which is less than one for up to three clusters, and for every cluster with p < 1/(n-2).
func TestSharesAreNearTheExactOnes(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		weight := rapid.OneOf(rapid.Int32Range(1, 9), rapid.Int32Range(1, 1000))
		weights := rapid.SliceOfN(weight, 1, 9).Draw(t, "weights")
		total := rapid.OneOf(rapid.Int32Range(0, 30), rapid.Int32Range(0, 100_000)).Draw(t, "total")
		preferences, clusters := weightsOnly(rapid.Bool().Draw(t, "rebalance"), weights...)
		n, all := int64(len(weights)), int64(0)
		for _, weight := range weights {
			all += int64(weight)
		}

		plan := PlanReplicas(key, total, preferences, clusters)
		for i, weight := range weights {
			// The difference is apart/all.
			apart, weight := int64(plan[clusters[i].Name])*all-int64(total)*int64(weight), int64(weight)
			apart = max(apart, -apart)
			if 2*apart > all+weight*(n-2) {
				t.Fatalf("%v of %d: cluster %d differs by %d/%d", plan, total, i, apart, all)
			}
			if (n <= 3 || weight*(n-2) < all) && apart >= all {
				t.Fatalf("%v of %d: cluster %d differs by one or more", plan, total, i)
			}
		}
	})
}

// TestPlanReplicasOneByOne compares PlanReplicas with the plain method, which takes replica after replica.
func TestPlanReplicasOneByOne(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		preferences, clusters := drawPreferences(t), drawReplicaClusters(t)
		total := rapid.Int32Range(0, 60).Draw(t, "total")
		if diff := cmp.Diff(planOneByOne(total, preferences, clusters), PlanReplicas(key, total, preferences, clusters)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// planOneByOne gives every replica to the first of the clusters that wants it most.
func planOneByOne(total int32, preferences Preferences, clusters []ReplicaCluster) map[string]int32 {
	plan, least := map[string]int32{}, map[string]int32{}
	var ordered []ReplicaCluster
	for _, c := range clusters {
		plan[c.Name] = 0
		if _, found := preferences.of(c.Name); found {
			ordered = append(ordered, c)
		}
	}
	slices.SortFunc(ordered, func(a, b ReplicaCluster) int {
		one, _ := preferences.of(a.Name)
		other, _ := preferences.of(b.Name)
		switch {
		case one.Weight != other.Weight:
			return int(other.Weight - one.Weight)
		case hashOf(a.Name, key) < hashOf(b.Name, key):
			return -1
		default:
			return 1
		}
	})

	fill := func(wants func(ReplicaCluster, Preference) int32) {
		for _, c := range ordered {
			p, _ := preferences.of(c.Name)
			for total > 0 && plan[c.Name] < p.capped(wants(c, p)) {
				plan[c.Name]++
				total--
			}
		}
	}
	when := func(is bool, replicas int32) int32 {
		if is {
			return replicas
		}
		return 0
	}
	fill(func(c ReplicaCluster, p Preference) int32 { return when(!c.Available, p.capped(c.Planned)) })
	fill(func(c ReplicaCluster, p Preference) int32 { return when(c.Available, p.MinReplicas) })
	maps.Copy(least, plan)
	fill(func(c ReplicaCluster, p Preference) int32 {
		return when(c.Available && !preferences.Rebalance, p.capped(c.Ready))
	})

	for ; total > 0; total-- {
		best, most := "", 0.0
		for _, c := range ordered {
			p, _ := preferences.of(c.Name)
			quotient := float64(p.Weight) / float64(2*(plan[c.Name]-least[c.Name])+1)
			if c.Available && p.capped(plan[c.Name]+1) > plan[c.Name] && quotient > most {
				best, most = c.Name, quotient
			}
		}
		if best == "" {
			break
		}
		plan[best]++
	}
	return plan
}
