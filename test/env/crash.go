package env

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/placement-hub/placement-hub/test/env/internal/process"
)

// Crash kills programs of a running environment by SIGKILL, as a loss of power does. binaries may be APIServerBinary and, unless etcd
// belongs to another environment, EtcdBinary; any other name is an error. Their data stays. Crash returns when the programs have ended.
func (e *Environment) Crash(binaries ...string) error {
	for _, binary := range binaries {
		running, _, err := e.program(binary)
		if err != nil {
			return err
		}
		e.mu.Lock()
		killed := *running
		if !slices.Contains(e.crashed, binary) {
			e.crashed = append(e.crashed, binary)
		}
		e.mu.Unlock()
		if err := killed.Kill(); err != nil {
			return err
		}
	}
	return nil
}

// Recover restarts the programs that Crash has killed, on the same data and ports, so that every client configuration stays valid. It
// returns when they are ready; ctx and startTimeout bound the wait. It must not be called while the environment stops.
func (e *Environment) Recover(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for _, binary := range []string{EtcdBinary, APIServerBinary} {
		e.mu.Lock()
		crashed := slices.Contains(e.crashed, binary)
		e.mu.Unlock()
		if !crashed {
			continue
		}
		running, server, err := e.program(binary)
		if err != nil {
			return err
		}
		started, _, err := e.start(ctx, server)
		if err != nil {
			return fmt.Errorf("starting %s again: %w", binary, err)
		}
		e.mu.Lock()
		*running = started
		e.crashed = slices.DeleteFunc(e.crashed, func(name string) bool { return name == binary })
		closed := e.closed
		e.mu.Unlock()
		if closed {
			return errors.Join(errors.New("the environment was stopped while it recovered"), started.Kill())
		}
	}
	return nil
}

// program returns the variable of the process of a binary, which mu guards, and the server that restarts it.
func (e *Environment) program(binary string) (**process.Process, server, error) {
	switch {
	case binary == EtcdBinary && e.owner == nil:
		return &e.etcd, e.etcdServer, nil
	case binary == APIServerBinary:
		return &e.apiServer, e.apiServerServer, nil
	default:
		return nil, server{}, fmt.Errorf("%s: not a program of this environment that can crash", binary)
	}
}
