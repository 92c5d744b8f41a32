package clusterset

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
)

// deletionGrace is how long a binding must have been unwanted until it is deleted, at every look of that time. Roles, role bindings and
// accounts come by separate watches, of which one can be ahead of the others, and to change what a ClusterRoleBinding refers to is to
// delete it and to make it again: neither may cost a namespace its clusters.
const deletionGrace = time.Second

// extendedDeletionGrace takes the place of secondLook while something fails that may come instead.
const extendedDeletionGrace = 10 * time.Second

// graceTracker remembers since when bindings are unwanted. It is safe for concurrent use.
type graceTracker struct {
	clock clock.PassiveClock

	mu            sync.Mutex
	unwantedSince map[string]map[types.UID]time.Time // by namespace
}

func newGraceTracker(c clock.PassiveClock) *graceTracker {
	return &graceTracker{clock: c, unwantedSince: map[string]map[types.UID]time.Time{}}
}

// expired takes the bindings of a namespace that are unwanted now, and returns those that have been for so long, and after which time to look
// again at the others; zero means that there are none. A binding that is left out is wanted again.
func (d *graceTracker) expired(
	namespace string, unwanted []*clusterv1beta2.ManagedClusterSetBinding, long time.Duration,
) (confirmed []*clusterv1beta2.ManagedClusterSetBinding, wait time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()

	before, now := d.unwantedSince[namespace], d.clock.Now()
	since := make(map[types.UID]time.Time, len(unwanted))

	for _, binding := range unwanted {
		first, known := before[binding.UID]
		if !known {
			first = now
		}

		since[binding.UID] = first

		if left := long - now.Sub(first); left > 0 {
			wait = shorterWait(wait, left)
		} else {
			confirmed = append(confirmed, binding)
		}
	}

	if len(since) == 0 {
		delete(d.unwantedSince, namespace)
	} else {
		d.unwantedSince[namespace] = since
	}

	return confirmed, wait
}

// forget drops a namespace that is gone.
func (d *graceTracker) forget(namespace string) {
	d.mu.Lock()
	defer d.mu.Unlock()

	delete(d.unwantedSince, namespace)
}

// shorterWait is the shorter one of two times to wait, where zero is never.
func shorterWait(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}

	return min(a, b)
}
