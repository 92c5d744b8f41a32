package scheduling

import (
	"math"

	corev1 "k8s.io/api/core/v1"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

// Names of prioritizers in the Placement API (docs/spec/upstream-placement.md 1.8).
const (
	ResourceAllocatableCPU    = "ResourceAllocatableCPU"
	ResourceAllocatableMemory = "ResourceAllocatableMemory"
)

func allocatablePrioritizer(name string, resource corev1.ResourceName) *prioritizerPlugin {
	return &prioritizerPlugin{
		name: name, relative: true,
		reads: func(Prioritizer) []clusterinfo.Property {
			return []clusterinfo.Property{{Kind: clusterinfo.Resource, Name: string(resource)}}
		},
		scores: func(c *candidates, _ Prioritizer) []int64 { return c.allocatable(string(resource)) },
		hasScore: func(f *clusterinfo.ClusterInfo) bool {
			_, reported := f.Resources[string(resource)]

			return reported
		},
	}
}

// allocatable prefers clusters with a high allocatable amount of a resource. A cluster that does not report it has no score.
func (c *candidates) allocatable(resource string) []int64 {
	amounts := make([]float64, len(c.clusters))

	for i, f := range c.clusters {
		amounts[i] = math.NaN()
		if amount, reported := f.Resources[resource]; reported {
			amounts[i] = amount
		}
	}

	return normalize(amounts)
}
