// SPDX-License-Identifier: Apache-2.0

package managedcluster

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/placement-hub/placement-hub/pkg/clustersets"
)

// gracePeriod delays the first taint of a cluster until the hub has observed for a period that its condition is not True
// (docs/spec/differences.md B21). The times of conditions do not count, because the clocks of agents may be wrong. It is safe for concurrent use.
type gracePeriod struct {
	period time.Duration
	clock  clock.PassiveClock

	mu sync.Mutex
	// since has the clusters whose condition is not True, by name. Without a period it is empty.
	since map[string]unavailability
}

// unavailability is since when the condition of a cluster is not True.
type unavailability struct {
	uid types.UID
	// at is when this process has observed it. It is zero for a cluster that the hub has tainted already or that has never reported a condition.
	at time.Time
}

func newGracePeriod(period time.Duration, c clock.PassiveClock) *gracePeriod {
	return &gracePeriod{period: period, clock: c, since: map[string]unavailability{}}
}

// observe takes note of a state of a cluster, and returns how long its first taint has to wait. Zero or less is no wait.
func (g *gracePeriod) observe(cluster *clusterv1.ManagedCluster) time.Duration {
	if g.period == 0 {
		return 0
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if clustersets.AvailabilityTaint(cluster.Status.Conditions) == "" {
		delete(g.since, cluster.Name)
		return 0
	}

	tainted, now := slices.ContainsFunc(cluster.Spec.Taints, clustersets.IsAvailabilityTaint), g.clock.Now()
	since, known := g.since[cluster.Name]
	if !known || since.uid != cluster.UID {
		since = unavailability{uid: cluster.UID}
		if !tainted && clustersets.IsJudged(cluster) {
			since.at = now
		}
		g.since[cluster.Name] = since
	}
	if tainted || since.at.IsZero() { // A time on the wall clock could be before the zero time plus the period.
		return 0
	}
	return since.at.Add(g.period).Sub(now)
}

// forget forgets a cluster that is deleted.
func (g *gracePeriod) forget(cluster string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.since, cluster)
}
