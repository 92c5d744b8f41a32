// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
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
	return o.text.Write(p) //nolint:wrapcheck // A buffer has no errors.
}

func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// Program is a running command.
type Program struct {
	Output Output

	t     *testing.T
	cmd   *exec.Cmd
	ended chan struct{}
	err   error // of the end, once ended is closed
}

// start starts the binary. It is stopped with the test.
func start(t *testing.T, directory string, environment []string, arguments ...string) *Program {
	t.Helper()
	p := &Program{t: t, cmd: exec.Command(binary(t), arguments...), ended: make(chan struct{})} //nolint:noctx // Stop ends it.
	p.cmd.Dir, p.cmd.Env = directory, append(os.Environ(), environment...)
	p.cmd.Stdout, p.cmd.Stderr = &p.Output, &p.Output
	must(t, p.cmd.Start())
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		p.Stop()
		if t.Failed() {
			t.Logf("%s has written:\n%s", strings.Join(p.cmd.Args[1:], " "), lastLines(p.Output.String()))
		}
	})
	return p
}

// Stop interrupts the program and waits for its end.
func (p *Program) Stop() {
	p.t.Helper()
	select {
	case <-p.ended:
		return
	default:
	}
	if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Errorf("interrupting %v: %v", p.cmd.Args, err)
	}
	timer := time.NewTimer(Timeout)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
		p.t.Errorf("%v does not end", p.cmd.Args)
		must(p.t, p.cmd.Process.Kill())
		<-p.ended
	}
}

// WaitFor waits until the output matches an expression, and returns its first group.
func (p *Program) WaitFor(expression *regexp.Regexp) string {
	p.t.Helper()
	var found string
	Eventually(p.t, "waiting for "+expression.String(), func() error {
		if match := expression.FindStringSubmatch(p.Output.String()); match != nil {
			found = match[1]
			return nil
		}
		select {
		case <-p.ended:
			p.t.Fatalf("%v has ended (%v) before it has written %s:\n%s", p.cmd.Args, p.err, expression, p.Output.String())
		default:
		}
		return fmt.Errorf("not in:\n%s", lastLines(p.Output.String()))
	})
	return found
}

// Eventually waits until a check succeeds.
func Eventually(t *testing.T, what string, check func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Timeout)
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

// lastLines returns the end of an output.
func lastLines(text string) string {
	lines := strings.SplitAfter(text, "\n")
	return strings.Join(lines[max(0, len(lines)-30):], "")
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
