package controller

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

// ownWrites has the resourceVersions of the last own writes of ClusterRequests until the cache shows them. It is safe for concurrent use.
//
// A request that is reconciled before that would be written again, with a precondition that cannot hold. It is no assumecache.Cache, which
// overlays the writes on the cache: no user waits for such a reconcile, and the event of the write enqueues the request again.
type ownWrites struct {
	mu   sync.Mutex
	last map[types.NamespacedName]ownWrite
}

type ownWrite struct {
	resourceVersion string
	at              time.Time
}

// longestWait is after which time a write counts as shown, so that a request does not wait for an event that never comes.
const longestWait = 30 * time.Second

func newOwnWrites() *ownWrites { return &ownWrites{last: map[types.NamespacedName]ownWrite{}} }

// note takes the response to a write of a request.
func (w *ownWrites) note(written *openmcpv1alpha1.ClusterRequest, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.last[client.ObjectKeyFromObject(written)] = ownWrite{resourceVersion: written.ResourceVersion, at: now}
}

// forget drops the write of a request that is gone.
func (w *ownWrites) forget(request types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()

	delete(w.last, request)
}

// wait returns how long to wait until the cache shows the last own write of a request; 0 for a state that is not older than the write, or
// cannot be compared.
func (w *ownWrites) wait(cached *openmcpv1alpha1.ClusterRequest, now time.Time) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()

	key := client.ObjectKeyFromObject(cached)

	last, known := w.last[key]
	if !known {
		return 0
	}

	order, err := resourceversion.CompareResourceVersion(cached.ResourceVersion, last.resourceVersion)
	if left := longestWait - now.Sub(last.at); err == nil && order < 0 && left > 0 {
		return left
	}

	delete(w.last, key)

	return 0
}
