package placement

import (
	"context"
	"maps"
	"slices"
	"time"

	"k8s.io/klog/v2"

	"github.com/placement-hub/placement-hub/pkg/decision/record"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// decide asks the engine, and assumes its answer. Where the answer depends on the decisions of others, these do not change between its
// snapshot and its assumption, so that no two such answers are found on the same counts (docs/spec/differences.md B9).
func (r *reconciler) decide(
	request *scheduling.Request, key inventory.PlacementKey, incumbents map[string]bool, now time.Time,
) *scheduling.Result {
	schedule := func() (result *scheduling.Result, counts uint64) {
		snapshot := r.inventory.Snapshot(key)

		return r.engine.schedule(request, snapshot, incumbents, now, &stepTimer{clock: r.clock}), snapshot.DecisionsGeneration
	}

	result, counts := schedule() // At the same time as others: most answers change nothing, and what CEL says is remembered.

	if request.ReadsDecisions() {
		r.deciding.Lock()
		defer r.deciding.Unlock()

		if r.inventory.DecisionsGeneration() != counts {
			result, _ = schedule()
		}
	}

	r.assume(key, result, incumbents)

	return result
}

// assume has an answer counted before it is written; of one that is held, what stands. An answer that changes nothing is assumed only in the
// place of an earlier one.
func (r *reconciler) assume(key inventory.PlacementKey, result *scheduling.Result, incumbents map[string]bool) {
	changes := !result.Stalled() && len(result.Selected) != len(incumbents)
	clusters := make([]string, 0, max(len(result.Selected), len(incumbents)))

	if result.Stalled() {
		clusters = slices.AppendSeq(clusters, maps.Keys(incumbents))
	}

	for _, f := range result.Selected {
		clusters = append(clusters, f.Name)
		changes = changes || !incumbents[f.Name]
	}

	if changes || r.inventory.Assumed(key) {
		r.inventory.Assume(key, clusters)
	}
}

// restore has what stands in the pages of a placement counted, when an answer that is assumed was not written, or not as a whole.
func (r *reconciler) restore(ctx context.Context, placement *record.Placement) {
	key := placement.Key()
	if !r.inventory.Assumed(key) {
		return
	}

	ctx, cancel := grace(ctx)
	defer cancel()

	present, err := r.present(ctx, placement.API.Form(), placement)
	if err != nil {
		klog.FromContext(ctx).Error(err, "Reading the decisions after a failed write; what the watch has shown is counted")
		r.inventory.ForgetAssumed(key)

		return
	}

	var clusters []string
	for _, page := range present.Standing() {
		clusters = append(clusters, page.Clusters()...)
	}

	r.inventory.Assume(key, clusters)
}

// countWritten has the pages of a placement counted again as its watch shows them, once the events of all that was written of them are handled,
// and unless the placement is being evaluated.
func (m *state) countWritten(key inventory.PlacementKey) {
	m.pages[m.api(key).Form()].IfShown(key, func() { m.inventory.ForgetAssumed(key) })
}
