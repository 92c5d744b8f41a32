// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// pages are existing PlacementDecisions.
type pages = []*api.Page

// prefixed returns canary-001 and so on.
func prefixed(prefix string, n int) []string {
	names := fleet(n)
	for i := range names {
		names[i] = prefix + strings.TrimPrefix(names[i], "c")
	}
	return names
}

// waits adds a finalizer of another to a page.
func waits(p *api.Page) { p.Finalizers = []string{"example.com/wait"} }

func TestPlan(t *testing.T) {
	hundred, more := fleet(100), fleet(101)
	canaries := byPrefix(intstr.FromInt32(2), "canary")
	for _, tc := range []struct {
		reason   string
		strategy clusterv1beta1.DecisionStrategy
		present  pages
		clusters []string
		want     []string
		groups   []string
	}{
		{"create one", clusterv1beta1.DecisionStrategy{}, nil, []string{"c-2", "c-1"},
			[]string{`create and fill p-decision-1 group 0 "": c-1 c-2`}, []string{`0 "" [p-decision-1] 2`}},
		{"0.2: nothing selected is one empty page", clusterv1beta1.DecisionStrategy{}, nil, nil,
			[]string{`create and fill p-decision-1 group 0 "": `}, []string{`0 "" [p-decision-1] 0`}},
		{"exactly 100 is one page", clusterv1beta1.DecisionStrategy{}, nil, hundred,
			[]string{`create and fill p-decision-1 group 0 "": c-001..c-100 (100)`}, []string{`0 "" [p-decision-1] 100`}},
		{"4: 101 clusters are two pages of one group", clusterv1beta1.DecisionStrategy{}, nil, more, []string{
			`create and fill p-decision-1 group 0 "": c-001..c-100 (100)`, `create and fill p-decision-2 group 0 "": c-101`,
		}, []string{`0 "" [p-decision-1 p-decision-2] 101`}},
		{"200 are two pages", clusterv1beta1.DecisionStrategy{}, nil, fleet(200), []string{
			`create and fill p-decision-1 group 0 "": c-001..c-100 (100)`, `create and fill p-decision-2 group 0 "": c-101..c-200 (100)`,
		}, []string{`0 "" [p-decision-1 p-decision-2] 200`}},
		{"1.9: pages are numbered across groups", byPrefix(intstr.FromInt32(120), "canary"), nil,
			append([]string{"canary-1"}, fleet(201)...),
			[]string{
				`create and fill p-decision-1 group 0 "canary": canary-1`, `create and fill p-decision-2 group 1 "": c-001..c-100 (100)`,
				`create and fill p-decision-3 group 1 "": c-101..c-120 (20)`, `create and fill p-decision-4 group 2 "": c-121..c-201 (81)`,
			}, []string{`0 "canary" [p-decision-1] 1`, `1 "" [p-decision-2 p-decision-3] 120`, `2 "" [p-decision-4] 81`}},
		{"law 4: nothing changed", canaries, pages{page(1, 0, "canary", "canary-1"), page(2, 1, "", "c-1", "c-2"), page(3, 2, "", "c-3")},
			[]string{"canary-1", "c-1", "c-2", "c-3"}, []string{},
			[]string{`0 "canary" [p-decision-1] 1`, `1 "" [p-decision-2] 2`, `2 "" [p-decision-3] 1`}},
		{"law 4: still nothing selected", clusterv1beta1.DecisionStrategy{}, pages{edited(page(1, 0, ""), func(p *api.Page) {
			p.Decisions = []api.Decision{}
		})}, nil, []string{}, []string{`0 "" [p-decision-1] 0`}},
		{"an absent list is made an empty one", clusterv1beta1.DecisionStrategy{}, pages{page(1, 0, "")}, nil,
			[]string{`fill p-decision-1 group 0 "": `}, []string{`0 "" [p-decision-1] 0`}},
		{"update one of several", canaries, pages{page(1, 0, "canary", "canary-1"), page(2, 1, "", "c-1", "c-2"), page(3, 2, "", "c-3")},
			[]string{"canary-1", "c-1", "c-2", "c-4"}, []string{`fill p-decision-3 group 2 "": c-4`},
			[]string{`0 "canary" [p-decision-1] 1`, `1 "" [p-decision-2] 2`, `2 "" [p-decision-3] 1`}},
		{"B7: the reason is empty", clusterv1beta1.DecisionStrategy{},
			pages{edited(page(1, 0, "", "c-1"), func(p *api.Page) {
				p.Decisions[0].Reason = "because"
			})}, []string{"c-1"}, []string{`fill p-decision-1 group 0 "": c-1`}, []string{`0 "" [p-decision-1] 1`}},
		{"delete the redundant, from the highest index", canaries, pages{
			page(1, 0, "canary", "canary-1"), page(2, 1, "", "c-1", "c-2"), page(4, 3, "", "c-5"), page(3, 2, "", "c-3", "c-4"),
		}, []string{"canary-1", "c-1", "c-2"}, []string{"delete p-decision-4", "delete p-decision-3"},
			[]string{`0 "canary" [p-decision-1] 1`, `1 "" [p-decision-2] 2`}},
		{"delete the second page of a group before the first", clusterv1beta1.DecisionStrategy{}, pages{
			page(2, 1, "old", "c-1"), page(3, 1, "old", "c-2"), page(1, 0, "", "c-1", "c-2"),
		}, []string{"c-1", "c-2"}, []string{
			// Both clusters come to rely on it.
			`confirm p-decision-1 group 0 "": c-1 c-2`, "delete p-decision-3", "delete p-decision-2",
		}, []string{`0 "" [p-decision-1] 2`}},
		{"nothing selected any more: one empty page stays", byPrefix(intstr.FromInt32(2)),
			pages{page(1, 0, "", "c-1", "c-2"), page(2, 1, "", "c-3")}, nil,
			[]string{`fill p-decision-1 group 0 "": `, "delete p-decision-2"}, []string{`0 "" [p-decision-1] 0`}},
		{"B5: a page changes the name of its group while it is empty", canaries,
			pages{page(1, 0, "canary", "canary-1"), page(2, 1, "", "c-1")}, []string{"c-1"},
			[]string{`fill p-decision-1 group 0 "canary": `, `mend and fill p-decision-1 group 0 "": c-1`,
				"delete p-decision-2"}, []string{`0 "" [p-decision-1] 1`}},
		{"B1: who gains comes before who loses", byPrefix(intstr.FromInt32(2)), pages{page(1, 0, "", "c-1", "c-2"), page(2, 1, "", "c-3")},
			[]string{"c-2", "c-3"}, []string{`fill p-decision-1 group 0 "": c-2 c-3`, "delete p-decision-2"}, []string{`0 "" [p-decision-1] 2`}},
		{"B1: though the one that loses stands before it", byPrefix(intstr.FromInt32(2), "canary"),
			pages{page(1, 0, "canary", "c-9", "canary-1"), page(2, 1, "", "c-1")}, []string{"canary-1", "c-1", "c-9"},
			[]string{`fill p-decision-2 group 1 "": c-1 c-9`, `fill p-decision-1 group 0 "canary": canary-1`},
			[]string{`0 "canary" [p-decision-1] 1`, `1 "" [p-decision-2] 2`}},
		{"B2: a cluster that sorts first moves nobody", clusterv1beta1.DecisionStrategy{},
			pages{page(1, 0, "", fleet(201)[1:101]...), page(2, 0, "", fleet(201)[101:]...)}, fleet(201), []string{
				`create and fill p-decision-3 group 0 "": c-001`,
			}, []string{`0 "" [p-decision-1 p-decision-2 p-decision-3] 201`}},
		{"B2: new members take free places, the first page first", clusterv1beta1.DecisionStrategy{},
			pages{page(1, 0, "", fleet(201)[2:100]...), page(2, 0, "", fleet(201)[110:]...)},
			slices.Concat(fleet(201)[:100], fleet(201)[110:]), []string{
				`fill p-decision-1 group 0 "": c-001..c-100 (100)`,
			}, []string{`0 "" [p-decision-1 p-decision-2] 191`}},
		{"B2: the last page is drained into free places when it is one too many", clusterv1beta1.DecisionStrategy{},
			pages{page(1, 0, "", fleet(101)[:100]...), page(2, 0, "", "c-101")}, fleet(101)[1:], []string{
				`fill p-decision-1 group 0 "": c-002..c-101 (100)`, "delete p-decision-2",
			}, []string{`0 "" [p-decision-1] 100`}},
		{"B2: a group that is one too many is drained into those before it", byPrefix(intstr.FromInt32(2)),
			pages{page(1, 0, "", "c-1", "c-2"), page(2, 1, "", "c-3", "c-4")}, []string{"c-2", "c-4"}, []string{
				`fill p-decision-1 group 0 "": c-2 c-4`, "delete p-decision-2",
			}, []string{`0 "" [p-decision-1] 2`}},
		{"B1: pages that exchange clusters: one waits in a page of its own behind the last group", canaries,
			pages{page(1, 0, "canary", "c-1"), page(2, 1, "", "canary-1")}, []string{"canary-1", "c-1"}, []string{
				`create and fill p-decision-3 group 2 "": c-1`,
				`fill p-decision-1 group 0 "canary": canary-1`, `fill p-decision-2 group 1 "": c-1`, "delete p-decision-3",
			}, []string{`0 "canary" [p-decision-1] 1`, `1 "" [p-decision-2] 1`}},
		{"B2: a new page with a lower number than the old one leaves the members where they are", clusterv1beta1.DecisionStrategy{},
			pages{page(2, 0, "", hundred...)}, more, []string{
				`create and fill p-decision-1 group 0 "": c-101`,
			}, []string{`0 "" [p-decision-1 p-decision-2] 101`}},
		{"U3: the only page is number 1, as soon as that is free", clusterv1beta1.DecisionStrategy{},
			pages{page(2, 0, "", "c-1")}, []string{"c-1"}, []string{
				`create and fill p-decision-1 group 0 "": c-1`, "delete p-decision-2",
			}, []string{`0 "" [p-decision-1] 1`}},
		{"a page of ours whose name is none of ours is surplus", clusterv1beta1.DecisionStrategy{}, pages{
			edited(page(1, 0, "", "c-1"), func(p *api.Page) { p.Name = "by-hand" }),
		}, []string{"c-1"}, []string{`create and fill p-decision-1 group 0 "": c-1`, "delete by-hand"}, []string{`0 "" [p-decision-1] 1`}},
		{"B2: the pages of a group stay beside a page with another name", clusterv1beta1.DecisionStrategy{}, pages{
			page(1, 0, "", hundred...), page(2, 0, "", "c-101"), edited(page(3, 0, "", "c-101"), func(p *api.Page) { p.Name = "by-hand" }),
		}, more, []string{`confirm p-decision-2 group 0 "": c-101`, "delete by-hand"}, []string{`0 "" [p-decision-1 p-decision-2] 101`}},
		{"U3: of several pages none has to be number 1", clusterv1beta1.DecisionStrategy{},
			pages{page(2, 0, "", hundred...), page(3, 0, "", "c-101")}, more, []string{}, []string{`0 "" [p-decision-2 p-decision-3] 101`}},
		{"B1: a page that lists a cluster twice gives it away only when another page has it", canaries,
			pages{page(1, 0, "canary", "c-9", "c-9"), page(2, 1, "", "c-1")}, []string{"canary-1", "c-1", "c-9"},
			[]string{`fill p-decision-2 group 1 "": c-1 c-9`, `fill p-decision-1 group 0 "canary": canary-1`},
			[]string{`0 "canary" [p-decision-1] 1`, `1 "" [p-decision-2] 2`}},
		{"B1: a page that gains comes before a page that only loses", canaries,
			pages{page(1, 0, "canary", "canary-1", "canary-2"), page(2, 1, "", "c-1")}, []string{"canary-1", "c-1", "c-2"},
			[]string{`fill p-decision-2 group 1 "": c-1 c-2`, `fill p-decision-1 group 0 "canary": canary-1`},
			[]string{`0 "canary" [p-decision-1] 1`, `1 "" [p-decision-2] 2`}},
		{"B1: a full group gives a place to a cluster by the write that frees it", canaries,
			pages{page(1, 0, "canary", "canary-1", "x-9"), page(2, 1, "", "c-1", "canary-2")}, []string{"canary-1", "canary-2", "c-1"},
			[]string{`fill p-decision-1 group 0 "canary": canary-1 canary-2`, `fill p-decision-2 group 1 "": c-1`},
			[]string{`0 "canary" [p-decision-1] 2`, `1 "" [p-decision-2] 1`}},
		{"B1: a full group loses a cluster of one page before another page gains one", byPrefix(intstr.FromInt32(102), "canary"), pages{
			page(1, 0, "canary", prefixed("canary", 99)...), page(2, 0, "canary", "canary-100", "canary-101", "x-1"),
			page(3, 1, "", "c-1", "canary-102"),
		}, append(prefixed("canary", 102), "c-1", "x-1"), []string{
			`create and fill p-decision-4 group 2 "": x-1`, `fill p-decision-2 group 0 "canary": canary-100 canary-101`,
			`fill p-decision-1 group 0 "canary": canary-001..canary-102 (100)`, `fill p-decision-3 group 1 "": c-1 x-1`, "delete p-decision-4",
		}, []string{`0 "canary" [p-decision-1 p-decision-2] 102`, `1 "" [p-decision-3] 2`}},
		{"B1: the second of two pages that give a cluster away waits for the page that gains it", byPrefix(intstr.FromInt32(2), "canary", "next"),
			pages{
				page(1, 0, "canary", "c-9", "canary-1"), page(2, 1, "next", "c-9", "next-1"), page(3, 2, "", "c-1"), page(4, 3, "", "c-2", "next-2"),
			}, []string{"canary-1", "canary-2", "next-1", "next-2", "c-1", "c-2", "c-9"}, []string{
				`confirm p-decision-2 group 1 "next": c-9 next-1`, `fill p-decision-1 group 0 "canary": canary-1 canary-2`,
				`fill p-decision-3 group 2 "": c-1 c-9`, `fill p-decision-2 group 1 "next": next-1 next-2`, `fill p-decision-4 group 3 "": c-2`,
			}, []string{`0 "canary" [p-decision-1] 2`, `1 "next" [p-decision-2] 2`, `2 "" [p-decision-3] 2`, `3 "" [p-decision-4] 1`}},
		{"B1: pages that give a cluster away rely on the page that has just gained it", byPrefix(intstr.FromInt32(2), "canary", "next"),
			pages{page(1, 0, "canary", "c-9", "canary-1"), page(2, 1, "next", "c-9", "next-1"), page(3, 2, "", "c-1")},
			[]string{"canary-1", "next-1", "c-1", "c-9"}, []string{
				`fill p-decision-3 group 2 "": c-1 c-9`, `fill p-decision-1 group 0 "canary": canary-1`, `fill p-decision-2 group 1 "next": next-1`,
			}, []string{`0 "canary" [p-decision-1] 1`, `1 "next" [p-decision-2] 1`, `2 "" [p-decision-3] 2`}},
		{"B1: no cluster waits on an empty page of the last group", canaries,
			pages{page(1, 0, "canary", "c-1"), page(2, 1, "", "canary-1"), page(3, 1, "")}, []string{"canary-1", "c-1"}, []string{
				`create and fill p-decision-4 group 2 "": c-1`, `fill p-decision-1 group 0 "canary": canary-1`,
				`fill p-decision-2 group 1 "": c-1`, "delete p-decision-4", "delete p-decision-3",
			}, []string{`0 "canary" [p-decision-1] 1`, `1 "" [p-decision-2] 1`}},
		{"B2: a group that loses all its members leaves those of other groups where they are", byPrefix(intstr.FromInt32(2)),
			pages{page(1, 0, "", "c-1", "c-2"), page(2, 1, "", "c-3", "c-4")}, []string{"c-3", "c-4", "c-5"},
			[]string{`fill p-decision-1 group 0 "": c-5`}, []string{`0 "" [p-decision-1] 1`, `1 "" [p-decision-2] 2`}},
		{"B2: of a group that is too long the first by name stay", byPrefix(intstr.FromInt32(3)),
			pages{page(1, 0, "", "c-3", "c-4"), page(2, 0, "", "c-1", "c-2")}, []string{"c-1", "c-2", "c-3", "c-4"}, []string{
				`create and fill p-decision-3 group 1 "": c-4`, `fill p-decision-1 group 0 "": c-1 c-2 c-3`, "delete p-decision-2",
			}, []string{`0 "" [p-decision-1] 3`, `1 "" [p-decision-3] 1`}},
		{"B8: a group moves as a whole to an index of its rule", canaries,
			pages{page(1, 0, "", "c-1", "c-2"), page(2, 1, "", "c-3")}, []string{"canary-1", "c-1", "c-2", "c-3"}, []string{
				`create and fill p-decision-3 group 2 "": c-1 c-2`, `fill p-decision-1 group 0 "": `,
				`mend and fill p-decision-1 group 0 "canary": canary-1`,
			}, []string{`0 "canary" [p-decision-1] 1`, `1 "" [p-decision-2] 1`, `2 "" [p-decision-3] 2`}},
		{"B8: a group moves to an index whose group has lost all its members", canaries,
			pages{page(1, 0, "", "c-1", "c-2"), page(2, 1, "", "c-8")}, []string{"canary-1", "c-1", "c-2", "c-3"}, []string{
				`fill p-decision-2 group 1 "": c-1 c-2`, `create and fill p-decision-3 group 2 "": c-3`,
				`fill p-decision-1 group 0 "": `, `mend and fill p-decision-1 group 0 "canary": canary-1`,
			}, []string{`0 "canary" [p-decision-1] 1`, `1 "" [p-decision-2] 2`, `2 "" [p-decision-3] 1`}},
		{"B8: a group without a remaining member does not move", canaries,
			pages{page(1, 0, "", "c-8"), page(2, 1, "", "c-1", "c-2")}, []string{"canary-1", "canary-2", "canary-3", "c-0", "c-1", "c-2"}, []string{
				`create and fill p-decision-3 group 2 "": c-1 c-2`, `create and fill p-decision-4 group 3 "": c-0`,
				`fill p-decision-1 group 0 "": `, `mend and fill p-decision-1 group 0 "canary": canary-1 canary-2`,
				`fill p-decision-2 group 1 "": `, `mend and fill p-decision-2 group 1 "canary": canary-3`,
			}, []string{`0 "canary" [p-decision-1] 2`, `1 "canary" [p-decision-2] 1`, `2 "" [p-decision-3] 2`, `3 "" [p-decision-4] 1`}},
		{"B5: of two groups with one index the one of the rule stays", canaries,
			pages{page(1, 0, "", "c-1"), page(2, 0, "canary", "canary-1")}, []string{"canary-1", "c-1"}, []string{
				`create and fill p-decision-3 group 1 "": c-1`, `delete p-decision-1 group 0 "": `,
			}, []string{`0 "canary" [p-decision-2] 1`, `1 "" [p-decision-3] 1`}},
		{"B5: the first page of an index gets the new group", clusterv1beta1.DecisionStrategy{},
			pages{page(1, 0, "z", "c-8"), page(2, 0, "a", "c-9")}, []string{"c-1"}, []string{
				`fill p-decision-1 group 0 "z": `, `delete p-decision-2 group 0 "a": `, `mend and fill p-decision-1 group 0 "": c-1`,
			}, []string{`0 "" [p-decision-1] 1`}},
		{"B5: an empty page changes the name of its group at once", clusterv1beta1.DecisionStrategy{},
			pages{edited(page(1, 0, "canary"), func(p *api.Page) { p.Decisions = []api.Decision{} })}, []string{"c-1"},
			[]string{`mend and fill p-decision-1 group 0 "": c-1`}, []string{`0 "" [p-decision-1] 1`}},
		{"B5: the clusters of a page that changes the name of its group wait on another page", clusterv1beta1.DecisionStrategy{},
			pages{page(1, 0, "canary", "canary-1")}, []string{"canary-1"}, []string{
				`create and fill p-decision-2 group 1 "": canary-1`, `fill p-decision-1 group 0 "canary": `,
				`mend and fill p-decision-1 group 0 "": canary-1`, "delete p-decision-2",
			}, []string{`0 "" [p-decision-1] 1`}},
		{"B5: the pages of a new group gain clusters before another page loses them", byPrefix(intstr.FromInt32(120), "canary"), pages{
			page(1, 0, "old", "c-7"), page(2, 0, "old", "c-8"), page(3, 1, "", "c-1", "canary-101"),
		}, append(prefixed("canary", 101), "c-1"), []string{
			`fill p-decision-1 group 0 "old": `, `delete p-decision-2 group 0 "old": `,
			`mend and fill p-decision-1 group 0 "canary": canary-001..canary-100 (100)`,
			`create and fill p-decision-4 group 0 "canary": canary-101`, `fill p-decision-3 group 1 "": c-1`,
		}, []string{`0 "canary" [p-decision-1 p-decision-4] 101`, `1 "" [p-decision-3] 1`}},
		{"B5: of the pages of an index the one with a finalizer gets the new group", clusterv1beta1.DecisionStrategy{},
			pages{page(1, 0, "old", "c-8"), edited(page(2, 0, "old", "c-9"), waits)}, []string{"c-1"}, []string{
				`delete p-decision-1 group 0 "old": `, `fill p-decision-2 group 0 "old": `, `mend and fill p-decision-2 group 0 "": c-1`,
			}, []string{`0 "" [p-decision-2] 1`}},
		{"B5: an index with two pages that finalizers keep is passed over", clusterv1beta1.DecisionStrategy{},
			pages{edited(page(1, 0, "old", "c-8"), waits), edited(page(2, 0, "old", "c-9"), waits)}, []string{"c-1"}, []string{
				`create and fill p-decision-3 group 1 "": c-1`, `fill p-decision-1 group 0 "old": `, "delete p-decision-2",
			}, []string{`0 "old" [p-decision-1] 0`, `1 "" [p-decision-3] 1`}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			placement := placementOf(clusterv1beta1.PlacementSpec{DecisionStrategy: tc.strategy})
			result := selecting(placement, tc.clusters...)
			for _, present := range []pages{tc.present, reversed(tc.present)} {
				plan := planOf(result, existingOf(placement, present...))
				expect(t, "steps", tc.want, steps(plan))
				expect(t, "groups", tc.groups, reported(plan.Groups))
				expect(t, "selected", len(result.Selected), plan.Selected)
				expect(t, "empty", len(tc.want) == 0, plan.Empty())
				expectLists(t, plan)
			}
		})
	}
}

