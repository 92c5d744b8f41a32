// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// schedulingName is the value of the label name in the series of evaluations of the upstream controller.
const schedulingName = "placement_scheduling"

// upstreamBuckets are the buckets of the upstream controller: ten powers of ten from a microsecond, in seconds
// (docs/spec/upstream-placement.md 1.16).
var upstreamBuckets = prometheus.ExponentialBuckets(1e-6, 10, 10)

var (
	schedulingDuration = histograms("scheduling_scheduling_duration_seconds",
		"How long the evaluation of a placement took, as upstream counts it, in seconds.", upstreamBuckets, "name").
		WithLabelValues(schedulingName)

	bindDuration = histograms("scheduling_bind_duration_seconds",
		"How long writing the decisions and the status of a placement took, in seconds, where decisions changed.", upstreamBuckets, "name").
		WithLabelValues("placement_bind")

	pluginDurations = histograms("scheduling_plugin_duration_seconds",
		"How long a filter (Predicate, TaintToleration) or a prioritizer took in one evaluation, in seconds. The prioritizers of all "+
			"AddOnPlacementScores are AddOn. Cached results are fast, and scores without effect are not computed.",
		upstreamBuckets, "name", "plugin_type", "plugin_name")

	celDuration = histograms("scheduling_cel_runtime_duration_seconds",
		"Duration of the CEL expressions of one predicate in one evaluation, over all clusters, in seconds. Cached results are fast.",
		upstreamBuckets, "name").
		WithLabelValues(schedulingName)

	stepDurations = resolveSteps()
)

// resolveSteps returns the histogram of each step.
func resolveSteps() map[scheduling.Step]prometheus.Observer {
	steps, filters := map[scheduling.Step]prometheus.Observer{}, scheduling.FilterSteps()
	for _, step := range scheduling.Steps() {
		switch {
		case step == scheduling.StepCEL:
			steps[step] = celDuration
		case slices.Contains(filters, step):
			steps[step] = pluginDurations.WithLabelValues(schedulingName, "filter", string(step))
		default:
			steps[step] = pluginDurations.WithLabelValues(schedulingName, "prioritizer", string(step))
		}
	}

	return steps
}

// ObserveScheduling records the duration of an evaluation. It is safe for concurrent use.
func ObserveScheduling(d time.Duration) {
	schedulingDuration.Observe(d.Seconds())
	evaluationDuration.Observe(d.Seconds())
}

// ObserveBind records the duration of the writes of one evaluation. It is safe for concurrent use.
func ObserveBind(d time.Duration) {
	bindDuration.Observe(d.Seconds())
}

// ObserveStep records the duration of a step of an evaluation. It is safe for concurrent use.
func ObserveStep(step scheduling.Step, d time.Duration) {
	stepDurations[step].Observe(d.Seconds())
}
