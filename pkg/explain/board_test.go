// SPDX-License-Identifier: Apache-2.0

package explain_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// decided is the placement "p" at generation 2 whose status says that it has settled with so many clusters.
func decided(clusters int32, change ...func(*clusterv1beta1.Placement)) clusterv1beta1.Placement {
	p := clusterv1beta1.Placement{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "p", UID: "p", Generation: 2, ResourceVersion: "7"},
		Status: clusterv1beta1.PlacementStatus{NumberOfSelectedClusters: clusters, Conditions: []metav1.Condition{
			{Type: clusterv1beta1.PlacementConditionMisconfigured, Status: metav1.ConditionFalse, ObservedGeneration: 2},
			{Type: clusterv1beta1.PlacementConditionSatisfied, Status: metav1.ConditionTrue, ObservedGeneration: 2},
		}},
	}
	for _, c := range change {
		c(&p)
	}
	return p
}

func condition(i int, reason, message string, status metav1.ConditionStatus) func(*clusterv1beta1.Placement) {
	return func(p *clusterv1beta1.Placement) {
		c := &p.Status.Conditions[i]
		c.Reason, c.Message, c.Status = reason, message, status
	}
}

// boardPage is a PlacementDecision of a group: "0" or "0:canary".
func boardPage(placement string, n int, group string, clusters ...string) clusterv1beta1.PlacementDecision {
	index, name, _ := strings.Cut(group, ":")
	d := clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team", Name: fmt.Sprintf("%s-decision-%d", placement, n), Labels: map[string]string{
			clusterv1beta1.PlacementLabel:          placement,
			clusterv1beta1.DecisionGroupIndexLabel: index,
			clusterv1beta1.DecisionGroupNameLabel:  name,
		},
	}}
	for _, cluster := range clusters {
		d.Status.Decisions = append(d.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: cluster})
	}
	return d
}

// stateOf has one placement, and pages.
func stateOf(placement clusterv1beta1.Placement, pages ...clusterv1beta1.PlacementDecision) *explain.State {
	state := &explain.State{Placements: []api.Object{&placement}}
	for i := range pages {
		state.Decisions = append(state.Decisions, &pages[i])
	}
	return state
}

// placementRow is the row of the placement "p".
func placementRow(selected, status, decisions, message, unsettled string) document.Row {
	row := document.NewRow("team/p", selected, status, decisions)
	row.Name = "team/p"
	if message != "" {
		row.Details = []string{message}
	}
	if unsettled != "" {
		row.Unsettled = "Placement team/p: " + unsettled
	}
	return row
}

