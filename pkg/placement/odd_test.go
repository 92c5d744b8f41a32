// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"strings"
	"testing"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/test/property"
)

// Pages that others have filled beyond PageSize, with duplicate clusters, are corrected: there is a plan, and no staying cluster is ever
// missing from all pages.
func TestOverfullPagesArePutRight(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		names := fleet(200)
		placement := api.V1beta1.Read(placementOf(clusterv1beta1.PlacementSpec{}))
		var pages []*api.Page
		for n := range rapid.IntRange(1, 4).Draw(t, "pages") {
			holds := rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 150, rapid.ID[string]).Draw(t, "holds")
			pages = append(pages, page(n+1, 0, "", holds...))
		}

		existing := NewExisting(placement.API.Codec(), placement, pages)
		result := selecting(placementOf(clusterv1beta1.PlacementSpec{}), names[:rapid.IntRange(1, 200).Draw(t, "selected")]...)
		plan := NewPlan(result, existing, now)
		before := existing.Incumbents()

		now := map[string]*api.Page{}
		for _, page := range pages {
			now[page.Name] = page
		}

		for _, write := range plan.Writes {
			now[write.Desired.Name] = write.Desired
			union := map[string]bool{}
			for _, page := range now {
				for _, cluster := range page.Clusters() {
					union[cluster] = true
				}
			}

			for _, verdict := range result.Best() {
				if name := verdict.Cluster.Name; before[name] && !union[name] {
					t.Fatalf("%s is in no page after the write of %s", name, write.Desired.Name)
				}
			}
		}

		for _, gone := range plan.Deletes {
			delete(now, gone.Name)
		}
		total := 0
		for name, page := range now {
			if total += len(page.Decisions); len(page.Decisions) > PageSize {
				t.Fatalf("%s has %d decisions in the end", name, len(page.Decisions))
			}
		}

		if total != len(result.Selected) {
			t.Fatalf("%d decisions in the end, want %d", total, len(result.Selected))
		}
	})
}

// docs/spec/differences.md A1, B3: kept decisions are written to new pages while the existing pages are terminating.
func TestBlockedDecisionsOutliveTheirPages(t *testing.T) {
	placement := placementOf(clusterv1beta1.PlacementSpec{Tolerations: []clusterv1beta1.Toleration{{Value: "mistake"}}})
	leaving := page(1, 0, "", "c-1", "c-2")
	leaving.DeletionTimestamp = &now
	asked := api.V1beta1.Read(placement)
	plan := NewPlan(resultOf(placement, stateOf("c-1", "c-2")), NewExisting(asked.API.Codec(), asked, []*api.Page{leaving}), now)
	expect(t, "steps", []string{`create and fill p-decision-2 group 0 "": c-1 c-2`}, steps(plan))
	expect(t, "selected", 2, plan.Selected)
}

// docs/spec/differences.md A2: a name that is no label value prevents pages of every format.
func TestProfilesOfALongName(t *testing.T) {
	placement := placementOf(clusterv1beta1.PlacementSpec{})
	placement.Name = strings.Repeat("p", 64)
	world := stateOf("c-1")
	world.SetProfile(clusterinfo.Profile{Namespace: "ns", Name: "c-1"}, map[string]string{"c-1": ""})
	asked := api.V1beta1.Read(placement)
	none := NewExisting(references{api.V1beta1.Codec()}, asked, nil)
	answer, _ := Profiles(resultOf(placement, world), NewExisting(asked.API.Codec(), asked, nil), none)
	if plan := answer.Plan(); !plan.Empty() {
		t.Errorf("writes %v", referencesOf(plan))
	}
}

// docs/spec/differences.md B22: what a finalizer keeps does not keep clusters that are not desired, and the status counts what consumers see.
func TestTerminatingPagesGiveUpClusters(t *testing.T) {
	placement := api.V1beta1.Read(placementOf(clusterv1beta1.PlacementSpec{}))
	mistaken := placementOf(clusterv1beta1.PlacementSpec{Tolerations: []clusterv1beta1.Toleration{{Value: "mistake"}}})
	leaves := func(p *api.Page) { waits(p); p.DeletionTimestamp = &now }
	for _, tc := range []struct {
		reason string
		pages  []*api.Page
		result *scheduling.Result
		steps  []string
		count  int
	}{
		{
			"a cluster that leaves by the edit", pages{page(1, 0, "", "c-1"), edited(page(2, 0, "", "c-2", "c-3"), leaves)},
			selecting(placementOf(clusterv1beta1.PlacementSpec{}), "c-1"), []string{`fill p-decision-2 group 0 "": `}, 1,
		},
		{
			"one of them stays, and is on another page before", pages{page(1, 0, "", "c-1"), edited(page(2, 0, "", "c-2", "c-3"), leaves)},
			selecting(placementOf(clusterv1beta1.PlacementSpec{}), "c-1", "c-3"),
			[]string{`fill p-decision-1 group 0 "": c-1 c-3`, `fill p-decision-2 group 0 "": c-3`}, 2,
		},
		{
			"nothing is left to do", pages{page(1, 0, "", "c-1", "c-3"), edited(page(2, 0, "", "c-3"), leaves)},
			selecting(placementOf(clusterv1beta1.PlacementSpec{}), "c-1", "c-3"), []string{}, 2,
		},
		{
			"B5: the index of a terminating page keeps its name, and another group comes behind it",
			pages{edited(page(1, 0, "canary", "canary-1"), leaves)},
			selecting(placementOf(clusterv1beta1.PlacementSpec{}), "c-1"), []string{
				`create and fill p-decision-2 group 0 "canary": `, `create and fill p-decision-3 group 1 "": c-1`,
				`fill p-decision-1 group 0 "canary": `,
			}, 1,
		},
		{
			"B5: there is no index missing before that of a terminating page",
			pages{page(1, 0, "", "c-1"), page(2, 1, "a", "c-2"), page(3, 2, "b", "c-3"), edited(page(4, 3, "c"), leaves)},
			selecting(placementOf(clusterv1beta1.PlacementSpec{}), "c-1"),
			[]string{`fill p-decision-2 group 1 "a": `, `fill p-decision-3 group 2 "b": `}, 1,
		},
		{
			"no answer: what exists is counted", pages{page(1, 0, "", "c-1"), edited(page(2, 0, "", "c-2", "c-3"), leaves)},
			resultOf(mistaken, stateOf("c-1")), []string{}, 3,
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			plan := NewPlan(tc.result, NewExisting(placement.API.Codec(), placement, tc.pages), now)
			expect(t, "steps", tc.steps, steps(plan))
			expect(t, "selected", tc.count, plan.Selected)
		})
	}
}
