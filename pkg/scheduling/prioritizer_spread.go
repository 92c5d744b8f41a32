package scheduling

import (
	"slices"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

// spreadScore prefers clusters whose domains hold few decisions of the other placements of the namespace (docs/spec/differences.md D3), so
// that placements that are spread over the same keys do not all meet in the same few domains.
//
// The load of a cluster is a sum over the distinct keys of the spread constraints: how many decisions of the other placements, of whatever
// API, stand on clusters with the same value of the key. A decision that shares two of its domains is twice as near and counts twice. Only
// decisions on clusters in scope that are not terminating are seen: a placement does not look outside its scope, and what it does not look
// at cannot wake it. A cluster without the key counts as if it were in the fullest domain of a feasible cluster, for spreading takes it
// last as well (docs/spec/differences.md D2).
//
// The score is linear in the load: the feasible clusters with the least have 100, those with the most -100, fractions are cut off toward
// zero, and all have 100 when their loads are equal. Without spread constraints there are no domains to tell apart, and all have 0.
//
// As with Balance, decisions that change elsewhere do not wake a placement: it sees them when it is evaluated next.
func (c *candidates) spreadScore() []int64 {
	keys := c.spreadKeys()
	if len(keys) == 0 {
		return make([]int64, len(c.clusters))
	}

	room := make([]float64, len(c.clusters))
	counts := c.snapshot.NamespaceDecisionCounts(c.request.Key)

	for _, key := range keys {
		for i, count := range c.domainDecisions(key, counts) {
			room[i] -= float64(count)
		}
	}

	return normalize(room)
}

// spreadKeys are the keys of the spread constraints, each once.
func (c *candidates) spreadKeys() []clusterinfo.Property {
	var keys []clusterinfo.Property

	for _, constraint := range c.request.Spread {
		if !slices.Contains(keys, constraint.Key) {
			keys = append(keys, constraint.Key)
		}
	}

	return keys
}

// domainDecisions counts for each feasible cluster the decisions in its domain of a key.
func (c *candidates) domainDecisions(key clusterinfo.Property, decisions map[string]int) []int {
	domains := map[string]int{}

	for f := range c.available {
		if domain, found := f.Value(key); found {
			domains[domain] += decisions[f.Name]
		}
	}

	loads, fullest := make([]int, len(c.clusters)), 0

	for i, f := range c.clusters {
		if domain, found := f.Value(key); found {
			loads[i] = domains[domain]
			fullest = max(fullest, domains[domain])
		}
	}

	for i, f := range c.clusters {
		if _, found := f.Value(key); !found {
			loads[i] = fullest
		}
	}

	return loads
}
