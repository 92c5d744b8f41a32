// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// filterPlugins has all filters in their order: the Stage of a cluster is the first one that rejects it.
var filterPlugins = [...]*filterPlugin{
	scopeFilter,
	terminatingFilter,
	predicateFilter,
	taintFilter,
	antiAffinityFilter,
	spreadFilter,
	rankFilter,
}

// prioritizerPlugins has all prioritizers, in the order of BuiltIns. manifests/admission/placements.yaml has the names of the built-in ones too:
// TestAdmissionKnowsThePrioritizers compares both.
var prioritizerPlugins = [...]*prioritizerPlugin{
	balancePrioritizer,
	steadyPrioritizer,
	allocatablePrioritizer(ResourceAllocatableCPU, corev1.ResourceCPU),
	allocatablePrioritizer(ResourceAllocatableMemory, corev1.ResourceMemory),
	spreadPrioritizer,
	addOnPrioritizer,
}

// StageCount is the length of Stages.
const StageCount = len(filterPlugins) + 1

// Stages returns the stages of the filters in their order, and StageSelected.
func Stages() []Stage {
	stages := make([]Stage, 0, StageCount)
	for _, plugin := range filterPlugins {
		stages = append(stages, plugin.stage)
	}
	return append(stages, StageSelected)
}

// stageIndex returns the position of a stage in Stages.
func stageIndex(stage Stage) int {
	for i, plugin := range filterPlugins {
		if plugin.stage == stage {
			return i
		}
	}
	return len(filterPlugins)
}

// Compare orders the stages as Stages does.
func (s Stage) Compare(other Stage) int { return cmp.Compare(stageIndex(s), stageIndex(other)) }

// filterOf returns the filter that rejects clusters at a stage. It panics for a stage of no filter.
func filterOf(stage Stage) *filterPlugin { return filterPlugins[stageIndex(stage)] }

// Passed reports whether the cluster passed the filter of a step and all filters before it.
func (v Verdict) Passed(step Step) bool {
	at := slices.IndexFunc(filterPlugins[:], func(plugin *filterPlugin) bool { return plugin.step == step })
	return stageIndex(v.Stage) > at
}

// FilterSteps returns the steps of the filters, in their order.
func FilterSteps() []Step {
	var steps []Step
	for _, plugin := range filterPlugins {
		if plugin.step != "" {
			steps = append(steps, plugin.step)
		}
	}
	return steps
}

// Steps returns all steps: those of the filters, StepCEL, and those of the prioritizers.
func Steps() []Step {
	steps := append(FilterSteps(), StepCEL)
	for _, plugin := range prioritizerPlugins {
		steps = append(steps, Step(plugin.name))
	}
	return steps
}

// BuiltIns returns the names of the prioritizers that a Placement may ask for, apart from AddOnPlacementScores.
func BuiltIns() []string {
	var names []string
	for _, plugin := range prioritizerPlugins {
		if plugin.name != addOnPrioritizer.name {
			names = append(names, plugin.name)
		}
	}
	return names
}

// DefaultPrioritizers returns the prioritizers of a Placement that configures none (docs/spec/upstream-placement.md 1.8).
func DefaultPrioritizers() []Prioritizer {
	var prioritizers []Prioritizer
	for _, plugin := range prioritizerPlugins {
		if plugin.defaultWeight != 0 {
			prioritizers = append(prioritizers, Prioritizer{BuiltIn: plugin.name, Weight: plugin.defaultWeight})
		}
	}
	return prioritizers
}

// ReadsDecisions reports whether the scores depend on the decisions of other Placements.
func (p Prioritizer) ReadsDecisions() bool { return p.plugin().readsDecisions }

// plugin returns the plugin of the prioritizer. It panics for a name that is not in BuiltIns, which no conversion of a Placement accepts.
func (p Prioritizer) plugin() *prioritizerPlugin {
	name := p.BuiltIn
	if p.isAddOn() {
		name = addOnPrioritizer.name
	}
	return prioritizerPlugins[slices.IndexFunc(prioritizerPlugins[:], func(plugin *prioritizerPlugin) bool { return plugin.name == name })]
}
