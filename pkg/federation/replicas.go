package federation

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
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
			remaining -= s.raise(s.Ready, remaining)
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

// distribute adds the remaining replicas by weight, rounding each share up. A cluster that reaches its maximum leaves the next rounds.
func distribute(shares []*share, remaining int32) {
	for before := int32(-1); remaining > 0 && remaining != before; {
		before = remaining

		var weights int64
		for _, s := range shares {
			weights += int64(s.Weight)
		}

		if weights == 0 {
			return
		}

		left := make([]*share, 0, len(shares))

		for _, s := range shares {
			// Both factors are below 2^31, and the sum of weights is far below 2^62: there is no overflow.
			due := int32((int64(before)*int64(s.Weight) + weights - 1) / weights)
			due = min(due, remaining)

			added := s.raise(s.planned+due, remaining)
			remaining -= added

			if added == due {
				left = append(left, s)
			}
		}

		shares = left
	}
}

// hashOf orders clusters of equal weight differently for each object, so that single replicas do not all get to the same cluster.
func hashOf(cluster string, key inventory.Key) uint64 {
	sum := sha256.Sum256([]byte(strings.Join([]string{cluster, string(key.GroupKind), key.Namespace, key.Name}, "\x00")))

	return binary.BigEndian.Uint64(sum[:])
}
