// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"fmt"
	"runtime"
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// placementsPerTeam is how many placements select each team, and how many clusters are in it; the rest of the hub is not affected by
// changes of the team.
const placementsPerTeam = 20

// benchCluster returns a cluster of typical size. The version is the resourceVersion of the object.
func benchCluster(n, version int) *clusterv1.ManagedCluster {
	cluster := managed(fmt.Sprintf("cluster-%05d", n), "all", "team", "t"+strconv.Itoa(n/placementsPerTeam), "region", "r"+strconv.Itoa(n%12))
	cluster.UID, cluster.ResourceVersion = "uid", strconv.Itoa(version)
	cluster.Status.Conditions = []metav1.Condition{
		{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue}, {Type: clusterv1.ManagedClusterConditionClockSynced},
	}
	cluster.Status.Capacity = clusterv1.ResourceList{"cpu": resource.MustParse("64"), "memory": resource.MustParse("256Gi")}
	cluster.Status.Allocatable = clusterv1.ResourceList{"cpu": resource.MustParse("60"), "memory": resource.MustParse("250Gi")}

	for claim := range 6 {
		name := fmt.Sprintf("claim-%d", claim)
		cluster.Status.ClusterClaims = append(cluster.Status.ClusterClaims, clusterv1.ManagedClusterClaim{Name: name, Value: "value"})
	}
	return cluster
}

func benchHub(
	b *testing.B, clusters, placements int, dependencies func(b *testing.B, compiler *selector.Compiler, team int) Dependencies,
) *Inventory {
	b.Helper()
	compiler := selector.NewCompiler()
	i := New(compiler)
	i.SetClusterSet(exclusive("all"))
	for n := range clusters {
		i.SetCluster(benchCluster(n, 0))
	}
	keys := make([]Key, 0, placements)

	for n := range placements {
		key := NewPlacementKey(V1beta1, fmt.Sprintf("ns%d", n%100), fmt.Sprintf("p%d", n))
		keys = append(keys, key)
		i.SetBinding(binding(key.Namespace, "all"))
		i.Subscribe(key, dependencies(b, compiler, n/placementsPerTeam))
	}
	i.SnapshotFor(keys...)
	return i
}

func benchDependencies(b *testing.B, compiler *selector.Compiler, team int) Dependencies {
	b.Helper()
	byTeam, errs := compiler.Compile(selector.Paths{}, selector.Spec{Labels: metav1.LabelSelector{
		MatchLabels: map[string]string{"team": "t" + strconv.Itoa(team)},
	}})
	if err := errs.ToAggregate(); err != nil {
		b.Fatal(err)
	}
	return Dependencies{Predicates: []*selector.Selector{byTeam}, Reads: []clusterinfo.Property{{Kind: clusterinfo.Taint}}}
}

// eachSize measures an event, where n counts the iterations, on hubs of several sizes, to show that the cost does not depend on clusters
// and placements that the event does not affect.
func eachSize(b *testing.B, affected int, event func(i *Inventory, n int) Affected) {
	b.Helper()
	eachSizeOf(b, benchDependencies, affected, event)
}

func eachSizeOf(b *testing.B, dependencies func(b *testing.B, compiler *selector.Compiler, team int) Dependencies, affected int,
	event func(i *Inventory, n int) Affected,
) {
	b.Helper()
	for _, size := range [][2]int{{1000, 1000}, {1000, 10_000}, {10_000, 1000}, {10_000, 10_000}} {
		b.Run(fmt.Sprintf("clusters=%d/placements=%d", size[0], size[1]), func(b *testing.B) {
			i := benchHub(b, size[0], size[1], dependencies)
			event(i, 1)
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				if got := len(event(i, n).Subscribers); got != affected {
					b.Fatalf("%d placements are affected, want %d", got, affected)
				}
			}
		})
	}
}

// BenchmarkHeartbeat updates a status without a change of any property that is read: it affects no placement.
func BenchmarkHeartbeat(b *testing.B) {
	states := [2]*clusterv1.ManagedCluster{benchCluster(7, 1), benchCluster(7, 2)}
	for n, state := range states {
		state.Status.Conditions[1].LastTransitionTime = metav1.NewTime(time.Unix(int64(n), 0))
	}
	eachSize(b, 0, func(i *Inventory, n int) Affected { return i.SetCluster(states[n%2]) })
}

// BenchmarkLabelChange moves a cluster out of a team and back: each change affects the twenty placements that select the team.
func BenchmarkLabelChange(b *testing.B) {
	states := [2]*clusterv1.ManagedCluster{benchCluster(7, 1), benchCluster(7, 2)}
	states[0].Labels["team"] = "nobody"
	eachSize(b, placementsPerTeam, func(i *Inventory, n int) Affected { return i.SetCluster(states[n%2]) })
}

