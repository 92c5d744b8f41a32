package controller

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/decision"
	"github.com/placement-hub/placement-hub/pkg/decision/guard"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// DefaultWarnRemovalPercent is the share of its clusters that a placement may lose at once without a warning, unless Options say otherwise.
const DefaultWarnRemovalPercent = 50

// shares are percentages of the clusters in the decisions of a placement.
type shares struct {
	// held is what may leave before more is held; nil where only the hub that is looked at knows it.
	held *int
	// warned is what may leave without a warning; nil is the default.
	warned *int
}

// warnsAbove is the share above which users are warned.
func (s shares) warnsAbove() int { return valueOr(s.warned, DefaultWarnRemovalPercent) }

func valueOr(value *int, otherwise int) int {
	if value == nil {
		return otherwise
	}

	return *value
}

// departed is what has left the decisions of placements within the window of their guard. It is safe for concurrent use.
type departed struct {
	mu   sync.Mutex
	left map[inventory.PlacementKey]guard.Departures
}

func newDeparted() *departed {
	return &departed{left: map[inventory.PlacementKey]guard.Departures{}}
}

func (d *departed) from(key inventory.PlacementKey) guard.Departures {
	d.mu.Lock()
	defer d.mu.Unlock()

	return d.left[key]
}

// remember replaces what has left the decisions of a placement.
func (d *departed) remember(key inventory.PlacementKey, left guard.Departures) {
	d.mu.Lock()
	defer d.mu.Unlock()

	if len(left) == 0 {
		delete(d.left, key)
	} else {
		d.left[key] = left
	}
}

// guard withholds an answer that would remove too much. What is not held is remembered before it is written: a part of it may be, and the
// rest fail.
func (r *placementReconciler) guard(
	result *scheduling.Result, present decision.Present, now time.Time,
) (*scheduling.Result, guard.Ruling) {
	key := present.Placement.Key()
	result, ruling := decision.Guarded(result, present, r.held, r.departed.from(key), now)
	r.departed.remember(key, ruling.Departures)

	return result, ruling
}

// deletesForNewSpec reports whether pages are deleted for a changed spec, after the status that tells what is selected. Until they are gone
// the guard is not armed, and once they are there is a condition to write.
func (p *pass) deletesForNewSpec() bool { return p.removal.Disarmed() && len(p.own().plan.Deletes) > 0 }

// conditions are those beside the ones that every placement has, for the status after all pages are written.
func (p *pass) conditions() []metav1.Condition {
	return slices.Concat(p.further, p.removal.Conditions(!p.deletesForNewSpec()))
}

// holdBegins reports whether a removal is held that was not held before.
func (p *pass) holdBegins() bool {
	return p.removal.Held && !meta.IsStatusConditionTrue(p.placement.Status.Conditions, guard.Condition)
}
