// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"github.com/placement-hub/placement-hub/pkg/inventory"
)

const (
	// historyPeriod is the time between two comparisons of the history of the API server with the view.
	historyPeriod = 5 * time.Second
	// maxObjectsInLog is the greatest number of objects of a resource that are logged when the history was lost.
	maxObjectsInLog = 100
)

// history finds out when the API server goes back to an earlier state: a consistent read that is older than what was read before it. It is safe
// for concurrent use.
type history struct {
	observed *Observed
	once     sync.Once
	lost     chan struct{} // closed when the history was found to be lost

	mu sync.Mutex
	// highest has the highest version of a list of each resource.
	highest map[schema.GroupVersionResource]string
}

func newHistory(observed *Observed) *history {
	return &history{observed: observed, lost: make(chan struct{}), highest: map[schema.GroupVersionResource]string{}}
}

// before returns a lower bound for the version of a consistent list of a resource that is requested afterwards.
func (h *history) before(of schema.GroupVersionResource) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	highest := h.observed.highest(of)
	if compareVersions(h.highest[of], highest) > 0 {
		return h.highest[of]
	}
	return highest
}

// check returns ErrHistoryLost if a version was read that is lower than a bound, now or earlier. An empty version or bound is no evidence.
func (h *history) check(bound, version string) error {
	if bound != "" && version != "" && compareVersions(version, bound) < 0 {
		h.once.Do(func() { close(h.lost) })
	}
	select {
	case <-h.lost:
		return ErrHistoryLost
	default:
		return nil
	}
}

// listed notes the version of a list.
func (h *history) listed(of schema.GroupVersionResource, version string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if compareVersions(version, h.highest[of]) > 0 {
		h.highest[of] = version
	}
}

// WatchHistory compares the history of the API server with the view until the context ends. It returns ErrHistoryLost after it has logged which
// objects differ from the view: versions are then no order any more, neither for the watches, which wait for versions that may come much later,
// nor for assumed writes. Only a process that starts anew has nothing of the lost history.
func (c *Checker) WatchHistory(ctx context.Context) error {
	ticker := time.NewTicker(historyPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-c.history.lost:
			c.logDifferences(ctx)
			return fmt.Errorf("%w: the process ends, so that the next one lists every object", ErrHistoryLost)
		case <-ticker.C:
			for _, kind := range inventory.Kinds() {
				if _, err := c.reader.page(ctx, kind.Resource, "", metav1.ListOptions{Limit: 1}); err != nil {
					klog.FromContext(ctx).V(2).Info("Cannot read the version of the API server", "resource", kind.Resource.Resource, "err", err)
				}
			}
		}
	}
}

// logDifferences logs the objects whose versions in the API server differ from those in the view.
func (c *Checker) logDifferences(ctx context.Context) {
	for _, kind := range inventory.Kinds() {
		shown := c.observed.objects(kind.Resource, "")

		list, err := c.reader.client.Resource(kind.Resource).List(ctx, metav1.ListOptions{})
		if err != nil {
			klog.FromContext(ctx).Error(err, "Listing what has changed with the history of the API server", "resource", kind.Resource.Resource)
			continue
		}
		read := reading{versions: listedVersions(list)}
		read.setGone(shown)
		var differing []string

		for object, version := range read.all(kind.Resource) {
			if c.observed.shown(object) != version {
				differing = append(differing, strings.TrimPrefix(object.String(), "/"))
			}
		}
		slices.Sort(differing)
		klog.FromContext(ctx).Info("The API server has gone back to an earlier state; objects that differ from what it has shown before",
			"resource", kind.Resource.Resource, "differing", len(differing), "first", differing[:min(len(differing), maxObjectsInLog)])
	}
}
