// SPDX-License-Identifier: Apache-2.0

package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// Command is a program to run.
type Command struct {
	Name    string   // name in messages
	Path    string   // of the executable
	Args    []string // without the program's name
	LogPath string   // standard output and error; truncated at start
}

// Process is a started program. Its methods are safe for concurrent use.
type Process struct {
	command Command
	pid     int
	done    chan struct{}
	err     error // of Wait; valid once done is closed
}

// Start starts the command. The process runs until it exits, Kill or Terminate.
func Start(command Command) (*Process, error) {
	log, err := os.OpenFile(command.LogPath, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the log of %s: %w", command.Name, err)
	}
	// The process outlives the call, so no context of the caller may end it.
	cmd := &exec.Cmd{
		Path:        command.Path,
		Args:        append([]string{command.Path}, command.Args...),
		Env:         environ(),
		Stdout:      log,
		Stderr:      log,
		SysProcAttr: attributes(),
	}

	p := &Process{command: command, done: make(chan struct{})}
	started := make(chan error)
	go p.supervise(cmd, started)
	err = <-started
	// The child has its own copy of the descriptor.
	err = errors.Join(err, log.Close())
	if err == nil {
		return p, nil
	}
	err = fmt.Errorf("starting %s (%s): %w", command.Name, command.Path, err)
	if p.pid != 0 {
		err = errors.Join(err, p.Kill())
	}
	return nil, err
}

// supervise starts the child and waits for it on one operating system thread: the parent-death signal of Linux is bound to the thread that
// forked, so this thread must live as long as the child.
func (p *Process) supervise(cmd *exec.Cmd, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		close(p.done)
		started <- err
		return
	}
	p.pid = cmd.Process.Pid
	started <- nil
	p.err = cmd.Wait()
	close(p.done)
}

// environ returns the environment of a child: that of this process without the variables that etcd reads as flags.
func environ() []string {
	var kept []string
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "ETCD_") {
			kept = append(kept, entry)
		}
	}
	return kept
}

// PID returns the process id, which is also the id of its process group.
func (p *Process) PID() int { return p.pid }

// Name returns the name of the program in messages.
func (p *Process) Name() string { return p.command.Name }

// Done returns a channel that is closed when the process has exited.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exited reports whether the process has exited.
func (p *Process) Exited() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// ExitError describes an unexpected exit: the exit status and the last lines of the log. It blocks until the process has exited.
func (p *Process) ExitError() error {
	<-p.done
	how := errors.New("exit status 0")
	if p.err != nil {
		how = p.err
	}
	return fmt.Errorf("%s exited: %w; %s", p.command.Name, how, p.DescribeLog())
}

// DescribeLog names the log file and quotes its end.
func (p *Process) DescribeLog() string {
	tail, err := Tail(p.command.LogPath, 20)
	if err != nil {
		return fmt.Sprintf("its log cannot be read: %v", err)
	}
	return fmt.Sprintf("the end of %s:\n%s", p.command.LogPath, tail)
}

// Kill kills the process and its group and waits for the exit.
func (p *Process) Kill() error {
	if p.Exited() {
		return nil
	}
	if err := signalGroup(p.pid, syscall.SIGKILL); err != nil && !p.Exited() {
		return fmt.Errorf("killing %s (process %d): %w", p.command.Name, p.pid, err)
	}
	<-p.done
	return nil
}

// Terminate sends SIGTERM to the process group, and kills it if the process has not exited within grace.
func (p *Process) Terminate(grace time.Duration) error {
	if p.Exited() {
		return nil
	}
	if err := signalGroup(p.pid, syscall.SIGTERM); err != nil && !p.Exited() {
		return fmt.Errorf("terminating %s (process %d): %w", p.command.Name, p.pid, err)
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
		return nil
	case <-timer.C:
		return p.Kill()
	}
}