func TestBoardRows(t *testing.T) {
	for _, tc := range []struct {
		reason    string
		placement clusterv1beta1.Placement
		pages     []clusterv1beta1.PlacementDecision
		want      document.Row
	}{
		{
			reason: "one group without a name needs no mention", placement: decided(2),
			pages: []clusterv1beta1.PlacementDecision{boardPage("p", 1, "0", "a", "b")},
			want:  placementRow("2/all", "Satisfied", "a, b", "", ""),
		},
		{
			reason: "groups stand in their order, pages of one together", placement: decided(4),
			pages: []clusterv1beta1.PlacementDecision{
				boardPage("p", 1, "1", "d"), boardPage("p", 2, "0:canary", "a"), boardPage("p", 3, "1", "e", "f"),
			},
			want: placementRow("4/all", "Satisfied", "canary: a | d e f", "", ""),
		},
		{
			reason:    "what is missing is explained",
			placement: decided(1, condition(1, "NotAllDecisionsScheduled", "2 missing", "False"), wanting(3)),
			pages:     []clusterv1beta1.PlacementDecision{boardPage("p", 1, "0", "a")},
			want:      placementRow("1/3", "NotAllDecisionsScheduled", "a", "2 missing", ""),
		},
		{
			reason: "a mistake comes before what follows from it",
			placement: decided(0, condition(0, "Misconfigured", "spec.x: bad", "True"),
				condition(1, "NoManagedClusterMatched", "none", "False")),
			pages: []clusterv1beta1.PlacementDecision{boardPage("p", 1, "0")},
			want:  placementRow("0/all", "Misconfigured", "none", "spec.x: bad", ""),
		},
		{
			reason: "nothing is written yet", placement: decided(0, func(p *clusterv1beta1.Placement) { p.Status.Conditions = nil }),
			want: placementRow("0/all", "Pending", "none", "", "condition PlacementMisconfigured is not written yet"),
		},
		{
			reason: "the conditions are about an older spec", placement: decided(0, func(p *clusterv1beta1.Placement) { p.Generation = 3 }),
			want: placementRow("0/all", "Satisfied", "none", "", "condition PlacementMisconfigured is about generation 2, the present one is 3"),
		},
		{
			reason: "the decisions are not those of the status", placement: decided(2),
			pages: []clusterv1beta1.PlacementDecision{boardPage("p", 1, "0", "a"), boardPage("other", 1, "0", "b")},
			want:  placementRow("1/all", "Satisfied", "a", "", "its PlacementDecisions hold 1 clusters, its status says 2"),
		},
		{
			reason: "a placement that the hub leaves alone never settles otherwise",
			placement: decided(0, func(p *clusterv1beta1.Placement) {
				p.Status.Conditions = nil
				p.Annotations = map[string]string{clusterv1beta1.PlacementDisableAnnotation: "true"}
			}),
			want: placementRow("0/all", "Disabled", "none", "the annotation "+clusterv1beta1.PlacementDisableAnnotation+" is true", ""),
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			b := stateOf(tc.placement, tc.pages...).Board()
			if diff := cmp.Diff([]document.Row{tc.want}, b.Table.Rows); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
}

func wanting(n int32) func(*clusterv1beta1.Placement) {
	return func(p *clusterv1beta1.Placement) { p.Spec.NumberOfClusters = ptr.To(n) }
}

func TestBoardWaitsForSetsAndBindings(t *testing.T) {
	b := (&explain.State{
		ClusterSets: []*clusterv1beta2.ManagedClusterSet{{ObjectMeta: metav1.ObjectMeta{Name: "prod"}}},
		Bindings:    []*clusterv1beta2.ManagedClusterSetBinding{{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "prod"}}},
	}).Board()
	want := []string{
		"ManagedClusterSet prod: condition ClusterSetEmpty is not written yet",
		"ManagedClusterSetBinding team/prod: condition Bound is not written yet",
	}
	if diff := cmp.Diff(want, b.Pending()); diff != "" {
		t.Errorf("pending (-want +got):\n%s", diff)
	}
}

func TestBoardDistinguishesTheAPIs(t *testing.T) {
	newer := decided(2, func(p *clusterv1beta1.Placement) { p.Name = "a" })
	state := stateOf(newer, boardPage("a", 1, "0", "eu1", "eu2"))
	older := &placementv1alpha1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "a"}}
	state.Placements = append(state.Placements, older)
	b := state.Board()
	want := []string{
		"NAMESPACE/NAME     SELECTED  STATUS     DECISIONS",
		"team/a             2/all     Satisfied  eu1, eu2",
		"team/a (v1alpha1)  0/all     Pending    none",
	}
	if diff := cmp.Diff(want, printers.BoardLines(b)); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
	if got, want := b.Summary, "0 clusters, 0 sets, 2 placements, 1 of them of placement.open-cluster-management.io/v1alpha1"; got != want {
		t.Errorf("summary %q, want %q", got, want)
	}
	if got, want := printers.BoardChanges(b)[1].Line, "team/a (v1alpha1)  0/all  Pending  none"; got != want {
		t.Errorf("line %q, want %q", got, want)
	}
}

func TestBoardWithoutPlacements(t *testing.T) {
	b := (&explain.State{}).Board()
	if lines := printers.BoardLines(b); lines[len(lines)-1] != "no placements yet" || b.Summary != "0 clusters, 0 sets, 0 placements" {
		t.Errorf("an empty hub shows %q, %q", b.Summary, lines)
	}
}

// The versions of a board change with every object, although the table does not show it.
func TestVersionsOfABoard(t *testing.T) {
	before := stateOf(decided(0)).Board()
	after := stateOf(decided(0, func(p *clusterv1beta1.Placement) { p.ResourceVersion = "8" })).Board()
	if before.Versions == "" || before.Versions == after.Versions {
		t.Errorf("first %q, then %q", before.Versions, after.Versions)
	}
}
