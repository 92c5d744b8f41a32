// SPDX-License-Identifier: Apache-2.0

package scheduling

import "slices"

// filterRun is one filter that Schedule has applied, with the clusters before and after it; before is nil for the first filter.
type filterRun struct {
	plugin        *filterPlugin
	before, after *filtered
}

// filter applies the filters that come before the ranking, and counts the clusters that each of them rejects. It returns nil when the
// evaluation ended early.
func (e *evaluation) filter() []filterRun {
	var (
		runs []filterRun
		left *filtered
	)

	for _, plugin := range filterPlugins {
		run := filterRun{plugin: plugin, before: left}
		if run.plugin.batch == nil {
			continue
		}
		e.recorder.Begin(run.plugin.step)
		run.after = run.plugin.batch(e, left)
		e.recorder.End(run.plugin.step)
		if e.ended() {
			return nil
		}

		before := run.after.available
		if left != nil {
			before = len(left.indices)
		}
		e.result.stages.add(run.plugin.stage, before-len(run.after.indices))
		left, runs = run.after, append(runs, run)
	}

	return runs
}

// rejected returns the verdicts of the clusters that the filter rejected.
func (r filterRun) rejected() []Verdict {
	var rejected []Verdict
	for _, info := range r.before.clusters {
		if _, passed := slices.BinarySearchFunc(r.after.clusters, info.Name, compareName); !passed {
			rejected = append(rejected, Verdict{Cluster: info, Stage: r.plugin.stage})
		}
	}
	return rejected
}
