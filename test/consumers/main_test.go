// SPDX-License-Identifier: Apache-2.0

package consumers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
)

const (
	// binaryVariable names the binary of the hub to test instead of a new build.
	binaryVariable = "PLACEMENT_BINARY"
	// stepTimeout is how long hub and work manager may take for a step on a loaded machine.
	stepTimeout = 90 * time.Second
	// interval is the time between two looks at a condition that a test waits for.
	interval = 50 * time.Millisecond
)

// programs are the paths of the binaries under test.
type programs struct{ hub, work string }

var underTest programs

func TestMain(m *testing.M) {
	ctrl.SetLogger(klog.NewKlogr())
	code, err := prepareAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func prepareAndRun(m *testing.M) (code int, err error) {
	directory, err := os.MkdirTemp("", "placement-consumers-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(directory)) }()
	if underTest.hub, err = findHub(directory); err != nil {
		return 0, err
	}

	work, err := binaries.FindOCM(binaries.Work)
	if err != nil {
		return 0, err
	}
	underTest.work = work.Path
	return m.Run(), nil
}

// findHub returns the path of the hub's binary, which is built into the directory unless binaryVariable names another.
func findHub(directory string) (string, error) {
	if named := os.Getenv(binaryVariable); named != "" {
		return filepath.Abs(named)
	}
	path := filepath.Join(directory, "placement")
	output, err := exec.Command("go", "build", "-buildvcs=false", "-o", path, "../../cmd/placement").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building the hub: %w\n%s", err, output)
	}
	return path, nil
}

// await waits until check returns nil, and returns its last error when that takes too long.
func await(t *testing.T, most time.Duration, check func() error) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), most)
	defer cancel()
	tick := time.NewTicker(interval)
	defer tick.Stop()

	for {
		err := check()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-tick.C:
		}
	}
}

// eventually waits until check returns nil, and ends the test with its last error when that takes too long.
func eventually(t *testing.T, what string, check func() error) {
	t.Helper()
	if err := await(t, stepTimeout, check); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}
