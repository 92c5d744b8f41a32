// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"fmt"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/pkg/selector"
)

// TestAssumedResultReplacesPages checks that an assumed result counts at once and until it is forgotten, and that pages which change
// meanwhile do not count.
func TestAssumedResultReplacesPages(t *testing.T) {
	i, p, q := New(selector.NewCompiler()), NewPlacementKey(V1beta1, "ns1", "p"), NewPlacementKey(V1beta1, "ns1", "q")
	page := func(name string, clusters ...string) Page { return decided("ns1", name, "p", clusters...) }
	for _, step := range []struct {
		reason string
		do     func()
		want   map[string]int
	}{
		{"pages count", func() { i.SetDecision(page("p1", "a", "b")) }, map[string]int{"a": 1, "b": 1}},
		{"a result is assumed", func() { i.Assume(p, []string{"b", "c"}) }, map[string]int{"b": 1, "c": 1}},
		{"half of it is written", func() { i.SetDecision(page("p1", "a", "b", "c")) }, map[string]int{"b": 1, "c": 1}},
		{"another result is assumed", func() { i.Assume(p, []string{"d"}) }, map[string]int{"d": 1}},
		{"it is taken back to what stands, where a cluster moves", func() { i.Assume(p, []string{"a", "b", "b"}) }, map[string]int{"a": 1, "b": 2}},
		{"nothing is assumed any more", func() { i.ForgetAssumed(p) }, map[string]int{"a": 1, "b": 1, "c": 1}},
		{"once more", func() { i.ForgetAssumed(p) }, map[string]int{"a": 1, "b": 1, "c": 1}},
		{"that nothing is selected is assumed", func() { i.Assume(p, nil) }, map[string]int{}},
		{"the page goes", func() { i.DeleteDecision(page("p1").Key) }, map[string]int{}},
		{"and nothing is left", func() { i.ForgetAssumed(p) }, map[string]int{}},
	} {
		step.do()
		s := i.Snapshot()
		for name, counts := range map[string]map[string]int{"elsewhere": s.DecisionCounts(q), "neighbours": s.NamespaceDecisionCounts(q)} {
			if diff := cmp.Diff(step.want, counts); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", step.reason, name, diff)
			}
		}
		if own := s.DecisionCounts(p); len(own) > 0 {
			t.Errorf("%s: p counts its own clusters: %v", step.reason, own)
		}
	}

	if len(i.ids.byName) > 0 || len(i.decisions.byOwner) > 0 || len(i.decisions.counted.live) > 0 {
		t.Errorf("left are the names %v and the pages %v", maps.Clone(i.ids.byName), i.decisions.counted.live)
	}
}

// TestWhatStandsIsCountedForNothing checks that what a snapshot shares of the totals is copied only where a result that is assumed changes them.
func TestWhatStandsIsCountedForNothing(t *testing.T) {
	i, p := New(selector.NewCompiler()), NewPlacementKey(V1beta1, "ns1", "p")
	clusters := make([]string, 3*chunkSize)
	for n := range clusters {
		clusters[n] = fmt.Sprintf("c%d", n)
		i.SetCluster(managed(clusters[n], "s"))
	}
	i.SetDecision(decided("ns1", "p1", "p", clusters...))
	for _, tc := range []struct {
		reason string
		do     func()
		copied int
	}{
		{"what stands", func() { i.Assume(p, clusters) }, 0},
		{"without one", func() { i.Assume(p, clusters[1:]) }, 1},
		{"the pages count again", func() { i.ForgetAssumed(p) }, 1},
	} {
		before := i.Snapshot().totals.chunks
		tc.do()
		copied := 0
		for n, after := range i.Snapshot().totals.chunks {
			if after != before[n] {
				copied++
			}
		}
		if copied != tc.copied {
			t.Errorf("%s: %d of %d parts of the totals were copied, want %d", tc.reason, copied, len(before), tc.copied)
		}
	}
}

// TestIDsAreReused checks that a new cluster has the id of one that is in no use any more.
func TestIDsAreReused(t *testing.T) {
	i := New(selector.NewCompiler())
	for _, name := range []string{"a", "b", "c"} {
		i.SetCluster(managed(name, "s"))
		if id := i.clusters.live[name]; id != 0 {
			t.Errorf("the only cluster has the id %d, want 0", id)
		}
		i.DeleteCluster(name)
	}
}
