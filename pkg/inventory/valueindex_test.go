// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/selector"
	"github.com/placement-hub/placement-hub/test/property"
)

// TestValueIndexFollowsTheClusters checks that after any events the index has the current values of the clusters, and that a view is built
// only from clusters that can match.
func TestValueIndexFollowsTheClusters(t *testing.T) {
	compiler := selector.NewCompiler()

	compile := func(t *rapid.T, spec selector.Spec) *selector.Selector {
		compiled, errs := compiler.Compile(selector.Paths{}, spec)
		if err := errs.ToAggregate(); err != nil {
			t.Fatal(err)
		}
		return compiled
	}

	property.Check(t, func(t *rapid.T) {
		eu := compile(t, selector.Spec{Labels: metav1.LabelSelector{MatchLabels: map[string]string{"region": "eu"}}})
		named := compile(t, selector.Spec{Name: "c2"})
		i, there := New(compiler), noObjects()
		key := NewPlacementKey(V1beta1, "ns1", "p")
		i.Subscribe(key, Dependencies{Predicates: []*selector.Selector{eu, named}})
		i.SnapshotFor(key)

		for range rapid.IntRange(1, 25).Draw(t, "events") {
			there.event(t, i)
			for key, kept := range i.views.index.byKey {
				plain := newValueIndex()
				plain.add(key)
				plain.build(i.eachCluster)
				for _, all := range []map[string][]uint32{plain.byKey[key].ids, kept.ids} {
					for value := range all {
						slices.Sort(all[value])
					}
				}

				if diff := cmp.Diff(plain.byKey[key].ids, kept.ids); diff != "" {
					t.Fatalf("values of %v (-of the clusters +kept):\n%s", key, diff)
				}
			}
		}

		for _, one := range []*selector.Selector{eu, named} {
			ids, narrow := i.views.index.candidates(one, i.idOf)
			matching := i.views.byIdentity[one.Identity()].matches.bits.Count()
			if !narrow || uint(len(ids)) != matching {
				t.Fatalf("%v matches %d clusters, and %d are asked: %v", one, matching, len(ids), narrow)
			}
		}
		i.Unsubscribe(key)

		if _, kept := i.views.index.byKey[eu.Reads()[0]]; kept && i.members["b"] == nil && i.members["a"] == nil {
			t.Fatal("values are kept without a view that requires them")
		}
	})
}

// TestCandidatesAreTheFewest checks that a view is built from the clusters of the required value that the fewest clusters have.
func TestCandidatesAreTheFewest(t *testing.T) {
	for _, tc := range []struct {
		reason string
		counts map[string]int
		want   int
	}{
		{"the first label", map[string]int{"a": 1, "b": 2}, 1},
		{"the second label", map[string]int{"a": 2, "b": 1}, 1},
		{"no cluster has the first label", map[string]int{"a": 0, "b": 2}, 0},
		{"no cluster has the second label", map[string]int{"a": 2, "b": 0}, 0},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			index, required := newValueIndex(), map[string]string{}
			for label, count := range tc.counts {
				key := clusterinfo.Property{Kind: clusterinfo.Label, Name: label}
				index.add(key)
				for id := range uint(count) {
					index.byKey[key].add("x", id)
				}
				required[label] = "x"
			}
			by := compiled(t, selector.Spec{Labels: metav1.LabelSelector{MatchLabels: required}})
			ids, limited := index.candidates(by, func(string) (uint, bool) { return 0, false })
			if len(ids) != tc.want || !limited {
				t.Errorf("%d candidates, limited: %t, want %d", len(ids), limited, tc.want)
			}
		})
	}
}
