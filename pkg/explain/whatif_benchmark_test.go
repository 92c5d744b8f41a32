// SPDX-License-Identifier: Apache-2.0

package explain_test

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/whatif"
)

// The size of the State in the benchmark.
const (
	benchmarkClusters   = 10_000
	benchmarkPlacements = 1_000
)

// benchmarkWorld has clusters in 12 regions and 500 teams. A tenth of the placements asks for all clusters, a tenth for five of a region,
// and the others for the twenty clusters of a team.
func benchmarkState() *explain.State {
	state := &explain.State{ClusterSets: []*clusterv1beta2.ManagedClusterSet{{ObjectMeta: metav1.ObjectMeta{Name: "all"}}}}
	for n := range benchmarkClusters {
		state.Clusters = append(state.Clusters, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("cluster-%05d", n),
			Labels: map[string]string{
				clusterv1beta2.ClusterSetLabel: "all", "region": fmt.Sprintf("r%d", n%12), "team": fmt.Sprintf("t%d", n%500),
			},
		}})
	}

	for n := range benchmarkPlacements {
		placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: fmt.Sprintf("ns%d", n%50), Name: fmt.Sprintf("p%d", n)}}
		label := map[string]string{"team": fmt.Sprintf("t%d", n%500)}
		switch n % 10 {
		case 0:
			label = nil
		case 1:
			label = map[string]string{"region": fmt.Sprintf("r%d", n%12)}
			placement.Spec.NumberOfClusters = ptr.To[int32](5)
		default:
		}

		placement.Spec.Predicates = []clusterv1beta1.ClusterPredicate{{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
			LabelSelector: metav1.LabelSelector{MatchLabels: label},
		}}}
		state.Placements = append(state.Placements, placement)
	}

	for n := range 50 {
		state.Bindings = append(state.Bindings, &clusterv1beta2.ManagedClusterSetBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: fmt.Sprintf("ns%d", n), Name: "all"},
			Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: "all"},
		})
	}
	return state
}

// BenchmarkWhatIf measures, from the objects to the difference, the drain of a cluster of each kind, and the loss of a set in a namespace
// and everywhere.
func BenchmarkWhatIf(b *testing.B) {
	state := benchmarkState()
	for name, change := range map[string]whatif.Change{
		"drain":  whatif.Drain{Cluster: "cluster-00000"},
		"label":  whatif.Label{Cluster: "cluster-00007", Key: "team", Value: "t8"},
		"unbind": whatif.WithoutBinding{Namespace: "ns1", Set: "all"},
		"all":    whatif.WithoutBinding{Set: "all"},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				after, err := whatif.Apply(state, noon, change)
				if err != nil {
					b.Fatal(err)
				}
				whatIf := explain.NewWhatIf(state, after, nil, noon)
				if !whatIf.Differs() {
					b.Fatalf("%s makes no difference", change)
				}
			}
		})
	}
}
