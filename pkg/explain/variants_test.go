// SPDX-License-Identifier: Apache-2.0

package explain_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/whatif"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/test/property"
)

// drawVariantState returns clusters in regions and Placements that select, tolerate, spread and rank them.
func drawVariantState(t *rapid.T) *explain.State {
	state := &explain.State{
		ClusterSets: []*clusterv1beta2.ManagedClusterSet{{ObjectMeta: metav1.ObjectMeta{Name: "all"}}},
		Bindings: []*clusterv1beta2.ManagedClusterSetBinding{{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "all"}, Spec: clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: "all"},
		}},
	}
	state.Limit.Percent = ptr.To(rapid.SampledFrom([]int{50, 100}).Draw(t, "percent"))
	regions := rapid.SliceOfN(rapid.IntRange(0, 2), 2, 7).Draw(t, "regions")
	for n, region := range regions {
		state.Clusters = append(state.Clusters, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
			Name:   fmt.Sprintf("c%d", n),
			Labels: map[string]string{clusterv1beta2.ClusterSetLabel: "all", "region": fmt.Sprintf("r%d", region)},
		}})
	}
	for n := range rapid.IntRange(1, 4).Draw(t, "placements") {
		p := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: fmt.Sprintf("p%d", n), UID: "u", Generation: 1}}
		if number := rapid.Int32Range(0, 3).Draw(t, "number"); number > 0 {
			p.Spec.NumberOfClusters = ptr.To(number)
		}
		if rapid.Bool().Draw(t, "selects") {
			p.Spec.Predicates = []clusterv1beta1.ClusterPredicate{{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
				LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"region": fmt.Sprintf("r%d", rapid.IntRange(0, 2).Draw(t,
					"region"))}},
			}}}
		}
		if rapid.Bool().Draw(t, "tolerates") {
			p.Spec.Tolerations = []clusterv1beta1.Toleration{{
				Key: clusterv1.ManagedClusterTaintUnreachable, Operator: clusterv1beta1.TolerationOpExists,
				TolerationSeconds: rapid.SampledFrom([]*int64{nil, ptr.To[int64](60)}).Draw(t, "seconds"),
			}}
		}
		if rapid.Bool().Draw(t, "spreads") {
			p.Spec.SpreadPolicy.SpreadConstraints = []clusterv1beta1.SpreadConstraintsTerm{{
				TopologyKey: "region", TopologyKeyType: clusterv1beta1.TopologyKeyTypeLabel, MaxSkew: 1,
				WhenUnsatisfiable: rapid.SampledFrom([]clusterv1beta1.UnsatisfiableMaxSkewAction{
					clusterv1beta1.DoNotSchedule, clusterv1beta1.ScheduleAnyway,
				}).Draw(t, "unsatisfiable"),
			}}
		}
		state.Placements = append(state.Placements, p)
	}
	return state
}

func decisionsOf(evaluation explain.Evaluation) []string {
	names := slices.Concat(slices.Collect(maps.Values(evaluation.Pages))...)
	slices.Sort(names)
	return names
}

// A Placement that does not depend on a failure has the same result when it is evaluated, and one that does has that of a new world with the
// decisions from before.
func TestPropertyVariants(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		state := drawVariantState(t)
		variants := state.NewVariants(noon, nil)
		for range rapid.IntRange(1, 3).Draw(t, "failures") {
			lost := rapid.SampledFrom(state.Clusters).Draw(t, "lost").Name
			var change whatif.Change = whatif.Lose{Cluster: lost, Ago: time.Hour}
			if rapid.Bool().Draw(t, "deleted") {
				change = whatif.Remove{Cluster: lost}
			}
			after, err := whatif.Apply(state, noon, change)
			if err != nil {
				t.Fatal(err)
			}
			fresh := after.NewVariants(noon, nil)
			depends := map[inventory.Key]bool{}
			note := func(key inventory.Key, is bool) bool { depends[key] = is; return true }
			variants.In(after, note, func(v explain.Variant) {
				key := v.After.Placement.Key()
				before, got := decisionsOf(*v.Before), decisionsOf(v.After)
				if !depends[key] && !slices.Equal(before, got) {
					t.Fatalf("%s: %s does not depend on it, and changes from %v to %v", change, key, before, got)
				}
				if v.After.Result.KeepsLeaving() || slices.Contains(before, lost) && v.After.Result.Request.Wanted != nil {
					return // The decisions from before decide what stays.
				}
				world, known := fresh.Base(key)
				if !known {
					t.Fatalf("%s: a new world lacks %s", change, key)
				}
				if want := decisionsOf(world); world.Result.Request.Wanted == nil && !slices.Equal(want, got) {
					t.Fatalf("%s: %s has %v instead of %v", change, key, got, want)
				}
			})
		}
		for _, key := range variants.Keys() {
			one, _ := variants.Base(key)
			other, _ := state.NewVariants(noon, nil).Base(key)
			if diff := cmp.Diff(decisionsOf(one), decisionsOf(other)); diff != "" {
				t.Fatalf("variants have changed the State: %s", diff)
			}
		}
	})
}
