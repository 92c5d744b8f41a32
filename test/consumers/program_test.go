// SPDX-License-Identifier: Apache-2.0

package consumers

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/test/program"
)

// running is a binary that runs until kill or the end of the test.
type running struct {
	*program.Program

	killed bool
}

// start runs a binary. If it ends by itself, the test fails.
func start(t *testing.T, binary string, args ...string) *running {
	t.Helper()
	p := &running{Program: program.Start(t, t, binary, nil, args...)}
	t.Cleanup(func() {
		if p.Ended() && !p.killed {
			t.Errorf("%s has ended by itself:\n%s", filepath.Base(binary), p.log())
		}
	})
	return p
}

// kill ends a program that runs, without a chance to finish anything.
func (r *running) kill(t *testing.T) {
	t.Helper()
	r.Signal(t, syscall.SIGKILL)
	r.WantExit(t, -1)
	r.killed = true
}

// log returns the last lines that the program has written.
func (r *running) log() string {
	return program.LastLines(r.Stdout.String() + r.Stderr.String())
}

// kubeconfig writes a configuration to a file.
func kubeconfig(t *testing.T, config *rest.Config) string {
	t.Helper()
	content, err := localplane.Kubeconfig(config)
	program.Must(t, err)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	program.Must(t, os.WriteFile(path, content, 0o600))
	return path
}
