package scheduling

import (
	"math"

	corev1 "k8s.io/api/core/v1"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

// The built-in prioritizers (docs/spec/upstream-placement.md 1.8).
const (
	Balance                   = "Balance"
	Steady                    = "Steady"
	ResourceAllocatableCPU    = "ResourceAllocatableCPU"
	ResourceAllocatableMemory = "ResourceAllocatableMemory"
	SpreadScore               = "Spread" // docs/spec/differences.md D3
)

var builtIns = []string{Balance, Steady, ResourceAllocatableCPU, ResourceAllocatableMemory, SpreadScore}

// BuiltIns returns the names of the built-in prioritizers.
func BuiltIns() []string { return builtIns }

// The conventional bounds of a score.
const (
	maxScore = 100
	minScore = -100
)

// Prioritizer is a weighted source of scores: built-in, or an entry of an AddOnPlacementScore.
type Prioritizer struct {
	// BuiltIn names a built-in prioritizer; empty for an AddOnPlacementScore.
	BuiltIn string
	// Resource is the name of the AddOnPlacementScore object in the namespace of each cluster, and Score the entry in it.
	Resource, Score string
	// Weight multiplies the scores; it is in [-10, 10] and not 0. A negative weight prefers low scores.
	Weight int32
}

// Name returns the built-in name, or "AddOn/<resource>/<score>".
func (p Prioritizer) Name() string {
	if p.BuiltIn != "" {
		return p.BuiltIn
	}

	return "AddOn/" + p.Resource + "/" + p.Score
}

func (p Prioritizer) reads() []clusterinfo.Property {
	switch p.BuiltIn {
	case ResourceAllocatableCPU:
		return []clusterinfo.Property{{Kind: clusterinfo.Resource, Name: string(corev1.ResourceCPU)}}
	case ResourceAllocatableMemory:
		return []clusterinfo.Property{{Kind: clusterinfo.Resource, Name: string(corev1.ResourceMemory)}}
	case "":
		return []clusterinfo.Property{{Kind: clusterinfo.Score, Name: p.Resource}}
	default: // The others read decisions, which are no facts of a cluster.
		return nil
	}
}

// scopeReads returns the properties that the prioritizer reads of every cluster in scope: Spread counts the decisions in a domain,
// including those on clusters that are not feasible.
func (p Prioritizer) scopeReads(r *Request) []clusterinfo.Property {
	var keys []clusterinfo.Property

	if p.BuiltIn == SpreadScore {
		for _, constraint := range r.Spread {
			keys = append(keys, constraint.Key)
		}
	}

	return keys
}

// scores returns the scores of the feasible clusters, in their order, each in [-100, 100]. The weighted sum of as many scores as fit into
// an object is far from the bounds of int64.
func (p Prioritizer) scores(c *candidates) []int64 {
	switch p.BuiltIn {
	case Balance:
		return c.balance()
	case Steady:
		return c.steady()
	case ResourceAllocatableCPU:
		return c.allocatable(string(corev1.ResourceCPU))
	case ResourceAllocatableMemory:
		return c.allocatable(string(corev1.ResourceMemory))
	case SpreadScore:
		return c.spreadScore()
	default:
		return c.addOn(p)
	}
}

// hasScore reports whether the prioritizer has a score for the cluster. A cluster without a score counts as 0 and has no entry, as
// upstream.
func (p Prioritizer) hasScore(f *clusterinfo.ClusterInfo) bool {
	reported := true

	switch p.BuiltIn {
	case ResourceAllocatableCPU:
		_, reported = f.Resources[string(corev1.ResourceCPU)]
	case ResourceAllocatableMemory:
		_, reported = f.Resources[string(corev1.ResourceMemory)]
	}

	return reported
}

// normalize maps amounts linearly to [-100, 100], the highest to 100. Equal amounts all map to 100, fractions are truncated toward zero,
// and NaN, which means that there is no amount, maps to 0.
//
// The difference of any two amounts must be finite, as it is for clusterinfo.Resources: then the quotient is in [0, 1], and the conversion
// to an integer is the same on every architecture. No product is added to anything here, so that no compiler fuses two operations into one,
// which would round in another way.
func normalize(amounts []float64) []int64 {
	lowest, highest := math.Inf(1), math.Inf(-1)

	for _, amount := range amounts {
		if !math.IsNaN(amount) {
			lowest, highest = min(lowest, amount), max(highest, amount)
		}
	}

	scores := make([]int64, len(amounts))

	for i, amount := range amounts {
		switch {
		case math.IsNaN(amount):
		case highest > lowest:
			scores[i] = int64(((amount-lowest)/(highest-lowest) - 0.5) * (maxScore - minScore))
		default:
			scores[i] = maxScore
		}
	}

	return scores
}
