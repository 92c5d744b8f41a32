// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/test/property"
)

// groupsOf returns groups of one page each.
func groupsOf(placement string, count int) []api.GroupStatus {
	groups := make([]api.GroupStatus, 0, count)
	for n := range count {
		groups = append(groups, api.GroupStatus{
			Group: api.Group{Index: n, Name: "rest"}, Pages: []string{PageName(placement, n+1)}, Clusters: 1,
		})
	}
	return groups
}

// stored returns the size of a Placement with a status as an API server stores it.
func stored(t interface{ Fatal(args ...any) }, placement *clusterv1beta1.Placement, status api.Status) int {
	written := placement.DeepCopy()
	put(written, status)
	data, err := json.Marshal(written)
	if err != nil {
		t.Fatal(err)
	}
	return len(data)
}

// A status that is too large for an API server lists only the first groups and reports that; the rest of it stays.
func TestOversizeStatus(t *testing.T) {
	long := strings.Repeat("x", 63)
	for _, tc := range []struct {
		reason    string
		placement string
		notes     int // bytes in an annotation
		groups    int
		listed    [2]int // at least and at most
	}{
		{"one group", "p", 0, 1, [2]int{1, 1}},
		{"more than a little, and it fits", "p", 0, 5000, [2]int{5000, 5000}},
		{"one cluster of 12,000 per group", long, 0, 12_000, [2]int{6000, 8000}},
		{"a large object has less room", long, 1 << 20, 12_000, [2]int{1400, 1700}},
		{"an object that has none left", long, 1280 << 10, 12_000, [2]int{1, 1}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			placement := placementOf(clusterv1beta1.PlacementSpec{})
			placement.Name, placement.Annotations = tc.placement, map[string]string{"notes": strings.Repeat("n", tc.notes)}
			all := groupsOf(tc.placement, tc.groups)
			placement.Status.DecisionGroups = []clusterv1beta1.DecisionGroupStatus{{Decisions: []string{strings.Repeat("y", 1<<20)}}}
			placement.Status.Conditions = []metav1.Condition{{Type: ConditionGroupsListed, Status: metav1.ConditionFalse}}
			status := NewStatus(selecting(placement, "c-1"), Plan{Groups: all, Selected: tc.groups}, api.V1beta1.Read(placement), now)
			if got := len(status.Groups); got < tc.listed[0] || got > tc.listed[1] {
				t.Errorf("%d groups are listed, want %d to %d", got, tc.listed[0], tc.listed[1])
			}

			expect(t, "all groups", reported(all), reported(append(status.Groups, status.Unlisted...)))
			expect(t, "selected", tc.groups, status.Selected)
			expect(t, "satisfied", true, meta.IsStatusConditionTrue(status.Conditions, ConditionSatisfied))
			said := meta.FindStatusCondition(status.Conditions, ConditionGroupsListed)
			if (said != nil) != (len(status.Unlisted) > 0) || said != nil && !strings.HasPrefix(said.Message,
				fmt.Sprintf("status.decisionGroups lists %d of %d decision groups, ", len(status.Groups), len(all))) {
				t.Errorf("%d groups are not listed, and the condition is %v", len(status.Unlisted), said)
			}

			if size := stored(t, placement, status); len(status.Groups) > 1 && size > maxObjectBytes {
				t.Errorf("the placement has %d bytes, want up to %d", size, maxObjectBytes)
			}
		})
	}
}

// A group that exactly fits is listed, and the first group always is.
func TestGroupsThatFit(t *testing.T) {
	groups := groupsOf("p", 3)
	each := groupsBytes(groups[:1])
	for room, want := range map[int]int{3 * each: 3, 3*each - 1: 2, 2 * each: 2, each: 1, 0: 1} {
		expect(t, fmt.Sprintf("groups in %d bytes", room), want, countFitting(groups, room))
	}
}

// The status after a failed write is truncated in the same way.
func TestOversizeFailedStatus(t *testing.T) {
	placement := placementOf(clusterv1beta1.PlacementSpec{})
	placement.Annotations = map[string]string{"notes": strings.Repeat("n", 1240<<10)}
	candidates := make([]*api.Page, 0, 2000)
	for n := range cap(candidates) {
		candidates = append(candidates, page(n+1, n, "", fmt.Sprintf("c-%d", n)))
	}
	status := NewFailedStatus(selecting(placement, "c-1"), existingOf(placement, candidates...), "Forbidden", now)
	if size := stored(t, placement, status); size > maxObjectBytes || len(status.Groups)+len(status.Unlisted) != len(candidates) {
		t.Errorf("the placement has %d bytes with %d groups", size, len(status.Groups))
	}
}

// For any sizes, the object is within its limit unless a single group exceeds it, and no group that fits is left out.
func TestOversizeStatusUsesItsRoom(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		placement := placementOf(clusterv1beta1.PlacementSpec{})
		placement.Name = strings.Repeat("n", rapid.IntRange(1, 63).Draw(t, "name"))
		placement.Annotations = map[string]string{"notes": strings.Repeat("n", rapid.IntRange(0, 1<<20).Draw(t, "notes"))}
		all := groupsOf(placement.Name, rapid.IntRange(1, 15_000).Draw(t, "groups"))
		status := NewStatus(selecting(placement, "c-1"), Plan{Groups: all}, api.V1beta1.Read(placement), now)

		switch size := stored(t, placement, status); {
		case size > maxObjectBytes:
			t.Fatalf("%d groups make an object of %d bytes", len(status.Groups), size)
		case len(status.Unlisted) > 0 && size < maxObjectBytes*9/10:
			t.Fatalf("%d groups of %d are listed in an object of %d bytes", len(status.Groups), len(all), size)
		}
	})
}
