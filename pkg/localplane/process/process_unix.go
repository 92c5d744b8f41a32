// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package process

import (
	"fmt"
	"syscall"
)

// ownGroup gives a child its own process group.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// signalGroup sends a signal to the process group that pid leads.
func signalGroup(pid int, signal syscall.Signal) error {
	if err := syscall.Kill(-pid, signal); err != nil {
		return fmt.Errorf("sending %s: %w", signal, err)
	}
	return nil
}
