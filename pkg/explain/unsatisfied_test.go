// SPDX-License-Identifier: Apache-2.0

package explain_test

import (
	"bytes"
	"strings"
	"testing"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

func TestUnsatisfiedAreThoseThatReportsCallSo(t *testing.T) {
	state := testState(t)
	list := state.Unsatisfied(noon, nil)

	wrong := map[string]bool{}
	for _, evaluation := range state.Evaluate(noon, nil) {
		if evaluation.Result != nil && !evaluation.Satisfied() {
			report := explain.NewReport(evaluation, false)
			wrong[document.QualifiedName(report.Placement, report.API)] = evaluation.Result.Outcome() != scheduling.Decided
		}
	}

	var out bytes.Buffer
	if err := printers.Print(&out, printers.FormatName, list, printers.Style{}); err != nil {
		t.Fatal(err)
	}
	names := strings.Fields(out.String())
	if len(names) != len(wrong) || len(names) < 2 || list.Evaluated != len(state.Placements) {
		t.Fatalf("%q of %d are unsatisfied, want %v", names, list.Evaluated, wrong)
	}
	held := true

	for i, name := range names {
		if now, is := wrong[name]; !is || now && !held || now != list.Placements[i].Stalled {
			t.Errorf("%s is in the wrong place of %q, or not unsatisfied", name, names)
		}
		held = held && wrong[name]
	}
}

func TestWrittenUnsatisfiedBelievesTheHub(t *testing.T) {
	state := testState(t)
	if list := state.WrittenUnsatisfied(); list.Evaluated != len(state.Placements) || len(list.Placements) != 0 {
		t.Errorf("%d of %d are unsatisfied, though nothing is written", len(list.Placements), list.Evaluated)
	}
	was := state.Unsatisfied(noon, nil).Placements
	writeStatus(t, state)
	if is := state.WrittenUnsatisfied().Placements; len(is) != len(was) {
		t.Errorf("%d are written to be unsatisfied, want %d", len(is), len(was))
	}
}

// Only one of the APIs has the number of selected clusters in its status; the decisions are counted, and an unknown number is not 0.
func TestWrittenUnsatisfiedCountsTheDecisions(t *testing.T) {
	state := read(t, diffFleet+olderA("{numberOfClusters: 9}")+olderPage("eu1", "us1"))
	writeStatus(t, state)
	for want, uncounted := range map[string][]api.Adapter{"2/9": nil, "?/9": {api.V1alpha1}} {
		state.Uncounted = uncounted
		var out bytes.Buffer
		if err := printers.Print(&out, printers.FormatTable, state.WrittenUnsatisfied(), printers.Style{}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), "  ns/a@placement.open-cluster-management.io  "+want+" ") {
			t.Errorf("%s is missing in\n%s", want, out.String())
		}
	}
}

// writeStatus gives the Placements the statuses that the hub would write.
func writeStatus(t *testing.T, state *explain.State) {
	t.Helper()
	for _, evaluation := range state.Evaluate(noon, nil) {
		status := evaluation.Placement.API.Status(evaluation.Status)
		switch object := evaluation.Placement.Object.(type) {
		case *clusterv1beta1.Placement:
			object.Status, _ = status.(clusterv1beta1.PlacementStatus)
		case *placementv1alpha1.Placement:
			object.Status, _ = status.(placementv1alpha1.PlacementStatus)
		default:
			t.Fatalf("%T is no placement", object)
		}
	}
}

func TestNobodyIsUnsatisfied(t *testing.T) {
	for text, list := range map[string]explain.Unsatisfied{
		"no placements\n": {}, "no placements in namespace a; --all-namespaces lists those of all\n": {Namespace: "a"},
		"all of 2 placements satisfied\n": {Evaluated: 2},
	} {
		var out bytes.Buffer
		if err := printers.Print(&out, printers.FormatTable, list, printers.Style{}); err != nil || out.String() != text {
			t.Errorf("%v: %q, want %q", err, out.String(), text)
		}
	}
}
