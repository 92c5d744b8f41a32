// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// planeKeeper is the process that lends control planes to the packages with servers, which take each other's instead of starting new ones. It
// starts with the first package.
type planeKeeper struct {
	driver  *driver
	program string

	once   sync.Once
	socket string
	err    error // of the start
	stop   context.CancelFunc
	ended  chan struct{}
	cpu    time.Duration // after ended is closed
}

// logName is the name of the log file of the keeper.
const logName = "control-planes"

// start starts the keeper at the first call, and returns its socket. It runs until close.
func (k *planeKeeper) start(ctx context.Context) (string, error) {
	k.once.Do(func() {
		if err := k.run(context.WithoutCancel(ctx)); err != nil {
			k.err = fmt.Errorf("starting the process that lends control planes: %w", err)
		}
	})
	return k.socket, k.err
}

// run starts the process. It inherits the listening socket, so that packages can connect at once.
func (k *planeKeeper) run(ctx context.Context) (err error) {
	directory, err := os.MkdirTemp("", "placement-test-") // The path of a socket has 107 bytes at most.
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(directory))
		}
	}()
	path := filepath.Join(directory, "planes")
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	listener.SetUnlinkOnClose(false)
	inherited, err := listener.File()
	if closed := listener.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("passing on the socket: %w", err)
	}
	log, err := k.createLog()
	if err != nil {
		return errors.Join(err, inherited.Close())
	}

	ctx, k.stop = context.WithCancel(ctx)
	cmd := newGroup(ctx, k.program)
	cmd.Env = append(k.driver.environment(true), keeperVariable+"=yes")
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{inherited}
	if err := cmd.Start(); err != nil {
		return errors.Join(err, inherited.Close(), log.Close())
	}
	k.socket, k.ended = path, make(chan struct{})
	go func() {
		defer close(k.ended)
		err := errors.Join(inherited.Close(), cmd.Wait(), log.Close(), os.RemoveAll(directory))
		if state := cmd.ProcessState; state != nil {
			k.cpu = state.UserTime() + state.SystemTime()
		}
		if err != nil && ctx.Err() == nil {
			k.driver.console.printf("==> the process that lends control planes ended: %v; see %s", err, k.driver.logPath(logName))
		}
	}()
	return nil
}

func (k *planeKeeper) createLog() (*os.File, error) {
	path := filepath.Join(k.driver.root, k.driver.logPath(logName))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	return os.Create(path)
}

// close stops the control planes, and returns the CPU time that they took.
func (k *planeKeeper) close() time.Duration {
	if k.ended == nil {
		return 0
	}
	k.stop()
	<-k.ended
	return k.cpu
}
