// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"iter"
	"slices"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

// SpreadScore is the name of a prioritizer in the Placement API (docs/spec/differences.md D3).
const SpreadScore = "Spread"

// spreadPrioritizer reads the keys of every cluster in scope, because it counts the decisions in a domain, including those on clusters that
// are not feasible.
var spreadPrioritizer = &prioritizerPlugin{
	name: SpreadScore, readsDecisions: true, relative: true,
	scopeReads: (*Request).spreadKeys,
	scores:     func(c *candidates, _ Prioritizer) iter.Seq2[int, int64] { return slices.All(c.spreadScore()) },
}

// spreadScore prefers clusters whose domains have few decisions of the other Placements of the namespace (docs/spec/differences.md D3), so
// that Placements that are spread over the same keys do not select the same few domains.
//
// The score depends on the number of decisions of the other Placements, of any API, on clusters with the same value of a key, summed over
// the distinct keys of the spread constraints; a decision that shares two domains with a cluster counts twice. Only decisions on clusters
// in scope that are not terminating count, because the Placement is not subscribed to other clusters. A cluster without the key counts like
// the fullest domain of a feasible cluster, because spreading selects it last as well (docs/spec/differences.md D2).
//
// The score is linear in the sum: the feasible clusters with the lowest have 100, those with the highest -100, fractions are truncated
// toward zero, and all have 100 when their sums are equal. Without spread constraints there are no domains, and all have 0.
//
// As with Balance, changes of other decisions do not enqueue a Placement: its next evaluation reads them.
func (c *candidates) spreadScore() []int64 {
	keys := c.request.spreadKeys()
	if len(keys) == 0 {
		return nil
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

// spreadKeys returns the distinct keys of the spread constraints.
func (r *Request) spreadKeys() []clusterinfo.Property {
	var keys []clusterinfo.Property
	for _, constraint := range r.Spread {
		if !slices.Contains(keys, constraint.Key) {
			keys = append(keys, constraint.Key)
		}
	}
	return keys
}

// domainDecisions returns, for each feasible cluster, the number of decisions in its domain of a key.
func (c *candidates) domainDecisions(key clusterinfo.Property, decisions map[string]int) []int {
	domains := map[string]int{}
	for info := range c.available {
		if domain, found := info.Value(key); found {
			domains[domain] += decisions[info.Name]
		}
	}
	feasible := c.domains(key)
	loads, fullest := make([]int, len(c.clusters)), 0

	for i, domain := range feasible.of {
		if domain != noDomain {
			loads[i] = domains[feasible.names[domain]]
			fullest = max(fullest, loads[i])
		}
	}

	for i, domain := range feasible.of {
		if domain == noDomain {
			loads[i] = fullest
		}
	}
	return loads
}
