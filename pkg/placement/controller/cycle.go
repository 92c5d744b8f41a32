// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/hub/sharedinventory"
	"github.com/placement-hub/placement-hub/pkg/metrics"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

// cycle is one reconcile of a Placement.
type cycle struct {
	placement.Evaluation

	// placement is the Placement with its latest known status.
	placement *api.Placement
	// outputs are the plans by format; the first one is in the API of the Placement.
	outputs []output
	// provedAt is when the removals of the plan were proved.
	provedAt time.Time
	// stats counts the requests, changes has the pages that were written, and refused the objects that conflicted.
	stats   writeStats
	changes pageChanges
	refused refused
}

// output is what to write in one format.
type output struct {
	present placement.Existing
	plan    placement.Plan
}

func (c *cycle) own() *output { return &c.outputs[0] }

// next returns when the Placement has to be reconciled again without an event.
func (c *cycle) next(now time.Time) reconcile.Result {
	wake := c.Result.RequeueAt
	if due := c.own().plan.RequeueAt; wake.IsZero() || !due.IsZero() && due.Before(wake) {
		wake = due
	}
	for _, output := range c.outputs {
		if output.plan.Requeue {
			wake = now
		}
	}

	if c.deletesForNewSpec() || c.joinsWhileHeld() {
		wake = now
	}
	if wake.IsZero() {
		return reconcile.Result{}
	}
	return sharedinventory.After(max(wake.Sub(now), time.Nanosecond))
}

// deletesForNewSpec reports whether pages are deleted for a changed spec, after the status was written. Until they are gone the removal
// budget is not in force, and once they are gone a condition has to be written.
func (c *cycle) deletesForNewSpec() bool {
	return c.BudgetResult.SpecChanged() && len(c.own().plan.Deletes) > 0
}

// joinsWhileHeld reports whether decisions were written while a removal is held: clusters that have joined change when it is not.
func (c *cycle) joinsWhileHeld() bool { return c.BudgetResult.Held && len(c.changes.list) > 0 }

// holdBegins reports whether a removal is held that was not held before.
func (c *cycle) holdBegins() bool {
	return c.BudgetResult.Held && !meta.IsStatusConditionTrue(c.placement.Status.Conditions, removalbudget.Condition)
}

// writeStats has what a reconcile has written.
type writeStats struct {
	clock clock.PassiveClock
	// at is when the last response arrived or the next request may be sent; last is when the last successful response arrived.
	at, last time.Time
	writes   int
}

// begin notes the time before the requests of a plan.
func (w *writeStats) begin(plan placement.Plan) {
	if !plan.Empty() {
		w.at = w.clock.Now()
	}
}

// count counts a request.
func (w *writeStats) count(kind string, err error) {
	now, result := w.clock.Now(), metrics.WriteOK
	switch {
	case queue.Outdated(err):
		result = metrics.WriteOutdated
	case err != nil:
		result = metrics.WriteError
	default:
		w.last = now
		w.writes++
	}

	metrics.ObserveWrite(kind, result, now.Sub(w.at))
	w.at = now
}

// graceTimeout bounds what follows the writes of the decisions in the API of the Placement, and each request of a mirrored format.
const graceTimeout = 5 * time.Second

// grace returns a context with graceTimeout.
func grace(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, graceTimeout)
}

// refused are the objects for which requests conflicted.
type refused struct {
	pages []refusedPage
	// status reports that the Placement is one of them.
	status bool
}

// refusedPage is a page in a format; known is its expected state, or nil if it was expected not to exist.
type refusedPage struct {
	form  api.Codec
	page  *api.Page
	known *api.Page
}

// note adds a page if the error is a conflict.
func (r *refused) note(existing placement.Existing, page *api.Page, err error) {
	if !queue.Outdated(err) {
		return
	}
	refused := refusedPage{form: existing.Codec, page: page}
	if i := slices.IndexFunc(existing.Pages, func(known *api.Page) bool { return known.Name == page.Name }); i >= 0 {
		refused.known = existing.Pages[i]
	}
	r.pages = append(r.pages, refused)
}
