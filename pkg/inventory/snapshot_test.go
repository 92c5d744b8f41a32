// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// TestSortedByName checks that clusters are sorted by name, whatever their ids are, and that the order of all clusters is computed only to
// sort many.
func TestSortedByName(t *testing.T) {
	for _, tc := range []struct {
		reason   string
		clusters int
		order    bool
	}{
		{"none", 0, false},
		{"as many as are sorted directly", maxDirectSort, false},
		{"one more", maxDirectSort + 1, true},
		{"more than fit in a chunk", 2*chunkSize + 1, true},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			i := New(selector.NewCompiler())
			var want []string
			for n := range tc.clusters {
				name := fmt.Sprintf("c%03d", tc.clusters-n)
				i.SetCluster(managed(name, "a"))
				want = append(want, name)
			}
			slices.Sort(want)
			snapshot, ordered := i.Snapshot(), false
			computed := snapshot.order
			snapshot.order = func() *order {
				ordered = true
				return computed()
			}

			var got []string
			for _, id := range snapshot.SortedByName(snapshot.alive) {
				got = append(got, snapshot.ClusterInfo(id).Name)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
			if ordered != tc.order {
				t.Errorf("the order of all clusters is computed: %t, want %t", ordered, tc.order)
			}
		})
	}
}

// TestTainted checks that the clusters with taints are known after events and after Rebuild.
func TestTainted(t *testing.T) {
	i := New(selector.NewCompiler())
	tainted := managed("c1", "a")
	tainted.Spec.Taints = []clusterv1.Taint{{Key: "gpu"}}
	i.SetCluster(tainted)
	i.SetCluster(managed("c2", "a"))
	for _, step := range []struct {
		reason string
		do     func()
	}{{"after events", func() {}}, {"after Rebuild", i.Rebuild}} {
		step.do()
		s := i.Snapshot()
		if diff := cmp.Diff([]string{"c1"}, s.namesOf(s.Tainted(s.alive))); diff != "" {
			t.Errorf("%s: clusters (-want +got):\n%s", step.reason, diff)
		}
	}
}

// TestMatchCELLimitsOneSelector checks that the cost of other selectors does not count for the limit of a selector.
func TestMatchCELLimitsOneSelector(t *testing.T) {
	i, by := New(selector.NewCompiler()), comparing(t, `managedCluster.metadata.labels["zone"] != "c"`)
	i.SetCluster(managed("c1", "a", "zone", "a"))
	i.Subscribe(Key{}, Dependencies{Predicates: []*selector.Selector{by}})
	known := i.SnapshotFor(Key{})
	i.Unsubscribe(Key{})
	for reason, snapshot := range map[string]*Snapshot{"with a view": known, "without a view": i.Snapshot()} {
		evaluation := &selector.EvalContext{}
		evaluation.Charge(selector.MaxSelectorCost)
		snapshot.MatchCEL(by, snapshot.alive.Clone(), evaluation, func(*clusterinfo.ClusterInfo, selector.Verdict) {})
		if evaluation.Exhausted() || evaluation.Cost() <= selector.MaxSelectorCost {
			t.Errorf("%s: exhausted at a cost of %d: %t", reason, evaluation.Cost(), evaluation.Exhausted())
		}
	}
}
