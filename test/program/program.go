// SPDX-License-Identifier: Apache-2.0

package program

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Timeout is how long something may take on a loaded machine.
const Timeout = 90 * time.Second

// Output is what a program has written so far. It is safe for concurrent use.
type Output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p) //nolint:wrapcheck // It is never an error.
}

func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// Program is the binary at work in a directory of its own, where its temporary files are too.
type Program struct {
	Directory      string
	cmd            *exec.Cmd
	Stdout, Stderr Output
	done           chan struct{}
	err            error // of Wait; valid once done is closed
}

// Start runs the program at a path with additional environment variables. It is killed at the end of the story at the latest, of which the test may
// be a part: other parts may need the program too.
func Start(t, story *testing.T, path string, environment []string, args ...string) *Program {
	t.Helper()
	p := &Program{Directory: story.TempDir(), done: make(chan struct{})}
	temporary := p.temporary()
	if err := os.Mkdir(temporary, 0o700); err != nil {
		t.Fatal(err)
	}
	p.cmd = exec.CommandContext(context.WithoutCancel(t.Context()), path, args...) // The cleanup below ends it.
	p.cmd.Dir = p.Directory
	p.cmd.Stdout, p.cmd.Stderr = &p.Stdout, &p.Stderr
	p.cmd.Env = append(append(os.Environ(), "TMPDIR="+temporary, "KUBECONFIG="), environment...)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	story.Cleanup(func() {
		if p.Ended() {
			return
		}
		if err := p.cmd.Process.Kill(); err != nil {
			story.Errorf("killing %v: %v", args, err)
		}
		<-p.done
		story.Logf("%v was still running; its log ends with:\n%s", args, LastLines(p.Stderr.String()))
	})
	return p
}

// LastLines returns the end of a log, so that it does not hide the message of a test that has failed.
func LastLines(log string) string {
	const lines = 20
	all := strings.SplitAfter(log, "\n")
	return strings.Join(all[max(0, len(all)-lines):], "")
}

func (p *Program) temporary() string { return filepath.Join(p.Directory, "tmp") }

func (p *Program) String() string {
	return "stdout:\n" + p.Stdout.String() + "stderr:\n" + p.Stderr.String()
}

// CPUTime returns for how long the process has used CPUs, on Linux.
func (p *Program) CPUTime(t *testing.T) time.Duration {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	Must(t, err)
	_, after, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(after)
	user, err := strconv.Atoi(fields[11])
	Must(t, err)
	return time.Duration(user) * time.Second / 100 // proc(5): clock ticks, of which a second has 100.
}

// Ended reports whether the process has ended.
func (p *Program) Ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// ExitCode waits for the end; -1 is a death by a signal.
func (p *Program) ExitCode(t *testing.T) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), Timeout) // A test ends its programs when its context has ended.
	defer cancel()
	select {
	case <-p.done:
	case <-ctx.Done():
		t.Fatalf("%v does not end; %s", p.cmd.Args, p)
	}
	var exit *exec.ExitError
	if p.err != nil && !errors.As(p.err, &exit) {
		t.Fatal(p.err)
	}
	return p.cmd.ProcessState.ExitCode()
}

// WantExit waits for the end and compares the exit code.
func (p *Program) WantExit(t *testing.T, want int) {
	t.Helper()
	if code := p.ExitCode(t); code != want {
		t.Fatalf("%v: exit code %d, want %d; %s", p.cmd.Args, code, want, p)
	}
}

// Signal sends a signal to the process.
func (p *Program) Signal(t *testing.T, signal syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(signal); err != nil {
		t.Fatalf("sending %v: %v; %s", signal, err, p)
	}
}

// WaitFor waits until the output contains a text.
func (p *Program) WaitFor(t *testing.T, out *Output, text string) {
	t.Helper()
	Eventually(t, "waiting for "+text, func() error {
		switch {
		case strings.Contains(out.String(), text):
			return nil
		case p.Ended():
			t.Fatalf("ended before it said %q; %s", text, p)
		}
		return fmt.Errorf("not there yet; %s", p)
	})
}

// WantStderr fails for every part that stderr lacks.
func (p *Program) WantStderr(t *testing.T, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(p.Stderr.String(), part) {
			t.Errorf("stderr lacks %q; %s", part, p)
		}
	}
}

// WantStdout fails for every part that stdout lacks.
func (p *Program) WantStdout(t *testing.T, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(p.Stdout.String(), part) {
			t.Errorf("%v: stdout does not contain %q; %s", p.cmd.Args, part, p)
		}
	}
}

// WantNothingLeft fails for every process and file of a program that has ended.
func (p *Program) WantNothingLeft(t *testing.T) {
	t.Helper()
	if running := Processes(t, p.Directory); len(running) > 0 {
		t.Errorf("still running:\n%s", strings.Join(running, "\n"))
	}
	for _, directory := range []string{p.Directory, p.temporary()} {
		entries, err := os.ReadDir(directory)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			if filepath.Join(directory, entry.Name()) != p.temporary() {
				t.Errorf("%s is left in %s", entry.Name(), directory)
			}
		}
	}
}

// Processes are the command lines that mention a directory.
func Processes(t *testing.T, directory string) []string {
	t.Helper()
	var lines []string
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if content, err := os.ReadFile(file); err == nil { // it can have ended in between
			lines = append(lines, strings.ReplaceAll(string(content), "\x00", " "))
		}
	}
	if len(files) == 0 { // not Linux
		listing, err := exec.CommandContext(t.Context(), "ps", "-axww", "-o", "args=").Output()
		if err != nil {
			t.Fatalf("listing processes: %v", err)
		}
		lines = strings.Split(string(listing), "\n")
	}
	var found []string
	for _, line := range lines {
		if strings.Contains(line, directory) {
			found = append(found, line)
		}
	}
	return found
}

// Eventually waits until check succeeds.
func Eventually(t *testing.T, what string, check func() error) {
	t.Helper()
	await(t, Timeout, 50*time.Millisecond, what, check)
}

// EventuallyWithin waits until check succeeds, which may take longer than Timeout. It asks every second.
func EventuallyWithin(t *testing.T, within time.Duration, what string, check func() error) {
	t.Helper()
	await(t, within, time.Second, what, check)
}

func await(t *testing.T, within, period time.Duration, what string, check func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s: %v", what, err)
		case <-tick.C:
		}
	}
}

// Must fails the test at once for an error.
func Must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
