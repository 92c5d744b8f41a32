package comparer

import (
	"context"
	"time"

	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/metrics"
)

const (
	// minPause is the time between comparisons, and pauseShare what it is in times of the last one if that is more.
	minPause    = time.Second
	pauseFactor = 100
)

// Comparer compares the answers for all placements in rotation. Every field is set.
type Comparer struct {
	// Placements are all that there are, in any order.
	Placements func() []inventory.PlacementKey
	// Compare evaluates a placement with both engines. It returns how the answers differ, empty when they do not, and whether there was
	// anything to compare.
	Compare func(context.Context, inventory.PlacementKey) (difference string, compared bool, err error)
	// Diverged is called for a placement whose answers differ, after that was logged and counted.
	Diverged func(inventory.PlacementKey)
	// Busy reports that placements wait to be evaluated.
	Busy func() bool

	rotation []inventory.PlacementKey
}

var _ manager.LeaderElectionRunnable = (*Comparer)(nil)

// NeedLeaderElection says that only the leader compares.
func (*Comparer) NeedLeaderElection() bool { return true }

// Start compares until the context ends.
func (c *Comparer) Start(ctx context.Context) error {
	timer := time.NewTimer(minPause)
	defer timer.Stop()

	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}

		began := time.Now()

		if !c.Busy() {
			c.step(ctx)
		}

		timer.Reset(max(pauseFactor*time.Since(began), minPause))
	}
}

// step compares the answers for the next placement.
func (c *Comparer) step(ctx context.Context) {
	key, found := c.next()
	if !found {
		return
	}

	log := klog.FromContext(ctx).WithValues("placement", klog.KRef(key.Namespace, key.Name), "api", key.API)

	difference, compared, err := c.Compare(ctx, key)
	if err != nil {
		if ctx.Err() == nil {
			log.Error(err, "Comparing the answers of the two engines")
		}

		return
	}

	if !compared {
		return
	}

	metrics.Comparisons.Inc()

	if difference != "" {
		metrics.Divergences.Inc()
		log.Error(nil, "The engine gives another answer than the reference; what it is derived from is made anew. Please report this",
			"difference", difference)
		c.Diverged(key)
	}
}

// next is the next placement of the rotation; a new one begins with the placements that there are then.
func (c *Comparer) next() (inventory.PlacementKey, bool) {
	if len(c.rotation) == 0 {
		c.rotation = c.Placements()
	}

	if len(c.rotation) == 0 {
		return inventory.PlacementKey{}, false
	}

	key := c.rotation[0]
	c.rotation = c.rotation[1:]

	return key, true
}
