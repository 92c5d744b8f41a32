// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// docs/spec/upstream-placement.md 1.9: rules in their order, then the remaining clusters; sorted by name, cut into groups of the group
// length.
func TestGroups(t *testing.T) {
	mixed := []string{"x-2", "canary-2", "next-1", "x-1", "canary-1", "x-3"}
	for _, tc := range []struct {
		reason   string
		strategy clusterv1beta1.DecisionStrategy
		wanted   *int32
		clusters []string
		want     []string
	}{
		{"no strategy is one group", clusterv1beta1.DecisionStrategy{}, nil, mixed, []string{`0 "" [canary-1 canary-2 next-1 x-1 x-2 x-3]`}},
		{"100% is one group", byPrefix(intstr.FromString("100%")), nil, mixed, []string{`0 "" [canary-1 canary-2 next-1 x-1 x-2 x-3]`}},
		{"none selected is one empty group", byPrefix(intstr.FromInt32(2), "canary"), nil, nil, []string{`0 "" []`}},
		{"none wanted is one empty group", byPrefix(intstr.FromInt32(2), "canary"), ptr.To(int32(0)), mixed, []string{`0 "" []`}},
		{"a canary group, then the rest", byPrefix(intstr.FromString("100%"), "canary"), nil, mixed,
			[]string{`0 "canary" [canary-1 canary-2]`, `1 "" [next-1 x-1 x-2 x-3]`}},
		{"a canary group of which none is selected reserves no index", byPrefix(intstr.FromString("100%"), "nobody", "canary"), nil, mixed,
			[]string{`0 "canary" [canary-1 canary-2]`, `1 "" [next-1 x-1 x-2 x-3]`}},
		{"several groups in the order of the spec", byPrefix(intstr.FromString("100%"), "next", "canary"), nil, mixed,
			[]string{`0 "next" [next-1]`, `1 "canary" [canary-1 canary-2]`, `2 "" [x-1 x-2 x-3]`}},
		{"no rest, no group of the rest", byPrefix(intstr.FromString("100%"), "next", "canary", "x"), nil, mixed,
			[]string{`0 "next" [next-1]`, `1 "canary" [canary-1 canary-2]`, `2 "x" [x-1 x-2 x-3]`}},
		{"only a size", byPrefix(intstr.FromInt32(4)), nil, mixed, []string{`0 "" [canary-1 canary-2 next-1 x-1]`, `1 "" [x-2 x-3]`}},
		{"a size cuts the named groups too", byPrefix(intstr.FromInt32(1), "canary"), nil, []string{"canary-2", "canary-1", "x-1"},
			[]string{`0 "canary" [canary-1]`, `1 "canary" [canary-2]`, `2 "" [x-1]`}},
		{"11: a canary group of 2 and 3 others, size 2", byPrefix(intstr.FromInt32(2), "canary"), nil,
			[]string{"x-1", "x-2", "x-3", "canary-1", "canary-2"}, []string{`0 "canary" [canary-1 canary-2]`, `1 "" [x-1 x-2]`, `2 "" [x-3]`}},
		{"a percentage of all that are selected, rounded up", byPrefix(intstr.FromString("20%"), "canary"), nil, mixed,
			[]string{`0 "canary" [canary-1 canary-2]`, `1 "" [next-1 x-1]`, `2 "" [x-2 x-3]`}},
		{"the first rule wins", byPrefix(intstr.FromString("100%"), "canary", "canary", "x"), nil, mixed,
			[]string{`0 "canary" [canary-1 canary-2]`, `1 "x" [x-1 x-2 x-3]`, `2 "" [next-1]`}},
		{"A2: 0 is all in one", byPrefix(intstr.FromInt32(0)), nil, mixed, []string{`0 "" [canary-1 canary-2 next-1 x-1 x-2 x-3]`}},
		{"only the selected ones", byPrefix(intstr.FromString("100%"), "canary"), ptr.To(int32(3)), mixed,
			[]string{`0 "canary" [canary-1 canary-2]`, `1 "" [next-1]`}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			placement := placementOf(clusterv1beta1.PlacementSpec{DecisionStrategy: tc.strategy, NumberOfClusters: tc.wanted})
			existing := existingOf(placement)
			desired := NewDesired(selecting(placement, tc.clusters...), existing, now.Time)
			got := []string{}
			for _, group := range desired.groups(desired.partitions, desired.groupLength) {
				got = append(got, fmt.Sprintf("%d %q %v", group.Index, group.Name, desired.namesOf(group.clusters)))
			}
			expect(t, "groups", tc.want, got)
		})
	}
}

func TestPageNames(t *testing.T) {
	for _, tc := range []struct {
		name string
		want int
		ok   bool
	}{
		{"p-decision-1", 1, true},
		{"p-decision-9", 9, true},
		{"p-decision-250", 250, true},
		{"p-decision-0", 0, false},
		{"p-decision--1", -1, false},
		{"p-decision-+1", 0, false},
		{"p-decision-01", 1, false},
		{"p-decision-", 0, false},
		{"p-decision-1x", 0, false},
		{"q-decision-1", 0, false},
		{"p-decision-1-decision-1", 0, false},
		{"p-decision-99999999999999999999", 0, false},
	} {
		n, ok := PageNumber("p", tc.name)
		if ok != tc.ok || ok && n != tc.want {
			t.Errorf("the number of %s is %d, %v, want %d, %v", tc.name, n, ok, tc.want, tc.ok)
		}
		if ok && PageName("p", n) != tc.name {
			t.Errorf("page %d is called %s, want %s", n, PageName("p", n), tc.name)
		}
	}
}
