package decision

import (
	"time"

	"github.com/placement-hub/placement-hub/pkg/decision/guard"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// Guarded is an answer as it is to be carried out: withheld when the guard of the placement holds it, and as it is otherwise. The share is
// that of the hub, nil when it is not known; left is what has left the decisions before.
func Guarded(
	result *scheduling.Result, present Present, percent *int, left guard.Departures, now time.Time,
) (*scheduling.Result, guard.Ruling) {
	guarded := guard.For(present.Placement, percent)
	if !guarded.On() {
		return result, guard.Ruling{}
	}

	ruling := guarded.Judge(result, present.decided(), left, now)
	if ruling.Held {
		result = result.Withheld(ruling.WakeAt)
	}

	return result, ruling
}

// decided are the clusters in the pages that can be written. What stands only in one that is being deleted goes with it, whatever the answer.
func (p Present) decided() map[string]bool {
	decided := make(map[string]bool, p.count())

	for _, page := range p.Pages {
		for i := range page.Decisions {
			decided[page.Decisions[i].Cluster] = true
		}
	}

	return decided
}