// expectLists checks that no update of decisions has an absent list, which an API server would drop.
func expectLists(t *testing.T, plan Plan) {
	t.Helper()
	for _, write := range plan.Writes {
		if write.UpdateDecisions && write.Desired.Decisions == nil {
			t.Errorf("the list of decisions of %s is absent, want it empty", write.Desired.Name)
		}
	}
}

// docs/spec/differences.md B4: labels of others stay, labels of the hub are restored, and pages of others are not written.
func TestPlanAmongOthers(t *testing.T) {
	ours := ownerReference(placementOf(clusterv1beta1.PlacementSpec{}))
	other := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "x", UID: "uid-x"}
	restored := ours
	restored.UID = "uid-before-the-restore"
	stranger := ours
	stranger.Name, stranger.UID = "q", "uid-q"
	controller := other
	controller.Controller = ptr.To(true)
	demoted := other
	demoted.Controller = ptr.To(false)
	for _, tc := range []struct {
		reason string
		change func(*api.Page)
		want   []string
		labels map[string]string
		owners []metav1.OwnerReference
	}{
		{"labels of others stay", func(p *api.Page) { p.Labels["team"] = "a" }, []string{}, nil, nil},
		{"labels of others stay when ours are mended", func(p *api.Page) {
			p.Labels["team"] = "a"
			delete(p.Labels, clusterv1beta1.DecisionGroupNameLabel)
		}, []string{`mend p-decision-1 group 0 "": c-1`}, map[string]string{
			clusterv1beta1.PlacementLabel: "p", clusterv1beta1.DecisionGroupIndexLabel: "0", clusterv1beta1.DecisionGroupNameLabel: "", "team": "a",
		}, []metav1.OwnerReference{ours}},
		{"a lost owner comes back", func(p *api.Page) { p.OwnerReferences = nil },
			[]string{`mend p-decision-1 group 0 "": c-1`}, nil, []metav1.OwnerReference{ours}},
		{"ours comes first, and others stay", func(p *api.Page) { p.OwnerReferences = []metav1.OwnerReference{other, ours} },
			[]string{`mend p-decision-1 group 0 "": c-1`}, nil, []metav1.OwnerReference{ours, other}},
		{"others behind ours are nobody's business", func(p *api.Page) {
			p.OwnerReferences = []metav1.OwnerReference{ours, other}
		}, []string{}, nil, nil},
		{"the controller is the placement", func(p *api.Page) { p.OwnerReferences = []metav1.OwnerReference{controller} },
			[]string{`mend p-decision-1 group 0 "": c-1`}, nil, []metav1.OwnerReference{ours, demoted}},
		{"another controller behind ours is none", func(p *api.Page) { p.OwnerReferences = []metav1.OwnerReference{ours, controller} },
			[]string{`mend p-decision-1 group 0 "": c-1`}, nil, []metav1.OwnerReference{ours, demoted}},
		{"an older placement behind ours is no owner", func(p *api.Page) {
			p.OwnerReferences = []metav1.OwnerReference{ours, restored}
			p.OwnerReferences[1].Controller = nil
		}, []string{`mend p-decision-1 group 0 "": c-1`}, nil, []metav1.OwnerReference{ours}},
		{"all labels lost, still owned", func(p *api.Page) { p.Labels = nil },
			[]string{`mend p-decision-1 group 0 "": c-1`}, nil, []metav1.OwnerReference{ours}},
		{"a backup was restored: an old uid and no status", func(p *api.Page) {
			p.OwnerReferences, p.Decisions = []metav1.OwnerReference{restored, other}, nil
		}, []string{`mend and fill p-decision-1 group 0 "": c-1`}, nil, []metav1.OwnerReference{ours, other}},
		{"the label of another placement, but our owner", func(p *api.Page) { p.Labels[clusterv1beta1.PlacementLabel] = "q" },
			[]string{`mend p-decision-1 group 0 "": c-1`}, nil, []metav1.OwnerReference{ours}},
		{"a page of somebody else: the next free number", func(p *api.Page) {
			p.Labels[clusterv1beta1.PlacementLabel], p.OwnerReferences = "q", []metav1.OwnerReference{stranger}
		}, []string{`create and fill p-decision-2 group 0 "": c-1`}, nil, []metav1.OwnerReference{ours}},
		{"our label, but another placement owns it", func(p *api.Page) {
			p.OwnerReferences = []metav1.OwnerReference{stranger}
		},
			[]string{`create and fill p-decision-2 group 0 "": c-1`}, nil, []metav1.OwnerReference{ours}},
		{"neither label nor owner", func(p *api.Page) { p.Labels, p.OwnerReferences = nil, nil },
			[]string{`create and fill p-decision-2 group 0 "": c-1`}, nil, []metav1.OwnerReference{ours}},
		{"a page of the PlacementRule API is never touched", func(p *api.Page) {
			p.Labels["cluster.open-cluster-management.io/placementrule"] = "p"
		}, []string{`create and fill p-decision-2 group 0 "": c-1`}, nil, []metav1.OwnerReference{ours}},
		{"a page that is being deleted is not there any more, but its name is",
			func(p *api.Page) { p.DeletionTimestamp = &now },
			[]string{`create and fill p-decision-2 group 0 "": c-1`}, nil, []metav1.OwnerReference{ours}},
		{"another namespace", func(p *api.Page) { p.Namespace = "elsewhere" },
			[]string{`create and fill p-decision-2 group 0 "": c-1`}, nil, []metav1.OwnerReference{ours}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			placement := placementOf(clusterv1beta1.PlacementSpec{})
			plan := planOf(selecting(placement, "c-1"), existingOf(placement, edited(page(1, 0, "", "c-1"), tc.change)))
			expect(t, "steps", tc.want, steps(plan))
			if len(plan.Writes) != 1 {
				return
			}
			if tc.labels == nil {
				tc.labels = page(1, 0, "").Labels
			}

			expect(t, "labels", tc.labels, plan.Writes[0].Desired.Labels)
			expect(t, "owners", tc.owners, plan.Writes[0].Desired.OwnerReferences)
		})
	}
}

