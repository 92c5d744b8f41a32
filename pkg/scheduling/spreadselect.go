package scheduling

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

// selectSpread takes clusters one by one out of the ranked ones: of those that no hard constraint forbids, the one whose domains have the
// lexicographically smallest counts, then the better ranked one. It stops at so many as are wanted, or when none is allowed.
//
// Clusters with the same domains are interchangeable but for their rank, so only the best one left of each such bucket is looked at.
func selectSpread(constraints []SpreadConstraint, ranked []Verdict, wanted int) (chosen []int, spreads []Spread) {
	layouts, buckets := newBuckets(constraints, ranked)

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

// domainState is how the clusters that are taken lie over the domains of one constraint. Domains are numbered.
type domainState struct {
	constraint SpreadConstraint
	numbers    map[string]int
	selected   []int
	without    []string
	fewest     int
}

// noDomain is the number of the domain of a cluster that does not have the key.
const noDomain = -1

func (l *domainState) domain(f *clusterinfo.ClusterInfo) int {
	name, found := l.constraint.domain(f)
	if !found {
		return noDomain
	}

	number, known := l.numbers[name]
	if !known {
		number = len(l.selected)
		l.numbers[name], l.selected = number, append(l.selected, 0)
	}

	return number
}

// minSelected is how many clusters are taken in the domain with the fewest; 0 without any domain.
func (l *domainState) minSelected() int {
	if len(l.selected) == 0 {
		return 0
	}

	return slices.Min(l.selected)
}

func (l *domainState) spread() Spread {
	s := Spread{Constraint: l.constraint, Selected: make(map[string]int, len(l.numbers)), Without: l.without}
	for name, number := range l.numbers {
		s.Selected[name] = l.selected[number]
	}

	slices.Sort(s.Without)

	return s
}

// bucket is what is left of the clusters that have the same domains, by their index among the ranked ones, best first.
type bucket struct {
	domains []int
	left    []int
}

func newBuckets(constraints []SpreadConstraint, ranked []Verdict) ([]domainState, []*bucket) {
	layouts := make([]domainState, 0, len(constraints))
	for _, constraint := range constraints {
		layouts = append(layouts, domainState{constraint: constraint, numbers: map[string]int{}})
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
			domains[j] = layouts[j].domain(verdict.Cluster)
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

// allowed reports whether no hard constraint forbids one more of the bucket.
func (b *bucket) allowed(layouts []domainState) bool {
	for i, domain := range b.domains {
		l := &layouts[i]
		if l.constraint.Hard && (domain == noDomain || l.selected[domain]+1-l.fewest > l.constraint.MaxSkew) {
			return false
		}
	}

	return true
}

// compare orders buckets by how full their domains are, in the order of the constraints, and then by their best cluster.
func (b *bucket) compare(other *bucket, layouts []domainState) int {
	for i := range layouts {
		if order := cmp.Compare(b.domainCount(&layouts[i], i), other.domainCount(&layouts[i], i)); order != 0 {
			return order
		}
	}

	return cmp.Compare(b.left[0], other.left[0])
}

// domainCount is how full the domain of a constraint is; one that the clusters do not have counts as fullest.
func (b *bucket) domainCount(l *domainState, constraint int) int {
	if b.domains[constraint] == noDomain {
		return math.MaxInt
	}

	return l.selected[b.domains[constraint]]
}

func (b *bucket) selectFirst(layouts []domainState, f *clusterinfo.ClusterInfo) {
	b.left = b.left[1:]

	for i, domain := range b.domains {
		if domain == noDomain {
			layouts[i].without = append(layouts[i].without, f.Name)
		} else {
			layouts[i].selected[domain]++
		}
	}
}
