// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
)

// deletionGrace is how long a ManagedClusterSetBinding must have been unwanted, in every reconcile of that time, before it is deleted.
// ClusterRoles, ClusterRoleBindings and ServiceAccounts arrive by separate watches, and one watch can be ahead of the others. To change the
// roleRef of a ClusterRoleBinding, users delete it and create it again. Neither may cost a namespace its clusters.
const deletionGrace = time.Second

// extendedDeletionGrace replaces deletionGrace while the creation of another binding fails that may take over the clusters.
const extendedDeletionGrace = 10 * time.Second

// graceTracker records since when bindings are unwanted. It is safe for concurrent use.
type graceTracker struct {
	clock clock.PassiveClock

	mu            sync.Mutex
	unwantedSince map[string]map[types.UID]time.Time // by namespace
}

func newGraceTracker(c clock.PassiveClock) *graceTracker {
	return &graceTracker{clock: c, unwantedSince: map[string]map[types.UID]time.Time{}}
}

// expired takes the bindings of a namespace that are unwanted now. It returns those that have been unwanted for the whole grace, and the
// time until the next one is; zero means that none is left. A binding that is not passed counts as wanted again.
func (g *graceTracker) expired(
	namespace string, unwanted []*clusterv1beta2.ManagedClusterSetBinding, long time.Duration,
) (confirmed []*clusterv1beta2.ManagedClusterSetBinding, wait time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	before, now := g.unwantedSince[namespace], g.clock.Now()
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
		delete(g.unwantedSince, namespace)
	} else {
		g.unwantedSince[namespace] = since
	}
	return confirmed, wait
}

// forget drops a namespace that does not exist any more.
func (g *graceTracker) forget(namespace string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.unwantedSince, namespace)
}

// shorterWait returns the shorter one of two delays; zero means no delay is set.
func shorterWait(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}