// docs/spec/differences.md B5: the status has the group of a page; labels that differ are wrong.
func TestGroupLabelsNeverChange(t *testing.T) {
	placement := placementOf(clusterv1beta1.PlacementSpec{DecisionStrategy: byPrefix(intstr.FromInt32(2), "canary")})
	placement.Status.DecisionGroups = []clusterv1beta1.DecisionGroupStatus{
		{DecisionGroupIndex: 0, DecisionGroupName: "canary", Decisions: []string{"p-decision-1"}},
		{DecisionGroupIndex: 1, Decisions: []string{"p-decision-2"}},
	}
	relabelled := pages{page(1, 1, "", "canary-1"), page(2, 0, "canary", "c-1")}
	plan := planOf(selecting(placement, "canary-1", "c-1"), existingOf(placement, relabelled...))
	expect(t, "steps", []string{`mend p-decision-1 group 0 "canary": canary-1`, `mend p-decision-2 group 1 "": c-1`}, steps(plan))

	nonsense := pages{edited(page(1, 0, "", "c-1"), func(p *api.Page) {
		p.Labels[clusterv1beta1.DecisionGroupIndexLabel] = "first"
	})}
	placement = placementOf(clusterv1beta1.PlacementSpec{})
	plan = planOf(selecting(placement, "c-1"), existingOf(placement, nonsense...))
	expect(t, "steps", []string{`mend p-decision-1 group 0 "": c-1`}, steps(plan))
}

