// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// fleetSize is the number of clusters in the benchmarks: 830 in each of twelve regions, 20 in each of 500 teams.
const fleetSize = 10_000

// fleetCluster returns cluster n. In region r11 every tenth cluster is tainted.
func fleetCluster(n int) *clusterv1.ManagedCluster {
	cluster := named(fmt.Sprintf("cluster-%05d", n), clusterv1beta2.ClusterSetLabel, "all", "fleet", "f", "env", fmt.Sprintf("e%d", n%3),
		"region", fmt.Sprintf("r%d", n%12), "team", fmt.Sprintf("t%d", n%500), "zone", fmt.Sprintf("z%d", n/12%5))
	cluster.UID, cluster.ResourceVersion = "uid", "1"
	cluster.Status.ClusterClaims = []clusterv1.ManagedClusterClaim{
		{Name: "id", Value: fmt.Sprintf("id-%d", n)}, {Name: "platform", Value: fmt.Sprintf("p%d", n%12)},
	}
	cluster.Status.Capacity = clusterv1.ResourceList{"cpu": resource.MustParse("64"), "memory": resource.MustParse("256Gi")}
	cluster.Status.Allocatable = clusterv1.ResourceList{
		"cpu": resource.MustParse(strconv.Itoa(1 + n%61)), "memory": resource.MustParse(fmt.Sprintf("%dGi", 1+n%199)),
	}
	cluster.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue}}

	if n%12 == 11 && n/12%10 == 0 {
		cluster.Spec.Taints = []clusterv1.Taint{taint("maintenance", "", noSelect)}
	}
	return cluster
}

// fleet returns an inventory of all clusters, with scores and the decisions of 100 other Placements. It is created once.
var fleet = sync.OnceValue(func() *inventory.Inventory {
	i := inventory.New(selector.NewCompiler())
	i.SetClusterSet(setOf("all", clusterv1beta2.ExclusiveClusterSetLabel, nil))
	i.SetBinding(bindingOf("ns", "all"))
	pages := make([][]string, 100)
	for n := range fleetSize {
		cluster := fleetCluster(n)
		i.SetCluster(cluster)
		i.SetScores(fleetScore(n, 0))
		pages[n%17] = append(pages[n%17], cluster.Name)
	}

	for n, clusters := range pages {
		i.SetDecision(pageOf("others", fmt.Sprintf("p%d-decision-1", n), fmt.Sprintf("p%d", n), clusters...))
	}

	// There are other placements that ask for the same keys.
	other := placementOf(placementSpec{Predicates: anyOf{
		byLabel("team", "t0"), byLabel("region", "r0"), byLabel("fleet", "g"), byClaim(compare("platform", metav1.LabelSelectorOpIn, "p0")),
	}})
	other.Namespace = "others"
	request := ConvertV1beta1(selector.NewCompiler(), other)
	i.Subscribe(request.Key, request.Dependencies())
	i.SnapshotFor(request.Key)
	return i
})

func fleetScore(n int, version int32) *clusterv1alpha1.AddOnPlacementScore {
	return scoreOf(fmt.Sprintf("cluster-%05d", n), "demo", &metav1.Time{Time: now.Add(time.Hour)},
		clusterv1alpha1.AddOnPlacementScoreItem{Name: "load", Value: int32(n%101) - version%2})
}

// fleetPlacements are the placements that the benchmarks evaluate.
var fleetPlacements = []struct {
	name string
	spec placementSpec
}{
	{"label=20", placementSpec{Predicates: anyOf{byLabel("team", "t1")}}},
	{"label=830", placementSpec{Predicates: anyOf{byLabel("region", "r1")}}},
	{"label=10000", placementSpec{Predicates: anyOf{byLabel("fleet", "f")}}},
	{"claim=830", placementSpec{Predicates: anyOf{byClaim(compare("platform", metav1.LabelSelectorOpIn, "p2"))}}},
	{"label+claim=830", placementSpec{Predicates: anyOf{require(clusterv1beta1.ClusterSelector{
		LabelSelector: byLabel("region", "r3").RequiredClusterSelector.LabelSelector,
		ClaimSelector: byClaim(compare("platform", metav1.LabelSelectorOpNotIn, "p4")).RequiredClusterSelector.ClaimSelector,
	})}}},
	{"everything", placementSpec{}},
	{"best=10of830", placementSpec{Predicates: anyOf{byLabel("region", "r5")}, NumberOfClusters: ptr.To[int32](10)}},
	{"best=10of10000", placementSpec{NumberOfClusters: ptr.To[int32](10)}},
	{"CEL=830", placementSpec{Predicates: anyOf{byCEL(`managedCluster.metadata.labels["region"] == "r6"`)}}},
	{"label+CEL=830", placementSpec{Predicates: anyOf{require(clusterv1beta1.ClusterSelector{
		LabelSelector: byLabel("region", "r7").RequiredClusterSelector.LabelSelector,
		CelSelector:   byCEL(`managedCluster.metadata.labels["zone"] != "z9"`).RequiredClusterSelector.CelSelector,
	})}}},
	{"tainted=747of830", placementSpec{Predicates: anyOf{byLabel("region", "r11")}}},
	{"spread=100of830", placementSpec{
		Predicates: anyOf{byLabel("region", "r8")}, NumberOfClusters: ptr.To[int32](100),
		SpreadPolicy: clusterv1beta1.SpreadPolicy{SpreadConstraints: []clusterv1beta1.SpreadConstraintsTerm{
			over(clusterv1beta1.TopologyKeyTypeLabel, "zone", 1, clusterv1beta1.DoNotSchedule),
		}},
	}},
	{"score=10of830", placementSpec{
		Predicates: anyOf{byLabel("region", "r9")}, NumberOfClusters: ptr.To[int32](10),
		PrioritizerPolicy: exact(addOn("demo", "load", 1)),
	}},
	{"resources=10of830", placementSpec{
		Predicates: anyOf{byLabel("region", "r10")}, NumberOfClusters: ptr.To[int32](10),
		PrioritizerPolicy: exact(builtIn(ResourceAllocatableCPU, 1), builtIn(ResourceAllocatableMemory, 1)),
	}},
}

