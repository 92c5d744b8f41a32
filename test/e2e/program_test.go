package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
)

// timeout is how long something may take on a loaded machine.
const timeout = 90 * time.Second

// output is what a program has written so far.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// program is the binary at work in a directory of its own, where its temporary files are too.
type program struct {
	directory      string
	cmd            *exec.Cmd
	stdout, stderr output
	done           chan struct{}
	err            error // of Wait; valid once done is closed
}

// start runs the binary; it is killed at the end of the test at the latest.
func start(t *testing.T, args ...string) *program {
	t.Helper()
	return startWithin(t, t, args...)
}

// startWithin runs the binary for a part of a story, of which other parts may need it too.
func startWithin(t, story *testing.T, args ...string) *program {
	t.Helper()
	p := &program{directory: story.TempDir(), done: make(chan struct{})}
	temporary := p.temporary()
	if err := os.Mkdir(temporary, 0o700); err != nil {
		t.Fatal(err)
	}
	p.cmd = exec.Command(binary, args...)
	p.cmd.Dir = p.directory
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	p.cmd.Env = append(os.Environ(), binaries.AssetsVariable+"="+assets, binaries.OCMVariable+"="+ocm, "TMPDIR="+temporary, "KUBECONFIG=")
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	story.Cleanup(func() {
		if p.ended() {
			return
		}
		if err := p.cmd.Process.Kill(); err != nil {
			story.Errorf("killing %v: %v", args, err)
		}
		<-p.done
		story.Logf("%v was still running; its log ends with:\n%s", args, lastLines(p.stderr.String()))
	})
	return p
}

// run runs the binary to its end.
func run(t *testing.T, args ...string) *program {
	t.Helper()
	p := start(t, args...)
	p.exitCode(t)
	return p
}

// lastLines returns the end of a log, so that it does not hide the message of a test that has failed.
func lastLines(log string) string {
	const lines = 20
	all := strings.SplitAfter(log, "\n")
	return strings.Join(all[max(0, len(all)-lines):], "")
}

func (p *program) temporary() string { return filepath.Join(p.directory, "tmp") }

func (p *program) String() string {
	return "stdout:\n" + p.stdout.String() + "stderr:\n" + p.stderr.String()
}

func (p *program) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// exitCode waits for the end; -1 is a death by a signal.
func (p *program) exitCode(t *testing.T) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
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

// wantExit waits for the end and compares the exit code.
func (p *program) wantExit(t *testing.T, want int) {
	t.Helper()
	if code := p.exitCode(t); code != want {
		t.Fatalf("%v: exit code %d, want %d; %s", p.cmd.Args, code, want, p)
	}
}

func (p *program) signal(t *testing.T, signal syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(signal); err != nil {
		t.Fatalf("sending %v: %v; %s", signal, err, p)
	}
}

// waitFor waits until the output contains a text.
func (p *program) waitFor(t *testing.T, out *output, text string) {
	t.Helper()
	eventually(t, "waiting for "+text, func() error {
		switch {
		case strings.Contains(out.String(), text):
			return nil
		case p.ended():
			t.Fatalf("ended before it said %q; %s", text, p)
		}
		return fmt.Errorf("not there yet; %s", p)
	})
}

// wantNothingLeft fails for every process and file of a program that has ended.
func (p *program) wantNothingLeft(t *testing.T) {
	t.Helper()
	if running := processes(t, p.directory); len(running) > 0 {
		t.Errorf("still running:\n%s", strings.Join(running, "\n"))
	}
	for _, directory := range []string{p.directory, p.temporary()} {
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

// processes are the command lines that mention a directory.
func processes(t *testing.T, directory string) []string {
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
		listing, err := exec.Command("ps", "-axww", "-o", "args=").Output()
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

// eventually waits until check succeeds.
func eventually(t *testing.T, what string, check func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
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

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
