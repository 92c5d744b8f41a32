// SPDX-License-Identifier: Apache-2.0

package evaluate_test

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/placementtest/cases"
	"github.com/placement-hub/placement-hub/pkg/explain/placementtest/evaluate"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// benchmarkClusters is the number of clusters in the world of the benchmarks.
const benchmarkClusters = 2_000

// benchmarkWorld has clusters in 12 regions and 100 teams. A tenth of the Placements asks for five clusters of a region, and the others for the
// twenty clusters of a team.
func benchmarkWorld(placements int) *explain.State {
	state := &explain.State{ClusterSets: []*clusterv1beta2.ManagedClusterSet{{ObjectMeta: metav1.ObjectMeta{Name: "all"}}}}
	for n := range benchmarkClusters {
		state.Clusters = append(state.Clusters, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("cluster-%04d", n),
			Labels: map[string]string{
				clusterv1beta2.ClusterSetLabel: "all", "region": fmt.Sprintf("r%d", n%12), "team": fmt.Sprintf("t%d", n%100),
			},
		}})
	}
	for n := range placements {
		p := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: fmt.Sprintf("p%d", n), UID: "u", Generation: 1}}
		label := map[string]string{"team": fmt.Sprintf("t%d", n%100)}
		if n%10 == 0 {
			label, p.Spec.NumberOfClusters = map[string]string{"region": fmt.Sprintf("r%d", n%12)}, ptr.To[int32](5)
		}
		p.Spec.Predicates = []clusterv1beta1.ClusterPredicate{{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
			LabelSelector: metav1.LabelSelector{MatchLabels: label},
		}}}
		state.Placements = append(state.Placements, p)
	}
	state.Bindings = []*clusterv1beta2.ManagedClusterSetBinding{{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "all"}, Spec: clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: "all"},
	}}
	return state
}

func benchmarkCases(b *testing.B, count int, spec func(n int) string) []*cases.Case {
	b.Helper()
	reader := cases.NewReader()
	for n := range count {
		reader.Read("cases.yaml", fmt.Appendf(nil, "apiVersion: %s\nkind: %s\nmetadata: {name: c%d}\nspec: {%s}\n", cases.APIVersion, cases.Kind, n,
			spec(n)))
	}
	if err := reader.Err(); err != nil {
		b.Fatal(err)
	}
	return reader.Cases
}

// BenchmarkRun measures 1,000 simple cases, the loss of each cluster for 100 Placements, and for one Placement that selects all clusters.
// Simulate is the evaluation of one Placement in the same world, as placement simulate does it once for each case.
func BenchmarkRun(b *testing.B) {
	b.Run("simple-1000", func(b *testing.B) {
		state, given := benchmarkWorld(1_000), benchmarkCases(b, 1_000, func(n int) string {
			return fmt.Sprintf("objects: {placement: ns/p%d}, expect: {selected: {atLeast: 1}, satisfied: true}", n)
		})
		for b.Loop() {
			checkPassed(b, evaluate.Run(evaluate.World{State: state, Now: noon}, given))
		}
	})
	b.Run("lost-any-1", func(b *testing.B) {
		state, given := benchmarkWorld(100), benchmarkCases(b, 1, func(int) string {
			return "objects: {placements: {}}, when: {lost: {any: 1}}, expect: {selected: {atLeast: 1}, moves: {atMost: 1}}"
		})
		for b.Loop() {
			checkPassed(b, evaluate.Run(evaluate.World{State: state, Now: noon}, given))
		}
	})
	b.Run("lost-any-1-of-all", func(b *testing.B) {
		state, given := benchmarkWorld(1), benchmarkCases(b, 1, func(int) string {
			return "objects: {placements: {}}, when: {lost: {any: 1}}, expect: {selected: {atLeast: 1}, moves: {atMost: 1}}"
		})
		state.Placements[0].(*clusterv1beta1.Placement).Spec = clusterv1beta1.PlacementSpec{}
		for b.Loop() {
			checkPassed(b, evaluate.Run(evaluate.World{State: state, Now: noon}, given))
		}
	})
	b.Run("simulate", func(b *testing.B) {
		state := benchmarkWorld(1_000)
		for b.Loop() {
			if got := state.Evaluate(noon, func(key inventory.Key) bool { return key.Name == "p7" }); len(got) != 1 {
				b.Fatal("the Placement was not evaluated")
			}
		}
	})
}

func checkPassed(b *testing.B, results evaluate.Results) {
	b.Helper()
	if results.Summary.Passed != results.Summary.Cases {
		b.Fatalf("%+v", results.Cases[0])
	}
}
