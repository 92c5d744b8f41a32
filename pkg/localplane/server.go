// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/placement-hub/placement-hub/pkg/localplane/process"
)

const (
	// portAttempts is how often a server is started if its port was taken meanwhile.
	portAttempts = 5
	pollInterval = 50 * time.Millisecond
	probeTimeout = 5 * time.Second
)

// server is a program that listens on a port of loopback.
type server struct {
	name      string
	preferred int // port; 0: any
	// fixed reports that it starts only on the preferred port.
	fixed  bool
	launch func(port int) (*process.Process, error)
	ready  func(ctx context.Context, port int) error
}

// start starts a server and waits until it is ready. It tries other ports if the port is taken.
func (c *ControlPlane) start(ctx context.Context, s server) (*process.Process, int, error) {
	begin := time.Now()
	for attempt := 1; ; attempt++ {
		port, err := freePort(ctx, s.preferred)
		if err == nil && s.fixed && port != s.preferred {
			err = fmt.Errorf("port %d is taken", s.preferred)
		}
		if err != nil {
			return nil, 0, fmt.Errorf("starting %s: %w", s.name, err)
		}
		started, err := s.launch(port)
		if err != nil {
			return nil, 0, err
		}
		err = c.directory.record(started)
		if err == nil {
			err = awaitReady(ctx, s, started, port)
		}
		if err == nil {
			c.options.logf("%s is ready on %s (%.1f s)", s.name, address(port), time.Since(begin).Seconds())
			return started, port, nil
		}
		err = errors.Join(err, started.Kill())
		if attempt == portAttempts || s.fixed || !strings.Contains(err.Error(), "address already in use") {
			return nil, 0, err
		}
		s.preferred = 0
		c.options.logf("%s: port %d was taken in the meantime, trying another one", s.name, port)
	}
}

// awaitReady polls a started server. Its error quotes the end of the log if the server exits or ctx ends.
func awaitReady(ctx context.Context, s server, p *process.Process, port int) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		probe, cancel := context.WithTimeout(ctx, probeTimeout)
		err := s.ready(probe, port)
		cancel()
		if p.Exited() {
			return p.ExitError()
		}
		if err == nil {
			return nil
		}
		select {
		case <-p.Done():
			return p.ExitError()
		case <-ctx.Done():
			return fmt.Errorf("%s did not become ready: %w (last answer: %w); %s", s.name, ctx.Err(), err, p.DescribeLog())
		case <-tick.C:
		}
	}
}
