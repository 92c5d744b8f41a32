// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"fmt"
	"runtime"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// heapInUse returns the number of reachable bytes.
func heapInUse() int64 {
	runtime.GC()
	runtime.GC() // Finalizers and pools free what they hold at the second one.
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// broad returns the Request of a Placement that selects all clusters except those of a team that does not exist.
func broad(compiler *selector.Compiler, n int, team string) *Request {
	placement := placementOf(placementSpec{Predicates: anyOf{require(clusterv1beta1.ClusterSelector{LabelSelector: metav1.LabelSelector{
		MatchExpressions: requirements{compare("team", metav1.LabelSelectorOpNotIn, team)},
	}})}})
	placement.Name = fmt.Sprintf("p%d", n)
	return ConvertV1beta1(compiler, placement)
}

// A Placement that shares no cached result needs as much memory after its evaluation as before, apart from its index, and none after its
// deletion.
func TestUnsharedResultsAreNotKept(t *testing.T) {
	const (
		clusters   = 2000
		placements = 1000
		answer     = clusters * 16 // what an answer that names all clusters takes at least
	)
	compiler := selector.NewCompiler()
	i := inventory.New(compiler)
	i.SetClusterSet(setOf("all", clusterv1beta2.ExclusiveClusterSetLabel, nil))
	i.SetBinding(bindingOf("ns", "all"))

	for n := range clusters {
		i.SetCluster(fleetCluster(n))
	}
	evaluate := func(n int) inventory.Key {
		request := broad(compiler, n, fmt.Sprintf("nobody-%d", n))
		i.Subscribe(request.Key, request.Dependencies())
		if result := Schedule(request, i.SnapshotFor(request.Key), nil, now); len(result.Selected) == 0 {
			t.Fatal("no cluster is selected")
		}
		return request.Key
	}

	keys := make([]inventory.Key, 0, placements)
	i.Unsubscribe(evaluate(0))
	before := heapInUse()
	for n := range placements {
		keys = append(keys, evaluate(n))
	}
	if grown := heapInUse() - before; grown > placements*answer/4 {
		t.Errorf("%d placements hold %d bytes each, about as much as an answer, %d", placements, grown/placements, answer)
	}

	for _, key := range keys {
		i.Unsubscribe(key)
	}
	for n := range placements {
		i.Unsubscribe(evaluate(placements + n))
	}
	if grown := heapInUse() - before; grown > placements*answer/16 {
		t.Errorf("%d placements that are gone hold %d bytes each", placements, grown/placements)
	}
	runtime.KeepAlive(i)
}
