// SPDX-License-Identifier: Apache-2.0

package attack

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/env/attacks"
)

const (
	defaultDuration = 70 * time.Second
	// batchesPerWorld is how many batches a world goes through before a new one begins, with new replicas.
	batchesPerWorld = 6
	// requestTimeout bounds one request of the tests.
	requestTimeout = 10 * time.Second
)

// TestAttack goes through one world after the other until the time is up.
func TestAttack(t *testing.T) {
	duration, seed, err := attacks.Settings(defaultDuration)
	if err != nil {
		t.Fatal(err)
	}

	// The faults kill etcd, which control planes that are lent share.
	environment := attacks.Start(t, localplane.Options{ControllerManager: true})

	a, err := newArena(t.Context(), environment)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.admitUnreadable(t.Context()); err != nil {
		t.Fatal(err)
	}
	end := time.Now().Add(duration)

	for first := seed; time.Now().Before(end); seed++ {
		t.Logf("world of %s=%d", attacks.SeedVariable, seed)
		if err := a.attack(t.Context(), seed, end); err != nil {
			t.Fatalf("%v\n\nto repeat it: %s=%d %s=10m go test ./test/integration/attack -timeout 0 -v  (the run began with %d)",
				err, attacks.SeedVariable, seed, attacks.DurationVariable, first)
		}
	}
	t.Logf("%d batches, %d steps, %d states judged; faults: %v", a.batches, a.steps, a.states, a.struck)
}

// arena is where worlds are attacked, and what is counted over all of them.
type arena struct {
	environment *localplane.ControlPlane
	// admin reaches the API server without a proxy.
	admin    client.WithWatch
	recorder *recorder
	log      *tail
	clock    *skewedClock
	// nudged is the skew of the clock that every placement was evaluated with.
	nudged int64
	// disaster is held by the fault that has the connections, the leader or the control plane to itself.
	disaster sync.Mutex

	batches, steps, states int
	struck                 map[string]int
	// deck has the faults that have not struck since it was last shuffled. Every world begins with a new one, so that its seed repeats it.
	deck []fault
}

func newArena(ctx context.Context, environment *localplane.ControlPlane) (*arena, error) {
	config := environment.AdminConfig()
	config.WarningHandler = rest.NoWarnings{}

	watcher, err := client.NewWithWatch(config, client.Options{Scheme: system.Scheme()})
	if err != nil {
		return nil, fmt.Errorf("making a client that watches: %w", err)
	}
	log := newTail() // It sets the logger that the watches of the recorder use.

	recorder, err := newRecorder(ctx, watcher)
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.Timeout = requestTimeout

	admin, err := client.NewWithWatch(config, client.Options{Scheme: system.Scheme()})
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return &arena{
		environment: environment, admin: admin, recorder: recorder, log: log, clock: &skewedClock{}, struck: map[string]int{},
	}, nil
}

// wait returns when the time is over, with an error when the context ends first.
func wait(ctx context.Context, duration time.Duration) error {
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting: %w", ctx.Err())
	}
}

// persist tries until it succeeds or the time is over. The error is that of the last attempt that the end of the time has not cut short.
func persist(ctx context.Context, try func() error) error {
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	var last error
	for {
		err := try()
		if err == nil {
			return nil
		}
		if ctx.Err() == nil || last == nil {
			last = err
		}
		if waiting := wait(ctx, 100*time.Millisecond); waiting != nil {
			return fmt.Errorf("%w; the last attempt: %w", waiting, last)
		}
	}
}
