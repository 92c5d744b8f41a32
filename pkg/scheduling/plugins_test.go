// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"slices"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/placement-hub/placement-hub/pkg/selector"
)

// Every filter has a name and a text, and is applied by the reference; every prioritizer has a name and scores.
func TestPluginsAreComplete(t *testing.T) {
	names := map[string]bool{string(StageSelected): true, string(undecided): true}
	for i, plugin := range filterPlugins {
		if names[string(plugin.stage)] {
			t.Errorf("filter %d: the name %q is empty or used twice", i, plugin.stage)
		}
		names[string(plugin.stage)] = true
		if plugin.text == nil || (plugin.rejects == nil) == (plugin.rejectRanked == nil) {
			t.Errorf("%s: want a text, and either rejects or rejectRanked", plugin.stage)
		}
		if plugin.batch != nil && (plugin.rejects == nil || plugin.step == "") {
			t.Errorf("%s: a filter with batch needs rejects for the reference, and a step", plugin.stage)
		}
	}

	clear(names)
	for i, plugin := range prioritizerPlugins {
		if plugin.name == "" || names[plugin.name] || plugin.scores == nil {
			t.Errorf("prioritizer %d: the name %q is empty or used twice, or it has no scores", i, plugin.name)
		}
		names[plugin.name] = true
	}
}

// The stages that other packages name are those of the table, in this order.
func TestStagesAreThoseOfTheFilters(t *testing.T) {
	expect(t, "stages", []Stage{
		StageScope, StageTerminating, StagePredicate, StageTaint, StageAntiAffinity, StageSpread, StageRank, StageSelected,
	}, Stages())
	expect(t, "length", StageCount, len(Stages()))
	expect(t, "sorted", true, slices.IsSortedFunc(Stages(), Stage.Compare))
	expect(t, "filters in metrics", []Step{StepPredicate, StepTaintToleration}, FilterSteps())
}

// A name that is no prioritizer is an error of the Placement, and so is the name that all AddOnPlacementScores share in metrics.
func TestUnknownPrioritizersAreRejected(t *testing.T) {
	for _, name := range []string{"AddOn", "", "balance"} {
		placement := placementOf(placementSpec{PrioritizerPolicy: exact(builtIn(name, 1))})
		expect(t, name, 1, len(ConvertV1beta1(selector.NewCompiler(), placement).Errors))
	}
	w := newRandomHub(named("c"))
	for _, name := range BuiltIns() {
		result := w.schedule(t, placementSpec{NumberOfClusters: ptr.To[int32](1), PrioritizerPolicy: exact(builtIn(name, 1))})
		expect(t, name, Decided, result.Outcome())
		expect(t, name, name, result.Prioritizers()[0].Prioritizer.Name())
	}

	if slices.Contains(BuiltIns(), addOnPrioritizer.name) {
		t.Error("AddOn is no name of the Placement API")
	}
}

// TestPassed checks that a cluster has passed the filters before the one that rejects it.
func TestPassed(t *testing.T) {
	for stage, want := range map[Stage][]bool{
		StageTerminating: {false, false}, StagePredicate: {false, false}, StageTaint: {true, false}, StageRank: {true, true},
		StageSelected: {true, true},
	} {
		verdict := Verdict{Stage: stage}
		expect(t, stage.String(), want, []bool{verdict.Passed(StepPredicate), verdict.Passed(StepTaintToleration)})
	}
}
