package explain

import (
	"time"

	"github.com/placement-hub/placement-hub/pkg/decision"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// Evaluate answers a request of the placement that is present on what a running hub knows: as World.Evaluate does, without a World.
func Evaluate(request *scheduling.Request, snapshot *inventory.Snapshot, present decision.Present, now time.Time) Evaluation {
	return evaluate(scheduling.Reference, func() *scheduling.Request { return request }, snapshot, present, now)
}
