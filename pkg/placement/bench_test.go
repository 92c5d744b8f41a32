// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// replan runs the planner as one reconcile does.
func (s *store) replan(result *scheduling.Result, candidates []*api.Page) (Existing, Plan) {
	existing := NewExisting(s.codec(), s.placement, candidates)
	existing.Incumbents()
	return existing, NewPlan(result, existing, s.now)
}

// benchmark measures the plan of a result over the pages of the store, and expects that number of writes.
func (s *store) benchmark(b *testing.B, result *scheduling.Result, writes int) {
	b.Helper()
	candidates := s.existing().Pages
	b.ReportAllocs()
	for b.Loop() {
		if _, plan := s.replan(result, candidates); len(plan.Writes) != writes {
			b.Fatalf("%d writes, want %d: %v", len(plan.Writes), writes, steps(plan))
		}
	}
}

// settled returns a store of the clusters whose plan is empty.
func settled(b *testing.B, spec clusterv1beta1.PlacementSpec, clusters []string) *store {
	b.Helper()
	s := newStore(placementOf(spec))
	s.settle(b, s.schedule(shuffled(1, clusters...)))
	return s
}

// numbered returns c-00001 and so on.
func numbered(n int) []string {
	names := make([]string, 0, n)
	for i := range n {
		names = append(names, fmt.Sprintf("c-%05d", i+1))
	}
	return names
}

func BenchmarkPlan(b *testing.B) {
	for _, size := range []int{20, 830, 10000} {
		clusters := numbered(size)
		s := settled(b, clusterv1beta1.PlacementSpec{}, clusters)
		for _, change := range []struct {
			name     string
			clusters []string
			writes   int
		}{
			{"same", clusters, 0},
			{"lost", append(clusters[:size/2:size/2], clusters[size/2+1:]...), 1},
			{"gained", append(clusters[:size:size], "c-00001a"), 1},
		} {
			b.Run(fmt.Sprintf("%s/%d", change.name, size), func(b *testing.B) {
				s.benchmark(b, s.schedule(stateOf(change.clusters...)), change.writes)
			})
		}
	}
}

func BenchmarkPlanFirst(b *testing.B) {
	for _, size := range []int{20, 830, 10000} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			s := newStore(placementOf(clusterv1beta1.PlacementSpec{}))
			s.benchmark(b, s.schedule(stateOf(numbered(size)...)), (size+PageSize-1)/PageSize)
		})
	}
}

func BenchmarkPlanGroupsOfOne(b *testing.B) {
	const size = 2000
	spec := clusterv1beta1.PlacementSpec{DecisionStrategy: byPrefix(intstr.FromInt32(1))}
	b.Run("first", func(b *testing.B) {
		s := newStore(placementOf(spec))
		s.benchmark(b, s.schedule(stateOf(numbered(size)...)), size)
	})
	s := settled(b, spec, numbered(size))
	b.Run("same", func(b *testing.B) { s.benchmark(b, s.schedule(stateOf(numbered(size)...)), 0) })
	b.Run("lost", func(b *testing.B) { s.benchmark(b, s.schedule(stateOf(numbered(size)[1:]...)), 1) })
}

func BenchmarkPlanByScore(b *testing.B) {
	clusters := numbered(4000)
	s := settled(b, byScore("60s"), clusters)
	b.Run("same", func(b *testing.B) { s.benchmark(b, s.schedule(shuffled(1, clusters...)), 0) })
	b.Run("moved", func(b *testing.B) { s.benchmark(b, s.schedule(shuffled(2, clusters...)), 0) })
	s.at(time.Minute)
	result := s.schedule(shuffled(2, clusters...))
	b.Run("due", func(b *testing.B) { s.benchmark(b, result, len(s.plan(result).Writes)) })
}

// BenchmarkRead measures the conversion of API objects to pages.
func BenchmarkRead(b *testing.B) {
	codec := api.V1beta1.Codec()
	var objects []api.Object
	for n := range 9 {
		objects = append(objects, codec.Write(page(n+1, 0, "", numbered(93)...)))
	}
	b.ReportAllocs()

	for b.Loop() {
		for _, object := range objects {
			codec.Read(object)
		}
	}
}

// BenchmarkStatus measures the unchanged status of a Placement.
func BenchmarkStatus(b *testing.B) {
	for _, size := range []int{20, 830} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			s := settled(b, clusterv1beta1.PlacementSpec{DecisionStrategy: byPrefix(intstr.FromInt32(20))}, numbered(size))
			result := s.schedule(stateOf(numbered(size)...))
			plan := s.plan(result)
			b.ReportAllocs()
			for b.Loop() {
				if !sameStatus(s.placement.API, s.placement.Status, NewStatus(result, plan, s.placement, s.now)) {
					b.Fatal("the status is not settled")
				}
			}
		})
	}
}