// docs/spec/differences.md B5: a new page does not take a name that the status lists in another group, because the status has the group of a
// page.
func TestNewPagesKeepTheGroupsOfTheStatus(t *testing.T) {
	placement := placementOf(clusterv1beta1.PlacementSpec{DecisionStrategy: byPrefix(intstr.FromInt32(1), "canary")})
	placement.Status.DecisionGroups = []clusterv1beta1.DecisionGroupStatus{
		{DecisionGroupIndex: 0, DecisionGroupName: "canary", Decisions: []string{"p-decision-2"}},
		{DecisionGroupIndex: 2, Decisions: []string{"p-decision-1"}},
	}
	plan := planOf(selecting(placement, "canary-1", "canary-2", "c-1"), existingOf(placement, page(2, 0, "canary", "canary-1")))
	expect(t, "steps", []string{
		`create and fill p-decision-3 group 1 "canary": canary-2`, `create and fill p-decision-1 group 2 "": c-1`,
	}, steps(plan))
}

// docs/spec/differences.md A1, A2 and A4: a stalled result keeps the decisions; a Placement without decisions gets one empty page, if its
// name is a label value.
func TestBlockedPlan(t *testing.T) {
	mistaken := placementOf(clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To(int32(-1))})
	long := placementOf(clusterv1beta1.PlacementSpec{})
	long.Name = strings.Repeat("x", 64)
	for _, tc := range []struct {
		reason    string
		placement *clusterv1beta1.Placement
		present   pages
		want      []string
		groups    []string
		selected  int
	}{
		{"keeps", mistaken, pages{page(1, 0, "canary", "c-8", "c-9"), page(2, 1, "", "gone")}, []string{},
			[]string{`0 "canary" [p-decision-1] 2`, `1 "" [p-decision-2] 1`}, 3},
		{"keeps, whatever the order of the numbers", mistaken, pages{page(2, 0, "canary", "c-8"), page(1, 1, "", "c-9")}, []string{},
			[]string{`0 "canary" [p-decision-2] 1`, `1 "" [p-decision-1] 1`}, 2},
		{"keeps, and mends what is known", mistaken, pages{edited(page(1, 0, "", "c-9"), func(p *api.Page) {
			p.OwnerReferences = nil
		})}, []string{`mend p-decision-1 group 0 "": c-9`}, []string{`0 "" [p-decision-1] 1`}, 1},
		{"B7: keeps, without a reason", mistaken, pages{edited(page(1, 0, "", "c-9"), func(p *api.Page) {
			p.Decisions[0].Reason = "because"
		})}, []string{`fill p-decision-1 group 0 "": c-9`}, []string{`0 "" [p-decision-1] 1`}, 1},
		{"keeps a page that says nothing as it is", mistaken, pages{page(1, 0, "")}, []string{}, []string{`0 "" [p-decision-1] 0`}, 0},
		{"new: one empty page", mistaken, nil, []string{`create and fill p-decision-1 group 0 "": `}, []string{`0 "" [p-decision-1] 0`}, 0},
		{"a name that is too long: nothing", long, nil, []string{}, []string{}, 0},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			plan := planOf(selecting(tc.placement, "c-1"), existingOf(tc.placement, tc.present...))
			expect(t, "steps", tc.want, steps(plan))
			expect(t, "groups", tc.groups, reported(plan.Groups))
			expect(t, "selected", tc.selected, plan.Selected)
			expectLists(t, plan)
		})
	}
}

