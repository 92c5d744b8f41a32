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

	hash uint64
	// planned is how many replicas the cluster has so far, and least how many of them it has by its minimum.
	planned, least int32
}

// PlanReplicas distributes the replicas of the workload that key identifies (docs/spec/federated-selector.md 3.1.6). The result has each of
// the clusters, whose names differ, and its sum does not exceed total. A cluster that is not available keeps what it has before the others
// get any, as far as its maximum and total allow.
//
// Every step fills the clusters in an order that does not depend on total, and that another cluster does not change. So a larger total takes
// no replica from a cluster, and a cluster that leaves or becomes unavailable takes none from the others.
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
		s.least = s.planned
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

// limit returns the most replicas that the cluster may have.
func (s *share) limit() int32 {
	if s.MaxReplicas != nil {
		return *s.MaxReplicas
	}
	return math.MaxInt32
}

// raise plans up to wanted replicas for the cluster, within its maximum and the remaining replicas, and returns how many that adds.
func (s *share) raise(wanted, remaining int32) int32 {
	added := min(max(min(wanted, s.limit())-s.planned, 0), remaining)
	s.planned += added
	return added
}

// distribute adds the remaining replicas by weight, by the method of Webster and Sainte-Laguë: each replica goes to the cluster with the
// highest weight/(2n+1), where n is what the cluster has beyond its minimum, and among equals to the first one. A cluster at its maximum gets
// no more.
//
// It does not take the replicas one by one, because their number is up to an int32. The clusters are first raised to the highest level at
// which the replicas suffice, and the next level adds at most one replica to each.
func distribute(shares []*share, remaining int32) {
	shares = slices.DeleteFunc(slices.Clone(shares), func(s *share) bool { return s.Weight == 0 })
	var level int64
	for bit := int64(1) << 62; bit > 0; bit >>= 1 {
		if addedAt(shares, level|bit) <= int64(remaining) {
			level |= bit
		}
	}

	remaining -= int32(addedAt(shares, level))
	for _, s := range shares {
		s.planned = s.at(level)
	}
	if level == math.MaxInt64 { // Every cluster is at its maximum.
		return
	}
	next := slices.DeleteFunc(shares, func(s *share) bool { return s.at(level+1) == s.planned })
	slices.SortStableFunc(next, compareQuotients)
	for _, s := range next[:remaining] {
		s.planned++
	}
}

// addedAt returns how many replicas a level adds to what is planned.
func addedAt(shares []*share, level int64) int64 {
	var added int64
	for _, s := range shares {
		added += int64(s.at(level) - s.planned)
	}
	return added
}

// at returns how many replicas the cluster has at a level, which is the number of replicas per weight in units of 2^-32: weight times level,
// rounded to the nearest number, beyond its minimum. That is not less than planned, and not more than its maximum.
func (s *share) at(level int64) int32 {
	const half = 1 << 31
	beyond := int64(math.MaxInt32)
	if level <= (math.MaxInt64-half)/int64(s.Weight) { // A higher level would be more than an int32, too.
		beyond = (level*int64(s.Weight) + half) >> 32
	}
	return int32(max(int64(s.planned), min(int64(s.least)+beyond, int64(s.limit()))))
}

// compareQuotients puts the cluster first that gets the next replica.
func compareQuotients(a, b *share) int {
	// Weights are below 2^31 and the other factors below 2^32: there is no overflow.
	odd := func(s *share) int64 { return 2*int64(s.planned-s.least) + 1 }
	return cmp.Compare(odd(a)*int64(b.Weight), odd(b)*int64(a.Weight))
}

// hashOf orders clusters of equal weight differently for each object, so that single replicas do not all get to the same cluster.
func hashOf(cluster string, key inventory.Key) uint64 {
	sum := sha256.Sum256([]byte(strings.Join([]string{cluster, string(key.GroupKind), key.Namespace, key.Name}, "\x00")))
	return binary.BigEndian.Uint64(sum[:])
}
