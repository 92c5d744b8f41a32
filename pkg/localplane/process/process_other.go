// SPDX-License-Identifier: Apache-2.0

//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
)

func attributes() *syscall.SysProcAttr { return nil }

func ownGroup() *syscall.SysProcAttr { return nil }

func commandLine(context.Context, int) ([]string, error) { return nil, errors.ErrUnsupported }

// signalGroup kills the process: there are no process groups here.
func signalGroup(pid int, _ syscall.Signal) error {
	process, err := os.FindProcess(pid)
	if err == nil {
		err = process.Kill()
	}
	if err != nil {
		return fmt.Errorf("killing: %w", err)
	}
	return nil
}
