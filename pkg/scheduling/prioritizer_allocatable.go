// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"iter"
	"math"
	"slices"

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
		scores: func(c *candidates, _ Prioritizer) iter.Seq2[int, int64] {
			return slices.All(c.shared(name, func() []int64 { return c.allocatable(string(resource)) }))
		},
		hasScore: func(info *clusterinfo.ClusterInfo) bool {
			_, reported := info.Resources[string(resource)]
			return reported
		},
	}
}

// The highest amounts that count: no cluster has more, and of larger numbers a float distinguishes no units.
const (
	maxCores  = 1e9
	maxAmount = 1 << 53
)

// allocatable prefers clusters with a high allocatable amount of a resource. A cluster that does not report it has no score. One that
// reports more than any cluster has gets the lowest score, and leaves those of the others unmoved (docs/spec/differences.md C2).
func (c *candidates) allocatable(resource string) []int64 {
	amounts := make([]float64, len(c.clusters))

	most := float64(maxAmount)
	if resource == string(corev1.ResourceCPU) {
		most = maxCores
	}
	var beyond []int

	for i, info := range c.clusters {
		amounts[i] = math.NaN()
		if amount, reported := info.Resources[resource]; reported {
			if math.Abs(amount) <= most {
				amounts[i] = amount
			} else {
				beyond = append(beyond, i)
			}
		}
	}

	scores := normalize(amounts)
	for _, i := range beyond {
		scores[i] = minScore
	}
	return scores
}
