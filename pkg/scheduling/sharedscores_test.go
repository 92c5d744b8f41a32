// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/selector"
	"github.com/placement-hub/placement-hub/test/property"
)

// TestSharedScoresAreThoseOfTheRequest checks that Requests with the same sets and predicates, which share scores, domains and lists of clusters,
// have the results of the reference although they tolerate different taints and are spread over different keys.
func TestSharedScoresAreThoseOfTheRequest(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		clusters := []*clusterv1.ManagedCluster{}
		for n := range rapid.IntRange(1, 8).Draw(t, "clusters") {
			cluster := reporting(fmt.Sprintf("c%d", n), resource.MustParse(rapid.SampledFrom([]string{"1", "2", "8", "64"}).Draw(t, "cpu")))
			cluster.Labels["zone"] = rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "zone")
			for _, key := range []string{"a", "b"} {
				if rapid.IntRange(0, 2).Draw(t, "tainted") == 0 {
					cluster.Spec.Taints = append(cluster.Spec.Taints, clusterv1.Taint{Key: key, Effect: rapid.SampledFrom([]clusterv1.TaintEffect{
						clusterv1.TaintEffectNoSelect, clusterv1.TaintEffectNoSelectIfNew, clusterv1.TaintEffectPreferNoSelect,
					}).Draw(t, "effect")})
				}
			}
			clusters = append(clusters, cluster)
		}
		hub := newRandomHub(clusters...)
		requests := []*Request{}
		for n := range 4 {
			placement := placementOf(placementSpec{
				NumberOfClusters:  ptr.To(rapid.Int32Range(0, 5).Draw(t, "number")),
				PrioritizerPolicy: exact(builtIn(ResourceAllocatableCPU, 1)),
			})
			for _, key := range []string{"a", "b"} {
				if rapid.Bool().Draw(t, "tolerates") {
					placement.Spec.Tolerations = append(placement.Spec.Tolerations, clusterv1beta1.Toleration{
						Key: key, Operator: clusterv1beta1.TolerationOpExists,
					})
				}
			}
			for _, key := range []string{"zone", "missing"} {
				if rapid.IntRange(0, 2).Draw(t, "spread") == 0 {
					placement.Spec.SpreadPolicy.SpreadConstraints = append(placement.Spec.SpreadPolicy.SpreadConstraints, over(
						clusterv1beta1.TopologyKeyTypeLabel, key, 1, rapid.SampledFrom([]clusterv1beta1.UnsatisfiableMaxSkewAction{
							clusterv1beta1.DoNotSchedule, clusterv1beta1.ScheduleAnyway,
						}).Draw(t, "unsatisfiable")))
				}
			}
			placement.Name = fmt.Sprintf("p%d", n)
			request := ConvertV1beta1(selector.NewCompiler(), placement)
			hub.inventory.Subscribe(request.Key, request.Dependencies())
			requests = append(requests, request)
		}
		keys := []inventory.Key{}
		for _, request := range requests {
			keys = append(keys, request.Key)
		}
		for range 2 {
			snapshot := hub.inventory.SnapshotFor(keys...)
			for _, request := range requests {
				incumbents := map[string]bool{}
				for _, cluster := range clusters {
					if rapid.IntRange(0, 3).Draw(t, "incumbent") == 0 {
						incumbents[cluster.Name] = true
					}
				}
				same(t, request, snapshot, incumbents)
			}
			hub.inventory.SetCluster(reporting("c0", resource.MustParse("32")))
		}
	})
}
