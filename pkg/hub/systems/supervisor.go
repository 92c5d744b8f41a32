// SPDX-License-Identifier: Apache-2.0

package systems

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

const (
	// soonPeriod is how often discovery is asked while a definition exists that is not served yet, or has failed.
	soonPeriod = time.Second
	// latePeriod is how often discovery is asked without an event, for kinds that an aggregated API server serves.
	latePeriod = 30 * time.Second
	// longestPause bounds the pause before a system that has failed is started again; it begins with soonPeriod and doubles.
	longestPause = time.Minute
)

// replaced is the reason while a system starts again for other definitions of the same names.
const replaced = "a CustomResourceDefinition was replaced by another one"

// Add adds systems to the manager, which run on every replica: their webhooks answer, and their controllers work once this process leads.
func Add(mgr manager.Manager, all ...*System) error {
	if len(all) == 0 {
		return nil
	}
	defined, err := addDefinitions(mgr)
	if err != nil {
		return err
	}

	for _, system := range all {
		system.reason = starting
		if err := mgr.Add(&supervisor{System: system, hub: mgr, definitions: defined, changed: defined.listen()}); err != nil {
			return fmt.Errorf("adding the system %s: %w", system.Name, err)
		}
	}
	return nil
}

// supervisor starts and ends a system.
type supervisor struct {
	*System

	hub         manager.Manager
	definitions *definitions
	// changed has a value after definitions have changed.
	changed <-chan struct{}
}

var _ manager.LeaderElectionRunnable = (*supervisor)(nil)

// NeedLeaderElection returns false.
func (*supervisor) NeedLeaderElection() bool { return false }

// running is one start of a system.
type running struct {
	identity string
	begun    time.Time
	end      context.CancelFunc
	ended    chan error
}

// stop ends a start and waits for its end.
func (r *running) stop() error {
	r.end()
	return <-r.ended
}

// Start looks at what is served, and has the system on or off accordingly, until ctx ends.
func (s *supervisor) Start(ctx context.Context) error {
	logger := klog.FromContext(ctx).WithValues("system", s.Name)
	var (
		current *running
		pause   = soonPeriod
	)

	for ctx.Err() == nil {
		var wait time.Duration
		current, wait = s.adjust(klog.NewContext(ctx, logger), current, pause)
		var ended chan error
		if current != nil {
			ended = current.ended
		}
		timer := time.NewTimer(wait)

		select {
		case <-ctx.Done():
		case <-s.changed:
		case <-timer.C:
		case err := <-ended:
			s.off(logger, fmt.Sprintf("it failed, and starts again: %v", err), true)
			if time.Since(current.begun) > longestPause {
				pause = soonPeriod
			}
			current = nil
			timer.Stop()
			timer.Reset(pause)
			pause = min(2*pause, longestPause)

			select {
			case <-ctx.Done():
			case <-timer.C:
			}
		}

		timer.Stop()
	}

	if current == nil {
		return nil
	}
	if err := current.stop(); err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("ending the system %s: %w", s.Name, err)
	}
	return nil
}

// adjust starts or ends the system if what is served has changed. It returns the present start, nil if the system is off, and after what time to
// look again.
func (s *supervisor) adjust(ctx context.Context, current *running, pause time.Duration) (*running, time.Duration) {
	logger := klog.FromContext(ctx)

	seen, err := s.definitions.look(ctx, s.Needs)
	switch {
	case err != nil && current != nil: // What runs goes on.
		return current, latePeriod
	case err != nil:
		s.off(logger, err.Error(), false)
		return nil, soonPeriod
	case current != nil && current.identity == seen.identity && seen.missing == "":
		return current, latePeriod
	}

	if current != nil {
		s.off(logger, cmp.Or(seen.missing, replaced), true) // Its webhooks answer no longer from what is about to go.
		if err := current.stop(); err != nil {
			logger.Error(err, "The system did not end cleanly")
		}
		s.off(logger, cmp.Or(seen.missing, replaced), true) // It may have turned on at the last moment.
	}

	if seen.missing != "" {
		s.off(logger, seen.missing, true)
		if seen.soon {
			return nil, soonPeriod
		}
		return nil, latePeriod
	}

	started, err := s.begin(ctx, seen.identity)
	if err != nil {
		s.off(logger, fmt.Sprintf("it cannot start: %v", err), true)
		return nil, pause
	}
	return started, latePeriod
}

// begin builds the system and runs it.
func (s *supervisor) begin(ctx context.Context, identity string) (*running, error) {
	mgr, err := newNested(s.hub, s.System)
	if err != nil {
		return nil, err
	}
	handlers, err := s.Setup(mgr)
	if err != nil {
		return nil, errors.Join(err, mgr.abandon())
	}
	ctx, end := context.WithCancel(ctx)
	started := &running{identity: identity, begun: time.Now(), end: end, ended: make(chan error, 1)}

	s.serve(handlers)
	go func() { started.ended <- mgr.run(ctx, func() { s.on(ctx, mgr) }) }()
	return started, nil
}

func (s *supervisor) on(ctx context.Context, mgr *nested) {
	s.turnOn(func() error { return mgr.watches.Check(context.WithoutCancel(ctx)) })
	klog.FromContext(ctx).Info("The system is on")
}

// off logs why the system is off, unless that is known.
func (s *supervisor) off(logger klog.Logger, reason string, known bool) {
	if s.turnOff(reason, known) {
		logger.Info("The system is off", "reason", reason)
	}
}
