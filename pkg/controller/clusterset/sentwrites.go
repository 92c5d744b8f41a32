package clusterset

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

	"github.com/placement-hub/placement-hub/pkg/decision"
)

// confirmTimeout is how long a write is believed that the cache does not show, until the API server is asked about it.
const confirmTimeout = 30 * time.Second

// sentWrites remembers on which state of an object a write was based, so that it is not sent again while the cache still shows that
// state. It is safe for concurrent use; an object is written by one worker at a time.
type sentWrites struct {
	clock clock.PassiveClock
	// liveVersion is the resourceVersion that the API server shows of an object; empty when there is none.
	liveVersion func(ctx context.Context, key types.NamespacedName) (string, error)

	mu     sync.Mutex
	writes map[string]map[string]sentWrite // by namespace and name
}

type sentWrite struct {
	base string // the resourceVersion that the cache showed; empty when it showed no object
	at   time.Time
}

func newSentWrites(c clock.PassiveClock, shown func(context.Context, types.NamespacedName) (string, error)) *sentWrites {
	return &sentWrites{clock: c, liveVersion: shown, writes: map[string]map[string]sentWrite{}}
}

// liveBindingVersion reads the resourceVersion of a ManagedClusterSetBinding from the API server: it lists by name, which is as consistent as
// a get and takes no right beyond those that the cache has.
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

// write sends a write that is based on a state that the cache shows, unless the cache is known to be behind: such a write was sent, or
// refused, and the API server does not show that state any more.
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

	if decision.Outdated(err) {
		if behind, unknown := u.behind(ctx, key, base); behind && unknown == nil {
			return err
		}
	}

	u.forget(key)

	return err
}

// behind reports whether the API server shows another state of an object than the cache.
func (u *sentWrites) behind(ctx context.Context, key types.NamespacedName, base string) (bool, error) {
	version, err := u.liveVersion(ctx, key)

	return err == nil && version != base, err
}

// begin notes a write that is about to be sent. It reports whether one was sent that is based on the same state, and whether the API server is to
// be asked what became of it; it is to be asked once in unseenFor.
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
	// It is noted before it is sent: an event that ends it cannot be missed.
	u.writes[key.Namespace][key.Name] = sentWrite{base: base, at: u.clock.Now()}

	return sent, sent
}

// observe ends the memory of a write when an event shows another state than the one it was based on. A deletion, which shows the state
// that there was at last, ends it always.
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