// fleetRequest returns the Request of a subscribed Placement of the fleet, and its decisions as incumbents.
func fleetRequest(i *inventory.Inventory, spec placementSpec) (*Request, map[string]bool) {
	request := ConvertV1beta1(selector.NewCompiler(), placementOf(spec))
	i.Subscribe(request.Key, request.Dependencies())
	incumbents := map[string]bool{}
	for _, f := range Schedule(request, i.SnapshotFor(request.Key), nil, now).Selected {
		incumbents[f.Name] = true
	}
	return request, incumbents
}

// BenchmarkSchedule evaluates a Placement over 10,000 clusters after a change that does not concern it, so that no cached result is valid.
func BenchmarkSchedule(b *testing.B) {
	for _, placement := range fleetPlacements {
		b.Run(placement.name, func(b *testing.B) {
			i := fleet()
			request, incumbents := fleetRequest(i, placement.spec)
			version := int32(0)
			b.ReportAllocs()

			for b.Loop() {
				b.StopTimer()
				version++
				i.SetScores(fleetScore(0, version))
				snapshot := i.SnapshotFor(request.Key)
				b.StartTimer()
				Schedule(request, snapshot, incumbents, now)
			}
		})
	}
}

// BenchmarkScheduleRecalled is BenchmarkSchedule when only decisions have changed since an equal Placement was evaluated.
func BenchmarkScheduleRecalled(b *testing.B) {
	for _, placement := range fleetPlacements {
		b.Run(placement.name, func(b *testing.B) {
			i := fleet()
			request, incumbents := fleetRequest(i, placement.spec)
			twin := placementOf(placement.spec)
			twin.Name = "twin"
			shared := ConvertV1beta1(selector.NewCompiler(), twin)
			i.Subscribe(shared.Key, shared.Dependencies())
			snapshot := i.SnapshotFor(request.Key, shared.Key)
			b.ReportAllocs()

			for b.Loop() {
				Schedule(request, snapshot, incumbents, now)
			}
			i.Unsubscribe(shared.Key)
		})
	}
}

// BenchmarkReference is BenchmarkSchedule with the reference.
func BenchmarkReference(b *testing.B) {
	for _, placement := range fleetPlacements {
		b.Run(placement.name, func(b *testing.B) {
			i := fleet()
			request, incumbents := fleetRequest(i, placement.spec)
			snapshot := i.SnapshotFor(request.Key)
			b.ReportAllocs()
			for b.Loop() {
				Reference(request, snapshot, incumbents, now)
			}
		})
	}
}

// BenchmarkScheduleAfterCEL changes a property of a cluster that the expression reads, and measures the event, the Snapshot and the
// evaluation.
func BenchmarkScheduleAfterCEL(b *testing.B) {
	i := fleet()
	request, incumbents := fleetRequest(i, placementSpec{Predicates: anyOf{byCEL(`managedCluster.metadata.labels["env"] == "e1"`)}})
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		cluster := fleetCluster(5000)
		cluster.Labels["env"], cluster.ResourceVersion = fmt.Sprintf("e%d", n%2), ""
		i.SetCluster(cluster)
		Schedule(request, i.SnapshotFor(request.Key), incumbents, now)
	}
}

// BenchmarkFirstSnapshot subscribes a Placement and takes its first Snapshot, which evaluates its selector on the clusters.
func BenchmarkFirstSnapshot(b *testing.B) {
	for _, placement := range fleetPlacements {
		b.Run(placement.name, func(b *testing.B) {
			i := fleet()
			request := ConvertV1beta1(selector.NewCompiler(), placementOf(placement.spec))
			interest := request.Dependencies()
			b.ReportAllocs()
			for b.Loop() {
				i.Unsubscribe(request.Key)
				i.Subscribe(request.Key, interest)
				i.SnapshotFor(request.Key)
			}
		})
	}
}

// BenchmarkScheduleAfterJoin adds or deletes a cluster in each round, and measures the event, the Snapshot and the evaluation.
func BenchmarkScheduleAfterJoin(b *testing.B) {
	for _, placement := range fleetPlacements[:2] {
		b.Run(placement.name, func(b *testing.B) {
			i := fleet()
			request, incumbents := fleetRequest(i, placement.spec)
			comes := fleetCluster(fleetSize + 1)
			b.ReportAllocs()

			for n := 0; b.Loop(); n++ {
				if n%2 == 0 {
					i.SetCluster(comes)
				} else {
					i.DeleteCluster(comes.Name)
				}
				Schedule(request, i.SnapshotFor(request.Key), incumbents, now)
			}
			i.DeleteCluster(comes.Name)
		})
	}
}
