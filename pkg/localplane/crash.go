// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
	"github.com/placement-hub/placement-hub/pkg/localplane/process"
)

// Crash kills programs of a running control plane by SIGKILL, as a loss of power does. programs may be binaries.APIServer and, unless etcd
// belongs to another control plane, binaries.Etcd; any other name is an error. Crash returns when the programs have ended; their data stays.
func (c *ControlPlane) Crash(programs ...string) error {
	for _, binary := range programs {
		running, _, err := c.program(binary)
		if err != nil {
			return err
		}
		c.mu.Lock()
		killed := *running
		if !slices.Contains(c.crashed, binary) {
			c.crashed = append(c.crashed, binary)
		}
		c.mu.Unlock()
		if err := killed.Kill(); err != nil {
			return err
		}
	}
	return nil
}

// Recover restarts the programs that Crash has killed, on the same data and ports, so that every client configuration stays valid. It
// returns when they are ready; ctx and startTimeout bound the wait. It must not be called while the control plane stops.
func (c *ControlPlane) Recover(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for _, binary := range []string{binaries.Etcd, binaries.APIServer} {
		c.mu.Lock()
		crashed := slices.Contains(c.crashed, binary)
		c.mu.Unlock()
		if !crashed {
			continue
		}
		running, server, err := c.program(binary)
		if err != nil {
			return err
		}
		started, _, err := c.start(ctx, server)
		if err != nil {
			return fmt.Errorf("starting %s again: %w", binary, err)
		}
		c.mu.Lock()
		*running = started
		c.crashed = slices.DeleteFunc(c.crashed, func(name string) bool { return name == binary })
		closed := c.closed
		c.mu.Unlock()
		if closed {
			return errors.Join(errors.New("the control plane was stopped while it recovered"), started.Kill())
		}
	}
	return nil
}

// program returns the variable of the process of a binary, which mu guards, and the server that restarts it.
func (c *ControlPlane) program(binary string) (**process.Process, server, error) {
	switch {
	case binary == binaries.Etcd && c.etcdServer.launch != nil:
		return &c.etcd, c.etcdServer, nil
	case binary == binaries.APIServer && c.apiServerServer.launch != nil:
		return &c.apiServer, c.apiServerServer, nil
	default:
		return nil, server{}, fmt.Errorf("%s: not a program of this control plane that can crash", binary)
	}
}