func TestNewExisting(t *testing.T) {
	placement := placementOf(clusterv1beta1.PlacementSpec{})
	stray := edited(page(3, 0, "", "c-3"), func(p *api.Page) { p.Name = "a-stray" })
	foreign := edited(page(4, 0, "", "c-4"), func(p *api.Page) { p.Labels, p.OwnerReferences = nil, nil })
	existing := existingOf(placement, stray, page(10, 1, "", "c-2"), foreign, page(2, 0, "", "c-1", "c-2"))

	names := []string{}
	for _, p := range existing.Pages {
		names = append(names, p.Name)
	}
	expect(t, "pages by number, strays last", []string{"p-decision-2", "p-decision-10", "a-stray"}, names)
	expect(t, "taken", map[string]bool{"p-decision-4": true}, existing.Taken)
	expect(t, "incumbents", map[string]bool{"c-1": true, "c-2": true, "c-3": true}, existing.Incumbents())
}

func TestPlacementsOf(t *testing.T) {
	for _, tc := range []struct {
		reason string
		page   *api.Page
		want   []string
	}{
		{"label, owner and name agree", page(1, 0, ""), []string{"p"}},
		{"nothing is known but the name", edited(page(1, 0, ""),
			func(p *api.Page) { p.Labels, p.OwnerReferences = nil, nil }),
			[]string{"p"}},
		{"all three differ", edited(page(1, 0, ""), func(p *api.Page) {
			p.Labels[clusterv1beta1.PlacementLabel], p.Name = "q", "r-decision-1-decision-12"
		}), []string{"q", "p", "r-decision-1"}},
		{"an owner of another kind or group says nothing", edited(page(1, 0, ""), func(p *api.Page) {
			p.Labels, p.Name = nil, "by-hand"
			p.OwnerReferences = []metav1.OwnerReference{
				{APIVersion: "example.com/v1", Kind: "Placement", Name: "x"}, {APIVersion: "cluster.open-cluster-management.io/v1",
					Kind: "ManagedCluster", Name: "y"},
			}
		}), nil},
		{"an older version of the API is still a Placement", edited(page(1, 0, ""), func(p *api.Page) {
			p.Labels, p.Name = nil, "by-hand"
			p.OwnerReferences[0].APIVersion = "cluster.open-cluster-management.io/v1alpha1"
		}), []string{"p"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			expect(t, "placements", tc.want, PlacementsOf(api.V1beta1.Codec(), tc.page))
		})
	}
}
