// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"testing"

	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// unsatisfiedPlacements want more clusters than the fleet has.
var unsatisfiedPlacements = []struct {
	name string
	spec placementSpec
}{
	{"clauses=1", placementSpec{Predicates: anyOf{byLabel("team", "t1")}}},
	{"clauses=2", placementSpec{Predicates: anyOf{byLabel("region", "r1", "zone", "z1")}}},
	{"clauses=2+2", placementSpec{Predicates: anyOf{byLabel("region", "r1", "zone", "z1"), byLabel("region", "r2", "zone", "z2")}}},
	{"predicates=3", placementSpec{Predicates: anyOf{byLabel("region", "r1"), byLabel("region", "r2"), byLabel("region", "r3")}}},
	{"CEL", placementSpec{Predicates: anyOf{byCEL(`managedCluster.metadata.labels["region"] == "r6"`)}}},
	{"tainted", placementSpec{Predicates: anyOf{byLabel("region", "r11")}}},
	{"spread", placementSpec{
		Predicates: anyOf{byLabel("region", "r8")},
		SpreadPolicy: clusterv1beta1.SpreadPolicy{SpreadConstraints: []clusterv1beta1.SpreadConstraintsTerm{
			over(clusterv1beta1.TopologyKeyTypeLabel, "zone", 1, clusterv1beta1.DoNotSchedule),
		}},
	}},
	{"spread of 10000", placementSpec{
		SpreadPolicy: clusterv1beta1.SpreadPolicy{SpreadConstraints: []clusterv1beta1.SpreadConstraintsTerm{
			over(clusterv1beta1.TopologyKeyTypeLabel, "fleet", 1, clusterv1beta1.DoNotSchedule),
			over(clusterv1beta1.TopologyKeyTypeClaim, "id", 1, clusterv1beta1.DoNotSchedule),
		}},
	}},
}

// BenchmarkCauses counts the rejections of an unsatisfied Placement over 10,000 clusters after a change that does not concern it. Compare
// with BenchmarkCausesOfReference.
func BenchmarkCauses(b *testing.B) {
	for _, placement := range unsatisfiedPlacements {
		b.Run(placement.name, func(b *testing.B) {
			i := fleet()
			placement.spec.NumberOfClusters = ptr.To[int32](fleetSize + 1)
			request, incumbents := fleetRequest(i, placement.spec)
			i.UpdateDependencies(request.Key, Schedule(request, i.SnapshotFor(request.Key), incumbents, now).Dependencies())
			version := int32(0)
			b.ReportAllocs()

			for b.Loop() {
				b.StopTimer()
				version++
				i.SetScores(fleetScore(0, version))
				result := Schedule(request, i.SnapshotFor(request.Key), incumbents, now)
				b.StartTimer()
				if len(result.Rejections()) == 0 {
					b.Fatal("no cause was found")
				}
			}
		})
	}
}

// BenchmarkTexts explains every one of 10,000 clusters.
func BenchmarkTexts(b *testing.B) {
	for _, placement := range fleetPlacements {
		b.Run(placement.name, func(b *testing.B) {
			i := fleet()
			request, incumbents := fleetRequest(i, placement.spec)
			result := Schedule(request, i.SnapshotFor(request.Key), incumbents, now)
			result.Verdicts() // They are computed once.
			b.ReportAllocs()
			for b.Loop() {
				texts := result.Texts()
				for _, verdict := range result.Verdicts() {
					if reason, _ := texts(verdict); reason == "" {
						b.Fatalf("%s has no reason", verdict.Cluster.Name)
					}
				}
			}
		})
	}
}

// BenchmarkCausesOfReference is BenchmarkCauses with the reference, which computes a verdict for every cluster.
func BenchmarkCausesOfReference(b *testing.B) {
	for _, placement := range unsatisfiedPlacements[:3] {
		b.Run(placement.name, func(b *testing.B) {
			i := fleet()
			placement.spec.NumberOfClusters = ptr.To[int32](fleetSize + 1)
			request, incumbents := fleetRequest(i, placement.spec)
			snapshot := i.SnapshotFor(request.Key)
			b.ReportAllocs()
			for b.Loop() {
				Reference(request, snapshot, incumbents, now).Rejections()
			}
		})
	}
}
