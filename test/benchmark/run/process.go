// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// process is a program that is measured.
type process struct {
	name   string
	begin  time.Time
	cmd    *exec.Cmd
	output output
	done   chan struct{}
	err    error // of Wait; valid once done is closed
}

// output is what a program has written so far.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write keeps what the program writes.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p) //nolint:wrapcheck // A buffer has no errors.
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// startProcess runs a program, until it is stopped or killed: it outlives the scenario that starts it.
func startProcess(ctx context.Context, path string, args ...string) (*process, error) {
	p := &process{name: path, begin: time.Now(), done: make(chan struct{})}
	p.cmd = exec.CommandContext(context.WithoutCancel(ctx), path, args...)
	p.cmd.Stdout, p.cmd.Stderr = &p.output, &p.output
	p.cmd.Env = append(os.Environ(), "KUBECONFIG=")
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", path, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// ended is an error that quotes the log when the program does not run any more.
func (p *process) ended() error {
	select {
	case <-p.done:
		lines := strings.Split(strings.TrimSpace(p.output.String()), "\n")
		return fmt.Errorf("%s ended: %w\n%s", p.name, errors.Join(p.err, errors.New("exit")), strings.Join(lines[max(0, len(lines)-20):], "\n"))
	default:
		return nil
	}
}

// awaitOutput waits until a function finds what it looks for in the output.
func (p *process) awaitOutput(ctx context.Context, found func(text string) bool) error {
	return poll(ctx, 10*time.Millisecond, func() (bool, error) {
		return found(p.output.String()), p.ended()
	})
}

// cpu is the CPU time so far.
func (p *process) cpu() (time.Duration, error) {
	if err := p.ended(); err != nil {
		return 0, err
	}
	return cpuTime(p.cmd.Process.Pid)
}

// memory is the peak of the resident memory so far, in bytes.
func (p *process) memory() (int64, error) {
	if err := p.ended(); err != nil {
		return 0, err
	}
	return peakMemory(p.cmd.Process.Pid)
}

// resetMemory makes memory begin anew, with what the program has now, which it returns in bytes.
func (p *process) resetMemory() (int64, error) {
	if err := resetPeak(p.cmd.Process.Pid); err != nil {
		return 0, fmt.Errorf("resetting the peak memory of %s: %w", p.name, err)
	}
	return p.memory()
}

// stop ends the program as an operator does, and waits for it.
func (p *process) stop() error {
	if err := p.ended(); err != nil {
		return err
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("stopping %s: %w", p.name, err)
	}
	<-p.done
	if p.err != nil {
		return fmt.Errorf("stopping %s: %w\n%s", p.name, p.err, p.output.String())
	}
	return nil
}

// kill ends the program at once, if it runs.
func (p *process) kill() {
	if p.ended() == nil {
		_ = p.cmd.Process.Kill() // It may have ended in between.
		<-p.done
	}
}

// poll calls check until it is true or fails.
func poll(ctx context.Context, every time.Duration, check func() (bool, error)) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if done, err := check(); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// buildProgram compiles a program of this repository into a directory.
func buildProgram(ctx context.Context, log io.Writer, pkg, path string) error {
	build := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-trimpath", "-o", path, pkg)
	build.Stdout, build.Stderr = log, log
	if err := build.Run(); err != nil {
		return fmt.Errorf("building %s: %w", pkg, err)
	}
	return nil
}
