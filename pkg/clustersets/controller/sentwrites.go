package controller

import (
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/hub/queue"
)

// confirmTimeout is how long a sent write is assumed to appear in the cache before the API server is asked.
const confirmTimeout = 30 * time.Second

// sentWrites records the resourceVersion that each write was based on, so that the write is not sent again while the cache still shows that
// version. It is safe for concurrent use; one worker at a time writes an object.
//
// It is no assumecache.Cache, which overlays the responses on the informer cache: the next reconcile needs to know that a binding was
// written, and nothing of the response. An overlay would have to be paused in every reconcile, swept for lost events, and filled by a
// further read after each conflict, where here one comparison of resourceVersions answers all three.
type sentWrites struct {
	clock clock.PassiveClock
	// liveVersion returns the resourceVersion of an object on the API server; "" if it does not exist.
	liveVersion func(ctx context.Context, key types.NamespacedName) (string, error)

	mu     sync.Mutex
	writes map[string]map[string]sentWrite // by namespace and name
}

type sentWrite struct {
	base string // resourceVersion in the cache; empty without an object
	at   time.Time
}

func newSentWrites(c clock.PassiveClock, shown func(context.Context, types.NamespacedName) (string, error)) *sentWrites {
	return &sentWrites{clock: c, liveVersion: shown, writes: map[string]map[string]sentWrite{}}
}

// liveBindingVersion returns a function that reads the resourceVersion of a ManagedClusterSetBinding from the API server. It lists by name,
// which is as consistent as a GET and needs no right beyond those of the cache.
func liveBindingVersion(live client.Reader) func(context.Context, types.NamespacedName) (string, error) {
	return func(ctx context.Context, key types.NamespacedName) (string, error) {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(schema.GroupVersion(clusterv1beta2.GroupVersion).WithKind("ManagedClusterSetBindingList"))

		err := live.List(ctx, list, client.InNamespace(key.Namespace), client.MatchingFields{metav1.ObjectNameField: key.Name})
		if err != nil {
			return "", fmt.Errorf("reading ManagedClusterSetBinding %s from the API server: %w", key, err)
		}

		for i := range list.Items {
			return list.Items[i].ResourceVersion, nil
		}

		return "", nil
	}
}

// write calls send unless the cache is known to be behind: a write that is based on the same resourceVersion was sent or was rejected with
// a conflict, and the API server shows another version now.
func (u *sentWrites) write(ctx context.Context, key types.NamespacedName, base string, send func() error) error {
	switch sent, overdue := u.begin(key, base); {
	case sent && !overdue:
		return nil
	case sent:
		behind, err := u.behind(ctx, key, base)
		if behind || err != nil {
			return err
		}
	}

	err := send()
	if err == nil {
		return nil
	}

	if queue.Outdated(err) {
		if behind, unknown := u.behind(ctx, key, base); behind && unknown == nil {
			return err
		}
	}

	u.forget(key)

	return err
}

// behind reports whether the API server shows another resourceVersion of an object than the cache.
func (u *sentWrites) behind(ctx context.Context, key types.NamespacedName, base string) (bool, error) {
	version, err := u.liveVersion(ctx, key)

	return err == nil && version != base, err
}

// begin records a write before it is sent. It reports whether a write on the same base was sent before, and whether confirmTimeout has
// passed since then; overdue is true at most once in confirmTimeout.
func (u *sentWrites) begin(key types.NamespacedName, base string) (sent, overdue bool) {
	u.mu.Lock()
	defer u.mu.Unlock()

	last, known := u.writes[key.Namespace][key.Name]
	sent = known && last.base == base

	if sent && u.clock.Since(last.at) < confirmTimeout {
		return true, false
	}

	if u.writes[key.Namespace] == nil {
		u.writes[key.Namespace] = map[string]sentWrite{}
	}
	// The record is made before the write, so that its event cannot arrive earlier than the record.
	u.writes[key.Namespace][key.Name] = sentWrite{base: base, at: u.clock.Now()}

	return sent, sent
}

// observe drops the record of a write when an event shows another resourceVersion than its base. A deletion, whose event carries the last
// state, always drops it.
func (u *sentWrites) observe(key types.NamespacedName, version string, deleted bool) {
	u.mu.Lock()
	defer u.mu.Unlock()

	if last, known := u.writes[key.Namespace][key.Name]; known && (deleted || last.base != version) {
		u.drop(key)
	}
}

func (u *sentWrites) forget(key types.NamespacedName) {
	u.mu.Lock()
	defer u.mu.Unlock()

	u.drop(key)
}

func (u *sentWrites) drop(key types.NamespacedName) {
	delete(u.writes[key.Namespace], key.Name)

	if len(u.writes[key.Namespace]) == 0 {
		delete(u.writes, key.Namespace)
	}
}
