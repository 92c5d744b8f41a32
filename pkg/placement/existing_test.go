// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// Between two writes two groups may have one index. A status that is written then must distinguish them, because it records the group of
// each page.
func TestFailedStatusKeepsGroupsOfOneIndexApart(t *testing.T) {
	placement := placementOf(clusterv1beta1.PlacementSpec{})
	candidates := pages{page(1, 0, "", "c-1"), page(2, 0, "canary"), page(3, 0, "", "c-2")}
	put(placement, NewFailedStatus(selecting(placement, "c-1", "c-2"), existingOf(placement, candidates...), "Forbidden", now))
	existing := existingOf(placement, candidates...)

	for name, want := range map[string]api.Group{
		"p-decision-1": {Name: ""}, "p-decision-2": {Name: "canary"}, "p-decision-3": {Name: ""},
	} {
		for _, page := range existing.Pages {
			if page.Name == name && existing.groupOf(page) != want {
				t.Errorf("%s was made for group %v, want %v", name, existing.groupOf(page), want)
			}
		}
	}

	if groups := len(placement.Status.DecisionGroups); groups != 2 {
		t.Errorf("the status has %d groups, want 2: %v", groups, placement.Status.DecisionGroups)
	}
}

// Requeue is set only when the first name is about to become free, so that requeuing ends.
func TestAgainEnds(t *testing.T) {
	fine := placementOf(clusterv1beta1.PlacementSpec{})
	mistaken := placementOf(clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](-1)})
	theirs := edited(page(1, 0, ""), func(p *api.Page) {
		p.Labels, p.OwnerReferences = nil, nil
	})
	for _, tc := range []struct {
		reason    string
		placement *clusterv1beta1.Placement
		present   pages
		want      bool
	}{
		{"the only page has the first name", fine, pages{page(1, 0, "", "c-1")}, false},
		{"it takes it in this pass", fine, pages{page(2, 0, "", "c-1")}, false},
		{"the first name becomes free in this pass", fine, pages{page(1, 1, "", "c-1"), page(2, 0, "", "c-1")}, true},
		{"it changes its group in this pass", fine, pages{page(2, 0, "old", "c-1")}, true},
		{"the first name belongs to somebody else", fine, pages{theirs, page(2, 0, "", "c-1")}, false},
		{"a held placement keeps what it has", mistaken, pages{page(2, 0, "", "c-1")}, false},
	} {
		plan := planOf(selecting(tc.placement, "c-1"), existingOf(tc.placement, tc.present...))
		expect(t, tc.reason, tc.want, plan.Requeue)
	}
}

// A terminating page with a finalizer still has its clusters: a NoSelectIfNew taint must not remove them meanwhile.
func TestPagesThatAreBeingDeletedHoldIncumbents(t *testing.T) {
	leaving := edited(page(1, 0, "", "c-1"), func(p *api.Page) {
		p.DeletionTimestamp, p.Finalizers = &metav1.Time{Time: now.Time}, []string{"example.com/wait"}
	})
	existing := existingOf(placementOf(clusterv1beta1.PlacementSpec{}), leaving, page(2, 0, "", "c-2"))
	expect(t, "incumbents", map[string]bool{"c-1": true, "c-2": true}, existing.Incumbents())
	expect(t, "pages to write", 1, len(existing.Pages))
	expect(t, "names in use", map[string]bool{"p-decision-1": true}, existing.Taken)
}

// docs/spec/differences.md B16: the former spec is known only if the decisions were completely written for it.
func TestRequestBefore(t *testing.T) {
	for _, tc := range []struct {
		reason  string
		former  *clusterv1beta1.Placement
		applied int64
		want    bool
	}{
		{"no former placement", nil, 6, false},
		{"the decisions were written for the former spec", &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Generation: 6}}, 6, true},
		{"they were written for an earlier spec", &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Generation: 6}}, 5, false},
		{"the spec has not changed", &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Generation: 7}}, 7, false},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			placement := placementOf(clusterv1beta1.PlacementSpec{})
			placement.Status.Conditions = []metav1.Condition{{Type: ConditionSatisfied, ObservedGeneration: tc.applied}}
			var former *api.Placement
			if tc.former != nil {
				former = api.V1beta1.Read(tc.former)
			}
			request := existingOf(placement).RequestBefore(former, selector.NewCompiler())
			expect(t, "the request is known", tc.want, request != nil)
		})
	}
}

func TestExistingGroupsAreThoseOfThePages(t *testing.T) {
	placement := placementOf(clusterv1beta1.PlacementSpec{})
	existing := existingOf(placement, page(3, 1, "", "c-3"), page(1, 0, "canary", "c-1"), page(2, 0, "canary", "c-2"))
	expect(t, "groups", []api.GroupStatus{
		{Group: api.Group{Index: 0, Name: "canary"}, Pages: []string{"p-decision-1", "p-decision-2"}, Clusters: 2},
		{Group: api.Group{Index: 1}, Pages: []string{"p-decision-3"}, Clusters: 1},
	}, existing.Groups())
	expect(t, "groups without pages", 0, len(existingOf(placement).Groups()))
}
