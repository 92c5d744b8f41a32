// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// ReplicaCluster is a selected cluster of a workload.
type ReplicaCluster struct {
	Name string
	// Available reports whether the ManagedCluster is available.
	Available bool
	// Planned is how many replicas its ManifestWork asks for now, and Ready how many of them are ready; 0 without a work.
	Planned, Ready int32
}

// share is a cluster in the course of a plan.
type share struct {
	ReplicaCluster
	Preference

	hash    uint64
	planned int32
	// preallocated is the part of planned that the cluster has for its ready replicas and that none of its shares has used up.
	preallocated int32
}

// replan distributes the replicas of a workload that may have works already. While each cluster has what it gets without ready replicas, that
// stays, so that neither the order in which clusters become ready nor a restart of their Pods moves replicas (docs/spec/trust.md T15).
func replan(key inventory.Key, total int32, preferences Preferences, clusters []ReplicaCluster) map[string]int32 {
	unready := make([]ReplicaCluster, 0, len(clusters))
	for _, cluster := range clusters {
		cluster.Ready = 0
		unready = append(unready, cluster)
	}
	even := PlanReplicas(key, total, preferences, unready)
	if !slices.ContainsFunc(clusters, func(c ReplicaCluster) bool { return c.Planned != even[c.Name] }) {
		return even
	}
	return PlanReplicas(key, total, preferences, clusters)
}

// PlanReplicas distributes the replicas of the workload that key identifies (docs/spec/federated-selector.md 3.1.6). The result has each of
// the clusters, whose names differ, and its sum does not exceed total. A cluster that is not available keeps what it has before the others
// get any, as far as its maximum and total allow.
func PlanReplicas(key inventory.Key, total int32, preferences Preferences, clusters []ReplicaCluster) map[string]int32 {
	plan := make(map[string]int32, len(clusters))
	remaining := max(total, 0)
	var shares []*share
	for _, cluster := range clusters {
		plan[cluster.Name] = 0
		if preference, found := preferences.of(cluster.Name); found {
			shares = append(shares, &share{ReplicaCluster: cluster, Preference: preference, hash: hashOf(cluster.Name, key)})
		}
	}

	slices.SortFunc(shares, func(a, b *share) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.hash, b.hash), cmp.Compare(a.Name, b.Name))
	})
	var available []*share

	for _, s := range shares {
		if s.Available {
			available = append(available, s)
		} else {
			remaining -= s.raise(s.Planned, remaining)
		}
	}
	for _, s := range available {
		remaining -= s.raise(s.MinReplicas, remaining)
	}

	if !preferences.Rebalance {
		for _, s := range available {
			s.preallocated = s.raise(s.Ready, remaining)
			remaining -= s.preallocated
		}
	}
	distribute(available, remaining)
	for _, s := range shares {
		plan[s.Name] = s.planned
	}
	return plan
}

// of returns the Preference of a cluster, and whether it has one.
func (p *Preferences) of(cluster string) (Preference, bool) {
	preference, found := p.Clusters[cluster]
	if !found {
		preference, found = p.Clusters[anyCluster]
	}
	return preference, found
}

// raise plans up to wanted replicas for the cluster, within its maximum and the remaining replicas, and returns how many that adds.
func (s *share) raise(wanted, remaining int32) int32 {
	if s.MaxReplicas != nil {
		wanted = min(wanted, *s.MaxReplicas)
	}
	added := min(max(wanted-s.planned, 0), remaining)
	s.planned += added
	return added
}

// distribute adds the remaining replicas by weight, rounding each share up. A share first uses up the preallocated replicas of its cluster. A
// cluster that reaches its maximum leaves the next rounds.
func distribute(shares []*share, remaining int32) {
	for remaining > 0 {
		before, last := remaining, len(shares)
		var weights int64
		for _, s := range shares {
			weights += int64(s.Weight)
		}
		if weights == 0 {
			return
		}
		left := make([]*share, 0, len(shares))

		for _, s := range shares {
			due := min(s.due(before, weights), remaining)
			free := due - s.use(due)
			added := s.raise(s.planned+free, remaining)
			remaining -= added
			if added == free {
				left = append(left, s)
			}
		}

		if shares = left; remaining == before && len(shares) == last {
			useRounds(shares, remaining, weights)
		}
	}
}

// useRounds uses up preallocated replicas for all those further rounds at once in which every share consists of them. The number of rounds is
// thus bounded whatever replicas an object asks for.
func useRounds(shares []*share, remaining int32, weights int64) {
	rounds := int32(math.MaxInt32)
	for _, s := range shares {
		if due := s.due(remaining, weights); due > 0 {
			rounds = min(rounds, s.preallocated/due)
		}
	}
	for _, s := range shares {
		s.use(rounds * s.due(remaining, weights))
	}
}

// due returns the share of the cluster in the remaining replicas.
func (s *share) due(remaining int32, weights int64) int32 {
	// Both factors are below 2^31, and the sum of weights is far below 2^62: there is no overflow.
	return int32((int64(remaining)*int64(s.Weight) + weights - 1) / weights)
}

// use takes up to a number of preallocated replicas, and returns how many.
func (s *share) use(most int32) int32 {
	used := min(most, s.preallocated)
	s.preallocated -= used
	return used
}

// hashOf orders clusters of equal weight differently for each object, so that single replicas do not all get to the same cluster.
func hashOf(cluster string, key inventory.Key) uint64 {
	sum := sha256.Sum256([]byte(strings.Join([]string{cluster, string(key.GroupKind), key.Namespace, key.Name}, "\x00")))
	return binary.BigEndian.Uint64(sum[:])
}
