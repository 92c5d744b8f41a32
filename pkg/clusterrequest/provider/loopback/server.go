// SPDX-License-Identifier: Apache-2.0

package loopback

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
)

// The time between a failed start and the next one doubles from the first to the last of these.
const (
	firstRetry = 2 * time.Second
	lastRetry  = time.Minute
)

// server is the API server of a Cluster, which starts in the background and is started again when it has ended. Its methods are safe for
// concurrent use.
type server struct {
	key       types.NamespacedName
	directory string
	options   Options

	mu       sync.Mutex // guards the fields below
	plane    *localplane.ControlPlane
	cancel   context.CancelFunc // ends the run; nil while none is going on
	done     chan struct{}      // closed at the end of the run
	failures int                // of starts, since the last one that succeeded
	retry    time.Time          // the earliest time of the next run
	stopped  bool
	stopErr  error // of the last run that was stopped
}

// ensure begins a run if none is going on. It returns the control plane, nil while it starts, and whether the last start failed.
func (s *server) ensure() (plane *localplane.ControlPlane, failed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancel == nil && !s.stopped && !s.options.Clock.Now().Before(s.retry) {
		var ctx context.Context
		ctx, s.cancel = context.WithCancel(context.Background()) // It runs until stop.
		s.done = make(chan struct{})
		go s.run(ctx, s.done)
	}
	return s.plane, s.failures > 0
}

// running returns the control plane; nil if it does not run.
func (s *server) running() *localplane.ControlPlane {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.plane
}

// run starts the API server and waits until it ends or stop is called.
func (s *server) run(ctx context.Context, done chan struct{}) {
	defer close(done)
	plane, err := localplane.StartAPIServer(ctx, s.options.Etcd, prefix(s.key), localplane.Options{
		DataDir: s.directory, Log: s.options.Log, Assets: &binaries.Assets{APIServer: s.options.APIServer},
	})
	if err != nil {
		s.ended(ctx, err, nil)
		return
	}

	s.mu.Lock()
	s.plane, s.failures = plane, 0
	s.mu.Unlock()
	err = plane.Wait(ctx)
	s.ended(ctx, err, plane.Stop())
}

// ended takes note that a run has ended.
func (s *server) ended(ctx context.Context, err, stopErr error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancel()
	started := s.plane != nil
	s.plane, s.cancel, s.stopErr = nil, nil, stopErr
	if ctx.Err() != nil && s.stopped {
		return
	}
	klog.Background().Error(errors.Join(err, stopErr), "The API server of a Cluster ended, and is started again", "cluster", s.key)

	if !started {
		s.retry = s.options.Clock.Now().Add(min(firstRetry<<min(s.failures, 5), lastRetry))
		s.failures++
	}
}

// stop ends the run and waits for its end. No other begins.
func (s *server) stop() error {
	s.mu.Lock()
	s.stopped = true
	done := s.done
	if s.cancel != nil {
		s.cancel()
	}
	s.mu.Unlock()
	if done != nil {
		<-done
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopErr
}
