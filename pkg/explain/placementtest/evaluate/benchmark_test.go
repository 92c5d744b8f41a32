// SPDX-License-Identifier: Apache-2.0

package evaluate_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

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

// The bars of BenchmarkRun, in seconds on one core of a usual machine.
const (
	simpleBar = 2.0
	lostBar   = 5.0
)

// BenchmarkRun measures 1,000 simple cases, the loss of each cluster for 100 Placements, and for one Placement that selects all clusters. It prints
// the share of the bar, if there is one, and how many times as long placement simulate takes once for each case. Both read the world from files: the
// cases once for all, and simulate each time.
func BenchmarkRun(b *testing.B) {
	const losses = "objects: {placements: {}}, when: {lost: {any: 1}}, expect: {selected: {atLeast: 1}, moves: {atMost: 1}}"
	for _, bench := range []struct {
		name              string
		placements, cases int
		spec              string
		bar               float64
		// simulations is how many evaluations of one Placement answer the same.
		simulations int
		all         bool
	}{
		{"simple-1000", 1_000, 1_000, "objects: {placement: ns/p%d}, expect: {selected: {atLeast: 1}, satisfied: true}", simpleBar, 1_000, false},
		{"lost-any-1", 100, 1, losses, lostBar, 100 * benchmarkClusters, false},
		{"lost-any-1-of-all", 1, 1, losses, 0, benchmarkClusters, true},
	} {
		b.Run(bench.name, func(b *testing.B) {
			state, given := benchmarkWorld(bench.placements), benchmarkCases(b, bench.cases, func(n int) string {
				if strings.Contains(bench.spec, "%d") {
					return fmt.Sprintf(bench.spec, n)
				}
				return bench.spec
			})
			if bench.all {
				state.Placements[0].(*clusterv1beta1.Placement).Spec = clusterv1beta1.PlacementSpec{}
			}
			for b.Loop() {
				checkPassed(b, evaluate.Run(evaluate.World{State: state, Now: noon}, given))
			}
			took := b.Elapsed().Seconds() / float64(b.N)
			if bench.bar > 0 {
				b.ReportMetric(took/bench.bar, "of-the-bar")
			}
			file := manifestsOf(b, state)
			read := seconds(func() { systemsWorld(b, file) })
			simulated := seconds(func() {
				if got := state.Evaluate(noon, func(key inventory.Key) bool { return key.Name == "p0" }); len(got) != 1 {
					b.Fatal("the Placement was not evaluated")
				}
			})
			b.ReportMetric((read+simulated)*float64(bench.simulations)/(read+took), "x-simulate")
		})
	}
}

// seconds returns how many seconds something takes, as the mean of several times.
func seconds(do func()) float64 {
	const times = 3
	begun := time.Now()
	for range times {
		do()
	}
	return time.Since(begun).Seconds() / times
}

// manifestsOf returns a file with the objects of a State.
func manifestsOf(b *testing.B, state *explain.State) string {
	b.Helper()
	var content strings.Builder
	for kind, object := range state.Each(explain.OfPlacements) {
		encoded, err := json.Marshal(object)
		if err != nil {
			b.Fatal(err)
		}
		fmt.Fprintf(&content, "---\n{\"apiVersion\":%q,\"kind\":%q,%s\n", kind.GroupVersion(), kind.Kind, encoded[1:])
	}
	return content.String()
}

func checkPassed(b *testing.B, results evaluate.Results) {
	b.Helper()
	if results.Summary.Passed != results.Summary.Cases {
		b.Fatalf("%+v", results.Cases[0])
	}
}
