// SPDX-License-Identifier: Apache-2.0

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
	// minPause is the least time between two comparisons. pauseFactor is the length of the pause in multiples of the duration of the last
	// comparison.
	minPause    = time.Second
	pauseFactor = 100
)

// Comparer compares the results of all Placements in rotation. All fields are required.
type Comparer struct {
	// Placements returns the keys of all Placements in any order.
	Placements func() []inventory.Key
	// Compare schedules a Placement with both schedulers. It returns a description of the difference, which is empty for equal results, and
	// whether the Placement could be compared.
	Compare func(context.Context, inventory.Key) (difference string, compared bool, err error)
	// Diverged is called for a Placement with different results, after the difference was logged and counted.
	Diverged func(inventory.Key)
	// Busy reports that Placements wait to be reconciled. No comparison starts meanwhile.
	Busy func() bool

	rotation []inventory.Key
}

var _ manager.LeaderElectionRunnable = (*Comparer)(nil)

// NeedLeaderElection returns true: only the leader compares.
func (*Comparer) NeedLeaderElection() bool { return true }

// Start compares until ctx ends. It always returns nil.
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

// step compares the results of the next Placement.
func (c *Comparer) step(ctx context.Context) {
	key, found := c.next()
	if !found {
		return
	}
	log := klog.FromContext(ctx).WithValues("placement", klog.KRef(key.Namespace, key.Name), "api", key.API())

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

// next returns the next Placement of the rotation. A new rotation starts with the Placements that exist then.
func (c *Comparer) next() (inventory.Key, bool) {
	if len(c.rotation) == 0 {
		c.rotation = c.Placements()
	}
	if len(c.rotation) == 0 {
		return inventory.Key{}, false
	}
	key := c.rotation[0]
	c.rotation = c.rotation[1:]
	return key, true
}
