// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"os/exec"
	"syscall"
	"time"
)

// groupTimeout is how long an interrupted command may take to clean up.
const groupTimeout = 15 * time.Second

// GroupCommand returns a command that runs in its own process group together with its children. When ctx ends, all of them are interrupted,
// as by Ctrl-C, and the command is killed if it does not exit within groupTimeout.
func GroupCommand(ctx context.Context, name string, arguments ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, arguments...) //nolint:gosec // The caller names the program.
	cmd.SysProcAttr = ownGroup()
	cmd.Cancel = func() error { return signalGroup(cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = groupTimeout
	return cmd
}