// BenchmarkLabelChangeUnsatisfied is BenchmarkLabelChange with placements whose status depends on which of two clauses a cluster fails.
func BenchmarkLabelChangeUnsatisfied(b *testing.B) {
	states := [2]*clusterv1.ManagedCluster{benchCluster(7, 1), benchCluster(7, 2)}
	states[0].Labels["team"] = "nobody"
	eachSizeOf(b, unsatisfiedDependencies, placementsPerTeam, func(i *Inventory, n int) Affected { return i.SetCluster(states[n%2]) })
}

// unsatisfiedDependencies returns the dependencies of an unsatisfied placement with two clauses.
func unsatisfiedDependencies(b *testing.B, compiler *selector.Compiler, team int) Dependencies {
	b.Helper()
	both, errs := compiler.Compile(selector.Paths{}, selector.Spec{Labels: metav1.LabelSelector{
		MatchLabels: map[string]string{"region": "r7", "team": "t" + strconv.Itoa(team)},
	}})
	if err := errs.ToAggregate(); err != nil {
		b.Fatal(err)
	}
	return Dependencies{
		Predicates: []*selector.Selector{both}, Reads: []clusterinfo.Property{{Kind: clusterinfo.Taint}}, WatchRejected: true,
		Clauses: [][]*selector.Selector{both.Clauses()},
	}
}

// BenchmarkTaintChange adds and removes a taint of a cluster that twenty placements may select.
func BenchmarkTaintChange(b *testing.B) {
	states := [2]*clusterv1.ManagedCluster{benchCluster(7, 1), benchCluster(7, 2)}
	states[0].Spec.Taints = []clusterv1.Taint{{Key: "out", Effect: clusterv1.TaintEffectNoSelect}}
	eachSize(b, placementsPerTeam, func(i *Inventory, n int) Affected { return i.SetCluster(states[n%2]) })
}

// BenchmarkJoinAndLeave adds and deletes a cluster in turns.
func BenchmarkJoinAndLeave(b *testing.B) {
	comes := benchCluster(99_999, 1)
	comes.Labels["team"] = "t0"
	eachSize(b, placementsPerTeam, func(i *Inventory, n int) Affected {
		if n%2 == 0 {
			return i.SetCluster(comes)
		}
		return i.DeleteCluster(comes.Name)
	})
}

// BenchmarkSnapshot takes a snapshot after one label of one cluster has changed, including the change.
func BenchmarkSnapshot(b *testing.B) {
	states := [2]*clusterv1.ManagedCluster{benchCluster(7, 1), benchCluster(7, 2)}
	states[0].Labels["team"] = "nobody"
	eachSize(b, placementsPerTeam, func(i *Inventory, n int) Affected {
		defer i.Snapshot()
		return i.SetCluster(states[n%2])
	})
}

// benchPage returns a page of 100 decisions, of which the last cluster depends on the version.
func benchPage(n, version int) Page {
	page := decided("ns"+strconv.Itoa(n%100), fmt.Sprintf("p%d-decision-1", n), "p"+strconv.Itoa(n))
	for at := range 99 {
		page.Clusters = append(page.Clusters, fmt.Sprintf("cluster-%05d", (n*100+at)%10_000))
	}
	page.Clusters = append(page.Clusters, fmt.Sprintf("cluster-%05d", (n*100+99+version%2)%10_000))
	return page
}

// BenchmarkSetDecision changes one cluster in a page of 100.
func BenchmarkSetDecision(b *testing.B) {
	i := benchHub(b, 10_000, 1000, benchDependencies)
	pages := [2]Page{benchPage(7, 0), benchPage(7, 1)}
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		i.SetDecision(pages[n%2])
		i.Snapshot()
	}
}

// BenchmarkMemory reports the memory that the inventory needs for one more cluster (without the object), placement and decision.
func BenchmarkMemory(b *testing.B) {
	for b.Loop() {
		var i *Inventory
		objects := make([]*clusterv1.ManagedCluster, 10_000)
		for n := range objects {
			objects[n] = benchCluster(n, 0)
		}

		measure(b, len(objects), "B/cluster", func() {
			i = New(selector.NewCompiler())
			i.SetClusterSet(exclusive("all"))
			for _, object := range objects {
				i.SetCluster(object)
			}
			i.Snapshot()
		})

		measure(b, 10_000, "B/placement", func() {
			for n := range 10_000 {
				key := NewPlacementKey(V1beta1, "ns"+strconv.Itoa(n%100), "p"+strconv.Itoa(n))
				i.Subscribe(key, benchDependencies(b, i.compiler, n))
				i.SnapshotFor(key)
			}
		})

		measure(b, 1000*100, "B/decision", func() {
			for n := range 1000 {
				i.SetDecision(benchPage(n, 0))
			}
			i.Snapshot()
		})

		runtime.KeepAlive(i)
	}
}

func measure(b *testing.B, of int, unit string, fill func()) {
	b.Helper()
	held := func() uint64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	before := held()
	fill()
	b.ReportMetric(float64(held()-before)/float64(of), unit)
}
