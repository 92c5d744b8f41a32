// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/placementtest/cases"
	"github.com/placement-hub/placement-hub/pkg/explain/whatif"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// DefaultLimit is how many combinations of clusters are tried at most, unless a case says otherwise.
const DefaultLimit = 10_000

// combinations are the clusters that fail together, each combination by itself.
type combinations struct {
	each iter.Seq[[]string]
	// tried is the number of combinations that each yields, and of the number that there are. seed is set if they were chosen.
	tried, of uint64
	seed      *uint64
}

// combinationsOf returns the combinations that a case asks for. The names are those of all clusters, sorted.
func combinationsOf(f *cases.Failure, names []string, snapshot *inventory.Snapshot) (*combinations, error) {
	switch {
	case len(f.Clusters) > 0:
		return &combinations{each: one(f.Clusters), tried: 1, of: 1}, nil
	case f.Topology != "":
		return byTopology(f, names, snapshot)
	}
	size, limit := f.Any, uint64(cmp.Or(f.Limit, DefaultLimit))
	if f.Random > 0 {
		size, limit = f.Random, uint64(cmp.Or(f.Limit, 1))
	}
	if size > len(names) {
		return nil, fmt.Errorf("asks for combinations of %d clusters, and there are %d clusters", size, len(names))
	}
	of := binomial(len(names), size)
	if f.Any > 0 && of <= limit {
		return &combinations{each: allOf(names, size), tried: of, of: of}, nil
	}
	chosen := choose(names, size, min(limit, of), f.Seed)
	return &combinations{each: slices.Values(chosen), tried: uint64(len(chosen)), of: of, seed: &f.Seed}, nil
}

func one(names []string) iter.Seq[[]string] {
	return func(yield func([]string) bool) { yield(names) }
}

// byTopology returns the clusters of each value of a label or claim.
func byTopology(f *cases.Failure, names []string, snapshot *inventory.Snapshot) (*combinations, error) {
	key, byValue := property(f.Topology, f.TopologyType), map[string][]string{}
	for _, name := range names {
		if info := snapshot.Cluster(name); info != nil {
			if value, has := info.Value(key); has {
				byValue[value] = append(byValue[value], name)
			}
		}
	}
	if len(byValue) == 0 {
		return nil, fmt.Errorf("no cluster has the %s, so that nothing is lost", key)
	}
	count := uint64(len(byValue))
	return &combinations{tried: count, of: count, each: func(yield func([]string) bool) {
		for _, value := range slices.Sorted(maps.Keys(byValue)) {
			if !yield(byValue[value]) {
				return
			}
		}
	}}, nil
}

// binomial returns the number of combinations, at most the greatest uint64.
func binomial(of, size int) uint64 {
	result := uint64(1)
	for i := range uint64(min(size, of-size)) {
		high, low := bits.Mul64(result, uint64(of)-i)
		if high > i {
			return math.MaxUint64
		}
		result, _ = bits.Div64(high, low, i+1)
	}
	return result
}

// allOf yields all combinations in the order of the names. A caller may keep what is yielded.
func allOf(names []string, size int) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		at := make([]int, size)
		for i := range at {
			at[i] = i
		}
		for {
			combination := make([]string, size)
			for i, n := range at {
				combination[i] = names[n]
			}
			if !yield(combination) {
				return
			}
			last := size - 1
			for last >= 0 && at[last] == len(names)-size+last {
				last--
			}
			if last < 0 {
				return
			}
			at[last]++
			for i := last + 1; i < size; i++ {
				at[i] = at[i-1] + 1
			}
		}
	}
}

// choose returns different combinations that a seed chooses.
func choose(names []string, size int, count, seed uint64) [][]string {
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // It has to be repeatable.
	known := map[string]bool{}
	var chosen [][]string
	const attempts = 50 // for each combination: nearly all of them are wanted where that many do not suffice
	for range count * attempts {
		if uint64(len(chosen)) == count {
			break
		}
		picked := map[int]bool{}
		for len(picked) < size {
			picked[random.IntN(len(names))] = true
		}
		combination := make([]string, 0, size)
		for _, n := range slices.Sorted(maps.Keys(picked)) {
			combination = append(combination, names[n])
		}
		if id := strings.Join(combination, ","); !known[id] {
			known[id] = true
			chosen = append(chosen, combination)
		}
	}
	return chosen
}

// longestToleration returns how long the Placements of a State tolerate a taint at most, and a second more.
func longestToleration(state *explain.State) time.Duration {
	longest := time.Duration(0)
	for _, object := range state.Placements {
		placement, is := object.(*clusterv1beta1.Placement)
		if !is {
			continue
		}
		for _, toleration := range placement.Spec.Tolerations {
			if seconds := toleration.TolerationSeconds; seconds != nil {
				longest = max(longest, time.Duration(min(*seconds, int64(math.MaxInt64/time.Second)-1))*time.Second)
			}
		}
	}
	return longest + time.Second
}

// failing returns the changes by which clusters fail together.
func failing(when *cases.When, clusters []string, ago time.Duration) []whatif.Change {
	changes := make([]whatif.Change, 0, len(clusters))
	for _, cluster := range clusters {
		if when.Lost != nil {
			changes = append(changes, whatif.Lose{Cluster: cluster, Ago: ago})
		} else {
			changes = append(changes, whatif.Remove{Cluster: cluster})
		}
	}
	return changes
}

// textOf returns "lose c7 and lose c8".
func textOf(changes []whatif.Change) string {
	texts := make([]string, 0, len(changes))
	for _, change := range changes[:min(len(changes), namesShown)] {
		texts = append(texts, change.String())
	}
	text := strings.Join(texts, " and ")
	if more := len(changes) - namesShown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
