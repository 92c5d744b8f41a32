package scheduling

import (
	"math"

	corev1 "k8s.io/api/core/v1"

	"github.com/placement-hub/placement-hub/pkg/facts"
)

// The built-in prioritizers (upstream-placement.md 1.8).
const (
	Balance                   = "Balance"
	Steady                    = "Steady"
	ResourceAllocatableCPU    = "ResourceAllocatableCPU"
	ResourceAllocatableMemory = "ResourceAllocatableMemory"
)

var builtIns = []string{Balance, Steady, ResourceAllocatableCPU, ResourceAllocatableMemory}

// The conventional bounds of a score.
const (
	maxScore = 100
	minScore = -100
)

// Prioritizer is one weighted source of scores: a built-in one, or an entry of an AddOnPlacementScore.
type Prioritizer struct {
	// BuiltIn names a built-in prioritizer; empty for an AddOnPlacementScore.
	BuiltIn string
	// Resource is the name of the AddOnPlacementScore object in the namespace of each cluster, and Score the entry in it.
	Resource, Score string
	// Weight multiplies the scores, in [-10, 10] and not 0; negative prefers low scores.
	Weight int32
}

// Name is the built-in name, or "AddOn/<resource>/<score>".
func (p Prioritizer) Name() string {
	if p.BuiltIn != "" {
		return p.BuiltIn
	}

	return "AddOn/" + p.Resource + "/" + p.Score
}

func (p Prioritizer) sameCoordinate(other Prioritizer) bool {
	return p.BuiltIn == other.BuiltIn && p.Resource == other.Resource && p.Score == other.Score
}

func (p Prioritizer) reads() []facts.Key {
	switch p.BuiltIn {
	case ResourceAllocatableCPU:
		return []facts.Key{{Kind: facts.Resource, Name: string(corev1.ResourceCPU)}}
	case ResourceAllocatableMemory:
		return []facts.Key{{Kind: facts.Resource, Name: string(corev1.ResourceMemory)}}
	case "":
		return []facts.Key{{Kind: facts.Score, Name: p.Resource}}
	default: // Balance and Steady read decisions, which are no facts of a cluster.
		return nil
	}
}

// scores rates the feasible clusters; a cluster that is absent from the answer counts 0.
func (p Prioritizer) scores(e *evaluation, feasible []*facts.Facts) map[string]int64 {
	switch p.BuiltIn {
	case Balance:
		return e.balance(feasible)
	case Steady:
		return e.steady(feasible)
	case ResourceAllocatableCPU:
		return allocatable(feasible, string(corev1.ResourceCPU))
	case ResourceAllocatableMemory:
		return allocatable(feasible, string(corev1.ResourceMemory))
	default:
		return e.addOn(p, feasible)
	}
}

// balance prefers clusters that stand in few decisions of other placements, hub-wide.
func (e *evaluation) balance(feasible []*facts.Facts) map[string]int64 {
	counts := e.snapshot.Elsewhere(e.request.Key)
	highest := 0

	for _, count := range counts {
		highest = max(highest, count)
	}

	scores := make(map[string]int64, len(feasible))
	for _, f := range feasible {
		scores[f.Name] = maxScore
		if count := counts[f.Name]; count > 0 {
			scores[f.Name] = 2 * int64(maxScore*(0.5-float64(count)/float64(highest)))
		}
	}

	return scores
}

// steady prefers the clusters that this placement has selected already.
func (e *evaluation) steady(feasible []*facts.Facts) map[string]int64 {
	scores := make(map[string]int64, len(feasible))
	for _, f := range feasible {
		if e.incumbents[f.Name] {
			scores[f.Name] = maxScore
		} else {
			scores[f.Name] = 0
		}
	}

	return scores
}

// allocatable spreads the clusters over [-100, 100] by how much of a resource they have free, the richest at 100.
func allocatable(feasible []*facts.Facts, resource string) map[string]int64 {
	lowest, highest := math.Inf(1), math.Inf(-1)

	for _, f := range feasible {
		if amount, reported := f.Resources[resource]; reported {
			lowest, highest = min(lowest, amount), max(highest, amount)
		}
	}

	scores := make(map[string]int64, len(feasible))

	for _, f := range feasible {
		amount, reported := f.Resources[resource]
		if !reported {
			continue
		}

		scores[f.Name] = maxScore
		if highest > lowest {
			scores[f.Name] = int64(((amount-lowest)/(highest-lowest) - 0.5) * (maxScore - minScore))
		}
	}

	return scores
}

// addOn takes the scores as they are. An absent object or entry counts 0, and so does an expired one (ours.md C3).
func (e *evaluation) addOn(p Prioritizer, feasible []*facts.Facts) map[string]int64 {
	scores := make(map[string]int64, len(feasible))

	for _, f := range feasible {
		set, found := f.Scores[p.Resource]
		if !found {
			scores[f.Name] = 0

			continue
		}

		e.pass.WakeAfterExpiry(set.ValidUntil)

		if set.Expired(e.pass.Now) {
			scores[f.Name] = 0
			e.warnExpired(p, f.Name)

			continue
		}

		scores[f.Name] = int64(set.Values[p.Score])
	}

	return scores
}
