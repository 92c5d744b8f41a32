// SPDX-License-Identifier: Apache-2.0

//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package process

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// attributes has only the process group: there is no parent-death signal here, and KillLeftover replaces it.
func attributes() *syscall.SysProcAttr { return ownGroup() }

// commandLine returns the arguments of a running process, its program first. Arguments with spaces are split, which is harmless for a
// search in them.
func commandLine(ctx context.Context, pid int) ([]string, error) {
	output, err := exec.CommandContext(ctx, "ps", "-ww", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return nil, fmt.Errorf("reading the command line of process %d: %w", pid, err)
	}
	return strings.Fields(string(output)), nil
}
