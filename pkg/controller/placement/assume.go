package placement

import (
	"context"
	"maps"
	"slices"
	"time"

	"k8s.io/klog/v2"

	"github.com/placement-hub/placement-hub/pkg/decision/api"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// decide schedules a Request and assumes the result. Where the result depends on the decisions of others, these do not change between the
// snapshot and the assumption, so that no two such results are computed on the same counts (docs/spec/differences.md B9).
func (r *reconciler) decide(
	request *scheduling.Request, key inventory.Key, incumbents map[string]bool, now time.Time,
) *scheduling.Result {
	schedule := func() (result *scheduling.Result, counts uint64) {
		snapshot := r.state.inventory.SnapshotFor(key)

		return r.engine.schedule(request, snapshot, incumbents, now, &stepTimer{clock: r.clock}), snapshot.DecisionsGeneration
	}

	result, counts := schedule() // At the same time as others: most answers change nothing, and what CEL says is remembered.

	if request.ReadsDecisions() {
		r.state.deciding.Lock()
		defer r.state.deciding.Unlock()

		if r.state.inventory.DecisionsGeneration() != counts {
			result, _ = schedule()
		}
	}

	r.assume(key, result, incumbents)

	return result
}

// assume counts a result before it is written; of a stalled result it counts the existing decisions. A result that changes nothing is
// assumed only to replace an earlier one.
func (r *reconciler) assume(key inventory.Key, result *scheduling.Result, incumbents map[string]bool) {
	changes := result.Outcome() == scheduling.Decided && len(result.Selected) != len(incumbents)
	clusters := make([]string, 0, max(len(result.Selected), len(incumbents)))

	if result.Outcome() != scheduling.Decided {
		clusters = slices.AppendSeq(clusters, maps.Keys(incumbents))
	}

	for _, f := range result.Selected {
		clusters = append(clusters, f.Name)
		changes = changes || !incumbents[f.Name]
	}

	if changes || r.state.inventory.Assumed(key) {
		r.state.inventory.Assume(key, clusters)
	}
}

// restore counts the decisions that exist on the pages, after an assumed result was not written completely.
func (r *reconciler) restore(ctx context.Context, placement *api.Placement) {
	key := placement.Key()
	if !r.state.inventory.Assumed(key) {
		return
	}

	ctx, cancel := grace(ctx)
	defer cancel()

	existing, err := r.existing(ctx, placement.API.Codec(), placement)
	if err != nil {
		klog.FromContext(ctx).Error(err, "Reading the decisions after a failed write; what the watch has shown is counted")
		r.state.inventory.ForgetAssumed(key)

		return
	}

	var clusters []string
	for _, page := range existing.AllPages() {
		clusters = append(clusters, page.Clusters()...)
	}

	r.state.inventory.Assume(key, clusters)
}

// countWritten ends the assumption of a result once the watch has shown all pages that were written for it, unless the Placement is being
// reconciled.
func (m *state) countWritten(key inventory.Key) {
	m.pages[m.served.api(key).Codec()].IfShown(key, func() { m.inventory.ForgetAssumed(key) })
}
