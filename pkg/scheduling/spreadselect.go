// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

// selectSpread selects clusters one by one: of the ranked clusters that no hard constraint forbids, the cluster whose domains have the
// lexicographically smallest counts, then the better ranked. It stops at the wanted number, or when no cluster is allowed.
//
// Clusters with the same domains differ only in their rank, so only the best remaining cluster of each such bucket is compared.
func selectSpread(
	constraints []SpreadConstraint, domainsOf func(clusterinfo.Property) *domains, ranked []Verdict, wanted int,
) (chosen []int, spreads []Spread) {
	layouts, buckets := newBuckets(constraints, domainsOf, ranked)
	for len(chosen) < wanted {
		for i := range layouts {
			layouts[i].fewest = layouts[i].minSelected()
		}
		var best *bucket
		for _, b := range buckets {
			if len(b.left) > 0 && b.allowed(layouts) && (best == nil || b.compare(best, layouts) < 0) {
				best = b
			}
		}

		if best == nil {
			break
		}
		chosen = append(chosen, best.left[0])
		best.selectFirst(layouts, ranked[best.left[0]].Cluster)
	}

	for i := range layouts {
		spreads = append(spreads, layouts[i].spread())
	}
	return chosen, spreads
}

// noDomain is the number of the domain of a cluster that does not have the key.
const noDomain = -1

// domains are the values of a key of all candidates. Many Requests share them, because reading the labels of a large fleet takes longer than
// ranking it.
type domains struct {
	names []string
	// of has the index of the name by the index of the candidate; noDomain for a candidate without the key.
	of []int32
}

func (c *candidates) findDomains(key clusterinfo.Property) *domains {
	found, numbers := &domains{of: make([]int32, len(c.clusters))}, map[string]int32{}
	for i, info := range c.clusters {
		name, has := info.Value(key)
		if !has {
			found.of[i] = noDomain
			continue
		}
		number, known := numbers[name]
		if !known {
			number = int32(len(found.names))
			numbers[name], found.names = number, append(found.names, name)
		}
		found.of[i] = number
	}
	return found
}

// bytes estimates the size.
func (d *domains) bytes() int {
	const perCandidate, perName = 4, 32
	return len(d.of)*perCandidate + len(d.names)*perName
}

// domainState counts the clusters selected so far by domain of a constraint. It numbers only the domains of the ranked clusters.
type domainState struct {
	constraint SpreadConstraint
	all        *domains
	// numbers has the number by the index in all; noDomain for a domain of no ranked cluster. names has the index by the number.
	numbers  []int
	names    []int32
	selected []int
	without  []string
	fewest   int
}

func newDomainState(constraint SpreadConstraint, all *domains) domainState {
	return domainState{constraint: constraint, all: all, numbers: slices.Repeat([]int{noDomain}, len(all.names))}
}

// domain returns the number of the domain of a candidate.
func (d *domainState) domain(candidate int) int {
	name := d.all.of[candidate]
	if name == noDomain {
		return noDomain
	}
	if d.numbers[name] == noDomain {
		d.numbers[name] = len(d.names)
		d.names, d.selected = append(d.names, name), append(d.selected, 0)
	}
	return d.numbers[name]
}

// minSelected returns the number of selected clusters in the emptiest domain; 0 without any domain.
func (d *domainState) minSelected() int {
	if len(d.selected) == 0 {
		return 0
	}
	return slices.Min(d.selected)
}

func (d *domainState) spread() Spread {
	s := Spread{Constraint: d.constraint, Selected: make(map[string]int, len(d.names)), Without: d.without}
	for number, name := range d.names {
		s.Selected[d.all.names[name]] = d.selected[number]
	}
	slices.Sort(s.Without)
	return s
}

// bucket has the remaining clusters with the same domains, by their index among the ranked clusters, best first.
type bucket struct {
	domains []int
	left    []int
}

func newBuckets(
	constraints []SpreadConstraint, domainsOf func(clusterinfo.Property) *domains, ranked []Verdict,
) ([]domainState, []*bucket) {
	layouts := make([]domainState, 0, len(constraints))
	for _, constraint := range constraints {
		layouts = append(layouts, newDomainState(constraint, domainsOf(constraint.Key)))
	}
	var (
		buckets []*bucket
		key     []byte
	)
	known := map[string]*bucket{}
	domains := make([]int, len(layouts))

	for i, verdict := range ranked {
		key = key[:0]
		for j := range layouts {
			domains[j] = layouts[j].domain(verdict.candidate)
			key = append(strconv.AppendInt(key, int64(domains[j]), 10), ',')
		}
		b := known[string(key)]
		if b == nil {
			b = &bucket{domains: slices.Clone(domains)}
			known[string(key)], buckets = b, append(buckets, b)
		}

		b.left = append(b.left, i)
	}

	return layouts, buckets
}

// allowed reports whether no hard constraint forbids another cluster of the bucket.
func (b *bucket) allowed(layouts []domainState) bool {
	for i, domain := range b.domains {
		d := &layouts[i]
		if d.constraint.Hard && (domain == noDomain || d.selected[domain]+1-d.fewest > d.constraint.MaxSkew) {
			return false
		}
	}
	return true
}

// compare orders buckets by the counts of their domains, in the order of the constraints, and then by their best cluster.
func (b *bucket) compare(other *bucket, layouts []domainState) int {
	for i := range layouts {
		if order := cmp.Compare(b.domainCount(&layouts[i], i), other.domainCount(&layouts[i], i)); order != 0 {
			return order
		}
	}
	return cmp.Compare(b.left[0], other.left[0])
}

// domainCount returns the number of selected clusters in the domain of a constraint; a missing domain counts as the fullest.
func (b *bucket) domainCount(d *domainState, constraint int) int {
	if b.domains[constraint] == noDomain {
		return math.MaxInt
	}
	return d.selected[b.domains[constraint]]
}

func (b *bucket) selectFirst(layouts []domainState, info *clusterinfo.ClusterInfo) {
	b.left = b.left[1:]
	for i, domain := range b.domains {
		if domain == noDomain {
			layouts[i].without = append(layouts[i].without, info.Name)
		} else {
			layouts[i].selected[domain]++
		}
	}
}
