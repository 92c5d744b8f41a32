package placement

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/decision"
	"github.com/placement-hub/placement-hub/pkg/decision/guard"
	"github.com/placement-hub/placement-hub/pkg/decision/record"
)

// DefaultWarnRemovalPercent is the share of its clusters that a placement may lose at once without a warning, unless Options say otherwise.
const DefaultWarnRemovalPercent = 50

// removalLimits bound what may leave the decisions of a placement.
type removalLimits struct {
	// limit is what may leave before more is held; what only the hub that is looked at knows is nil.
	limit guard.Limit
	// warned is the percentage that may leave without a warning; nil is the default.
	warned *int
}

// warnPercent is the share above which users are warned.
func (s removalLimits) warnPercent() int {
	if s.warned == nil {
		return DefaultWarnRemovalPercent
	}

	return *s.warned
}

// deletesForNewSpec reports whether pages are deleted for a changed spec, after the status that tells what is selected. Until they are gone
// the guard is not armed, and once they are there is a condition to write.
func (p *cycle) deletesForNewSpec() bool { return p.Ruling.Disarmed() && len(p.own().plan.Deletes) > 0 }

// holdBegins reports whether a removal is held that was not held before.
func (p *cycle) holdBegins() bool {
	return p.Ruling.Held && !meta.IsStatusConditionTrue(p.placement.Status.Conditions, guard.Condition)
}

// reserve records in the status which clusters are about to leave, before a page loses them. Where the process ends on the way, the next one
// counts them as removed. Without a guard, and while nothing leaves, nothing is written.
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

// patchStatus writes the status if it differs, and returns the placement as it is then; nil when nothing was to do.
func (r *reconciler) patchStatus(ctx context.Context, p *cycle, status record.Status) (*record.Placement, error) {
	patched, err := r.writer.WriteStatus(ctx, p.placement, status)
	if err != nil {
		p.stats.count("status", err)
		p.refused.status = decision.Outdated(err)

		return nil, err
	}

	if patched != nil {
		p.stats.count("status", nil)
		r.statuses.Assume(p.placement.Key(), patched)
	}

	return patched, nil
}
