// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"github.com/placement-hub/placement-hub/pkg/localplane/process"
)

// groupTimeout is how long the processes of a group may take to end after the first of them, and then how long after they are killed.
const groupTimeout = 10 * time.Second

// group is a command in its own process group. When its context ends, all processes of the group are interrupted.
type group struct{ *exec.Cmd }

func newGroup(ctx context.Context, name string, arguments ...string) group {
	return group{process.GroupCommand(ctx, name, arguments...)}
}

// run runs the command, and returns when no process of its group is left. It kills what is left groupTimeout after the end of the command: a
// test may have started a program that outlives it. It returns groupTimeout later even if a killed process is still there: what has no parent any
// more stays until the first process of the machine takes note of its end.
func (g group) run() error {
	err := g.Run()
	if g.Process == nil {
		return fmt.Errorf("starting: %w", err)
	}
	timeout := time.NewTimer(groupTimeout)
	defer timeout.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for killed := false; g.signal(0); {
		select {
		case <-tick.C:
		case <-timeout.C:
			if killed {
				return ended(err)
			}
			killed = true
			g.signal(syscall.SIGKILL)
			timeout.Reset(groupTimeout)
		}
	}
	return ended(err)
}

// ended describes how a command has ended; nil if it succeeded.
func ended(err error) error {
	if err != nil {
		return fmt.Errorf("it ended with %w", err)
	}
	return nil
}

// signal sends a signal to the group, and reports whether it has a process.
func (g group) signal(signal syscall.Signal) bool {
	return !errors.Is(syscall.Kill(-g.Process.Pid, signal), syscall.ESRCH)
}
