package explain

import (
	"time"

	"github.com/placement-hub/placement-hub/pkg/decision"
	"github.com/placement-hub/placement-hub/pkg/decision/guard"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// Guarded is what becomes of an answer when the guard against mass removal has seen it, as decision.Guarded.
type Guarded func(*scheduling.Result, decision.Present, time.Time) (*scheduling.Result, guard.Ruling)

// Evaluate answers a request of the placement that is present on what a running hub knows: as World.Evaluate does, without a World.
func Evaluate(
	request *scheduling.Request, snapshot *inventory.Snapshot, present decision.Present, guarded Guarded, now time.Time,
) Evaluation {
	return evaluate(scheduling.Reference, func() *scheduling.Request { return request }, snapshot, present, guarded, now)
}
