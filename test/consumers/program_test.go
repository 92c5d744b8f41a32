// SPDX-License-Identifier: Apache-2.0

package consumers

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/placement-hub/placement-hub/pkg/localplane"
)

// tail is how many lines of its output an error about a program quotes.
const tail = 30

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

// String returns the last lines.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	lines := strings.Split(o.text.String(), "\n")
	return strings.Join(lines[max(0, len(lines)-tail):], "\n")
}

// program is a running binary.
type program struct {
	cmd    *exec.Cmd
	output output
	done   chan struct{} // closed when it has ended
	killed bool
}

// start runs a binary until kill or the end of the test. If it ends by itself, the test fails.
func start(t *testing.T, binary string, args ...string) *program {
	t.Helper()
	p := &program{cmd: exec.Command(binary, args...), done: make(chan struct{})}
	p.cmd.Dir = t.TempDir()
	p.cmd.Stdout, p.cmd.Stderr = &p.output, &p.output
	p.cmd.Env = append(os.Environ(), "KUBECONFIG=", "TMPDIR="+p.cmd.Dir)
	must(t, p.cmd.Start())
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait() // How it ends is in its output, which kill shows when nobody has killed it.
	}()

	t.Cleanup(func() {
		if !p.killed {
			p.kill(t)
		}
	})
	return p
}

// ended reports whether the program has ended.
func (p *program) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// kill ends a program that runs, without a chance to finish anything.
func (p *program) kill(t *testing.T) {
	t.Helper()
	p.killed = true
	if p.ended() {
		t.Errorf("%s has ended by itself:\n%s", filepath.Base(p.cmd.Path), &p.output)
		return
	}
	if err := p.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Errorf("killing %s: %v", filepath.Base(p.cmd.Path), err)
	}
	<-p.done
}

// kubeconfig writes a configuration to a file.
func kubeconfig(t *testing.T, config *rest.Config) string {
	t.Helper()
	content, err := localplane.Kubeconfig(config)
	must(t, err)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	must(t, os.WriteFile(path, content, 0o600))
	return path
}
