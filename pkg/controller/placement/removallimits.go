package placement

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/decision"
	"github.com/placement-hub/placement-hub/pkg/decision/api"
	"github.com/placement-hub/placement-hub/pkg/decision/removalbudget"
)

// DefaultWarnRemovalPercent is the percentage of its clusters that a Placement may lose at once without a warning, unless Options set
// another one.
const DefaultWarnRemovalPercent = 50

// warnPercent returns the percentage above which an event warns users.
func (o servedAPIs) warnPercent() int {
	if o.warned == nil {
		return DefaultWarnRemovalPercent
	}

	return *o.warned
}

// deletesForNewSpec reports whether pages are deleted for a changed spec, after the status was written. Until they are gone the removal
// budget is not in force, and once they are gone a condition has to be written.
func (p *cycle) deletesForNewSpec() bool {
	return p.Removal.SpecChanged() && len(p.own().plan.Deletes) > 0
}

// holdBegins reports whether a removal is blocked that was not blocked before.
func (p *cycle) holdBegins() bool {
	return p.Removal.Blocked && !meta.IsStatusConditionTrue(p.placement.Status.Conditions, removalbudget.Condition)
}

// reserve records in the status which clusters are about to leave, before a page loses them: if the process ends meanwhile, the next leader
// counts them as removed. It writes nothing without a budget, or while nothing leaves.
func (r *reconciler) reserve(ctx context.Context, p *cycle) error {
	status, needed := p.Reserve(p.placement, metav1.Time{Time: r.clock.Now()})
	if !needed {
		return nil
	}

	patched, err := r.patchStatus(ctx, p, status)
	if patched != nil {
		p.placement = patched
	}

	return err
}

// patchStatus writes the status if it differs, and returns the written Placement; nil if nothing was written.
func (r *reconciler) patchStatus(ctx context.Context, p *cycle, status api.Status) (*api.Placement, error) {
	patched, err := r.writer.WriteStatus(ctx, p.placement, status)
	if err != nil {
		p.stats.count("status", err)
		p.refused.status = decision.Outdated(err)

		return nil, err
	}

	if patched != nil {
		p.stats.count("status", nil)
		r.state.statuses.Assume(p.placement.Key(), patched)
	}

	return patched, nil
}
