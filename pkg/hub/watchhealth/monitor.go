// SPDX-License-Identifier: Apache-2.0

package watchhealth

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
)

// Tolerated is how long a watch may be broken before Check fails.
const Tolerated = time.Minute

// Monitor tracks the watches of informers. It is safe for concurrent use.
type Monitor struct {
	mu      sync.Mutex
	watches map[string]*state // by Go type
}

// state counts the open watches of one kind; closed is the time since which none is open.
type state struct {
	open   int
	closed time.Time
}

// New returns a Monitor without watches.
func New() *Monitor { return &Monitor{watches: map[string]*state{}} }

// NewInformer returns an informer whose watches the Monitor tracks. It is meant for cache.Options.NewInformer.
func (m *Monitor) NewInformer(
	from toolscache.ListerWatcher, object runtime.Object, resync time.Duration, indexers toolscache.Indexers,
) toolscache.SharedIndexInformer {
	return toolscache.NewSharedIndexInformer(m.Follow(from, object), object, resync, indexers)
}

// Follow wraps a ListerWatcher so that the Monitor tracks its watches, by the Go type of object.
func (m *Monitor) Follow(from toolscache.ListerWatcher, object runtime.Object) toolscache.ListerWatcher {
	kind := strings.TrimPrefix(fmt.Sprintf("%T", object), "*")
	m.change(kind, 0)
	through := toolscache.ToListerWatcherWithContext(from)
	return toolscache.ToListWatcherWithWatchListSemantics(&toolscache.ListWatch{
		ListWithContextFunc: through.ListWithContext,
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			opened, err := through.WatchWithContext(ctx, options)
			if err != nil {
				return nil, err //nolint:wrapcheck // The reflector distinguishes errors by their types.
			}
			m.change(kind, 1)
			return &trackedWatch{Interface: opened, ended: sync.OnceFunc(func() { m.change(kind, -1) })}, nil
		},
	}, from)
}

// change records that a watch was opened (1) or has ended (-1); 0 adds the kind.
func (m *Monitor) change(kind string, by int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	is := m.watches[kind]
	if is == nil {
		is = &state{closed: time.Now()}
		m.watches[kind] = is
	}
	if is.open += by; is.open == 0 && by < 0 {
		is.closed = time.Now()
	}
}

// Check returns an error that names the kinds whose watch has been broken for longer than Tolerated.
func (m *Monitor) Check(context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var broken []string
	for kind, is := range m.watches {
		if since := time.Since(is.closed); is.open == 0 && since > Tolerated {
			broken = append(broken, fmt.Sprintf("%s for %s", kind, since.Round(time.Second)))
		}
	}

	if len(broken) == 0 {
		return nil
	}
	slices.Sort(broken)
	return fmt.Errorf("the watches of the API server have been broken: %s", strings.Join(broken, ", "))
}

// trackedWatch is a watch that reports its end. A reflector calls Stop for every watch that it has opened.
type trackedWatch struct {
	watch.Interface

	ended func()
}

// Stop ends the watch.
func (t *trackedWatch) Stop() {
	t.Interface.Stop()
	t.ended()
}
