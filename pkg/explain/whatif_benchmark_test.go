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
	"github.com/placement-hub/placement-hub/pkg/explain/overlay"
)

// The size of the world in the benchmark.
const (
	benchmarkClusters   = 10_000
	benchmarkPlacements = 1_000
)

// benchmarkWorld has clusters in 12 regions and 500 teams. A tenth of the placements asks for all clusters, a tenth for five of a region,
// and the others for the twenty clusters of a team.
func benchmarkWorld() *explain.World {
	world := &explain.World{ClusterSets: []*clusterv1beta2.ManagedClusterSet{{ObjectMeta: metav1.ObjectMeta{Name: "all"}}}}

	for n := range benchmarkClusters {
		world.Clusters = append(world.Clusters, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
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
		world.Placements = append(world.Placements, placement)
	}

	for n := range 50 {
		world.Bindings = append(world.Bindings, &clusterv1beta2.ManagedClusterSetBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: fmt.Sprintf("ns%d", n), Name: "all"},
			Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: "all"},
		})
	}

	return world
}

// BenchmarkWhatIf tells what draining a cluster of each kind, and what the loss of a set in a namespace and everywhere, costs from the
// objects to the difference.
func BenchmarkWhatIf(b *testing.B) {
	world := benchmarkWorld()

	for name, change := range map[string]overlay.Change{
		"drain":  overlay.Drain{Cluster: "cluster-00000"},
		"label":  overlay.Label{Cluster: "cluster-00007", Key: "team", Value: "t8"},
		"unbind": overlay.WithoutBinding{Namespace: "ns1", Set: "all"},
		"all":    overlay.WithoutBinding{Set: "all"},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				after, err := overlay.Apply(world, noon, change)
				if err != nil {
					b.Fatal(err)
				}

				whatIf := explain.NewWhatIf(world, after, nil, noon)
				if !whatIf.Differs() {
					b.Fatalf("%s makes no difference", change)
				}
			}
		})
	}
}
