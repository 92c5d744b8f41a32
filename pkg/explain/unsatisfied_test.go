package explain_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/pkg/decision/record"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

func TestUnsatisfiedAreThoseThatReportsCallSo(t *testing.T) {
	world := testWorld(t)
	list := world.Unsatisfied(noon, nil)

	wrong := map[string]bool{}

	for _, evaluation := range world.Evaluate(noon, nil) {
		if evaluation.Result != nil && !evaluation.Satisfied() {
			wrong[explain.NewReport(evaluation, false).Word()] = evaluation.Result.Held()
		}
	}

	var out bytes.Buffer
	if err := explain.WriteUnsatisfied(&out, explain.FormatName, list, explain.Style{}); err != nil {
		t.Fatal(err)
	}

	names := strings.Fields(out.String())
	if len(names) != len(wrong) || len(names) < 2 || list.Evaluated != len(world.Placements) {
		t.Fatalf("%q of %d are unsatisfied, want %v", names, list.Evaluated, wrong)
	}

	held := true

	for i, name := range names {
		if now, is := wrong[name]; !is || now && !held || now != list.Placements[i].Held {
			t.Errorf("%s is in the wrong place of %q, or not unsatisfied", name, names)
		}

		held = held && wrong[name]
	}
}

func TestWrittenUnsatisfiedBelievesTheHub(t *testing.T) {
	world := testWorld(t)

	placements := make([]*record.Placement, 0, len(world.Placements))
	for _, object := range world.Placements {
		placement := record.Read(object)
		placement.Status.Conditions = nil
		placements = append(placements, placement)
	}

	list := explain.WrittenUnsatisfied(placements)
	if list.Evaluated != len(placements) || len(list.Placements) != 0 {
		t.Errorf("%d of %d are unsatisfied, though nothing is written", len(list.Placements), list.Evaluated)
	}

	for _, evaluation := range world.Decide(noon, func(inventory.PlacementKey) bool { return true }) {
		for _, placement := range placements {
			if placement.Key() == evaluation.Placement.Key() {
				placement.Status = evaluation.Status
			}
		}
	}

	if was, is := len(world.Unsatisfied(noon, nil).Placements), len(explain.WrittenUnsatisfied(placements).Placements); is != was {
		t.Errorf("%d are written to be unsatisfied, want %d", is, was)
	}
}

func TestNobodyIsUnsatisfied(t *testing.T) {
	for text, list := range map[string]explain.Unsatisfied{
		"no placements\n": {}, "all of 2 placements satisfied\n": {Evaluated: 2},
	} {
		var out bytes.Buffer
		if err := explain.WriteUnsatisfied(&out, explain.FormatTable, list, explain.Style{}); err != nil || out.String() != text {
			t.Errorf("%v: %q, want %q", err, out.String(), text)
		}
	}
}
