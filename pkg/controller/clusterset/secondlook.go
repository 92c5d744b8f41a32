package clusterset

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
)

// secondLook is how long a binding must have been unwanted until it is deleted, at every look of that time. Roles, role bindings and
// accounts come by separate watches, of which one can be ahead of the others, and to change what a ClusterRoleBinding refers to is to
// delete it and to make it again: neither may cost a namespace its clusters.
const secondLook = time.Second

// longLook takes the place of secondLook while something fails that may come instead.
const longLook = 10 * time.Second

// doubts remembers since when bindings are unwanted. It is safe for concurrent use.
type doubts struct {
	clock clock.PassiveClock

	mu    sync.Mutex
	since map[string]map[types.UID]time.Time // by namespace
}

func newDoubts(c clock.PassiveClock) *doubts {
	return &doubts{clock: c, since: map[string]map[types.UID]time.Time{}}
}

// confirm takes the bindings of a namespace that are unwanted now, and returns those that have been for so long, and after which time to look
// again at the others; zero means that there are none. A binding that is left out is wanted again.
func (d *doubts) confirm(
	namespace string, unwanted []*clusterv1beta2.ManagedClusterSetBinding, long time.Duration,
) (confirmed []*clusterv1beta2.ManagedClusterSetBinding, wait time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()

	before, now := d.since[namespace], d.clock.Now()
	since := make(map[types.UID]time.Time, len(unwanted))

	for _, binding := range unwanted {
		first, known := before[binding.UID]
		if !known {
			first = now
		}

		since[binding.UID] = first

		if left := long - now.Sub(first); left > 0 {
			wait = earliest(wait, left)
		} else {
			confirmed = append(confirmed, binding)
		}
	}

	if len(since) == 0 {
		delete(d.since, namespace)
	} else {
		d.since[namespace] = since
	}

	return confirmed, wait
}

// forget drops a namespace that is gone.
func (d *doubts) forget(namespace string) {
	d.mu.Lock()
	defer d.mu.Unlock()

	delete(d.since, namespace)
}

// earliest is the shorter one of two times to wait, where zero is never.
func earliest(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}

	return min(a, b)
}
