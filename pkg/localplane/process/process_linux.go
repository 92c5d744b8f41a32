// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// attributes makes the kernel kill the child when the thread that started it, and so its process, dies.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// commandLine returns the arguments of a running process, its program first. A zombie has none.
func commandLine(_ context.Context, pid int) ([]string, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return nil, fmt.Errorf("reading the command line of process %d: %w", pid, err)
	}
	text := strings.TrimRight(string(content), "\x00")
	if text == "" {
		return nil, nil
	}
	return strings.Split(text, "\x00"), nil
}
