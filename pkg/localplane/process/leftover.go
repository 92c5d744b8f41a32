// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// leftoverTimeout is how long a killed leftover may take to disappear.
const leftoverTimeout = 10 * time.Second

// KillLeftover kills the process group of pid if it is a child of an earlier run: its program is called name, and its command line has the
// directory of that run. A process id that was reused by another program does not match. It reports whether it killed the group.
func KillLeftover(ctx context.Context, pid int, name, directory string) (bool, error) {
	if pid <= 1 || !Running(ctx, pid, name, directory) {
		return false, nil
	}
	if err := signalGroup(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return false, fmt.Errorf("killing the leftover %s (process %d) of an earlier run: %w", name, pid, err)
	}
	waiting, cancel := context.WithTimeout(ctx, leftoverTimeout)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for Running(ctx, pid, name, directory) {
		select {
		case <-waiting.Done():
			return true, fmt.Errorf("the leftover %s (process %d) of an earlier run does not end: %w", name, pid, waiting.Err())
		case <-tick.C:
		}
	}
	return true, nil
}

// Running reports whether pid is a process whose program is called name and whose command line has the directory.
func Running(ctx context.Context, pid int, name, directory string) bool {
	arguments, err := commandLine(ctx, pid)
	return err == nil && matches(arguments, name, directory)
}

func matches(arguments []string, name, directory string) bool {
	if len(arguments) == 0 || filepath.Base(arguments[0]) != name {
		return false
	}
	for _, argument := range arguments[1:] {
		if strings.Contains(argument, directory+string(filepath.Separator)) {
			return true
		}
	}
	return false
}
