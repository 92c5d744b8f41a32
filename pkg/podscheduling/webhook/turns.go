// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// turnTimeout is how long a review waits for its turn among the reviews of its namespace.
const turnTimeout = 2 * time.Second

// namespaceBusy is the reason in the metric of a review that did not get its turn.
const namespaceBusy = "NamespaceBusy"

// errBusy says that a review did not get its turn.
var errBusy = fmt.Errorf("other workloads of the namespace were reviewed for %s", turnTimeout)

// turns lets one review of each namespace inject the policies of that namespace at a time. The zero value is ready for use, and it is safe
// for concurrent use.
type turns struct {
	mu         sync.Mutex
	namespaces map[string]*turn
}

// turn is that of a namespace. It exists as long as a review has it or waits for it.
type turn struct {
	taken   chan struct{} // has an element while a review has the turn
	reviews int
}

// take waits for the turn of a namespace, and returns the function that ends it. It returns errBusy after turnTimeout, and the error of ctx
// when that ends before.
func (t *turns) take(ctx context.Context, namespace string) (done func(), err error) {
	own := t.join(namespace)
	leave := func() { t.leave(namespace, own) }
	select {
	case own.taken <- struct{}{}:
		return func() { <-own.taken; leave() }, nil
	default:
	}
	waiting, cancel := context.WithTimeoutCause(ctx, turnTimeout, errBusy)
	defer cancel()

	select {
	case own.taken <- struct{}{}:
		return func() { <-own.taken; leave() }, nil
	case <-waiting.Done():
		leave()
		if err := context.Cause(waiting); !errors.Is(err, errBusy) {
			return nil, fmt.Errorf("waiting for other reviews of namespace %s: %w", namespace, err)
		}
		return nil, errBusy
	}
}

func (t *turns) join(namespace string) *turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	own := t.namespaces[namespace]
	if own == nil {
		own = &turn{taken: make(chan struct{}, 1)}
		if t.namespaces == nil {
			t.namespaces = map[string]*turn{}
		}
		t.namespaces[namespace] = own
	}

	own.reviews++
	return own
}

func (t *turns) leave(namespace string, own *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	own.reviews--
	if own.reviews == 0 {
		delete(t.namespaces, namespace)
	}
}
