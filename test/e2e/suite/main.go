// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
)

// binaryVariable names the binary to test instead of a new build.
const binaryVariable = "PLACEMENT_BINARY"

var (
	// Binary is the path of the binary to test.
	Binary string
	// Assets holds the binaries of the control plane, wherever they were found: the tests run in directories outside of the checkout.
	Assets string
	// ocm is the directory with the work agent of Open Cluster Management; empty if there is none.
	ocm string
)

// Main runs the tests of a package and ends the process; it is the TestMain of every package beside this one. The tests find the binaries that
// they start in Binary and Assets.
func Main(m *testing.M) {
	code, err := prepareAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func prepareAndRun(m *testing.M) (code int, err error) {
	if err := os.Setenv("KUBERC", "off"); err != nil { // Preferences of who runs the tests change what kubectl does.
		return 0, err
	}
	directory, err := os.MkdirTemp("", "placement-e2e-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(directory)) }()
	if Binary, err = findBinary(directory); err != nil {
		return 0, err
	}
	if Assets, err = linkAssets(directory); err != nil {
		return 0, err
	}
	if agent, err := binaries.FindOCM(binaries.WorkAgent); err == nil { // Else the tests that need it fail.
		if ocm, err = filepath.Abs(agent.Dir); err != nil {
			return 0, fmt.Errorf("%s: %w", binaries.OCMVariable, err)
		}
	}
	return m.Run(), nil
}

// WorkAgent returns the path of the work agent of Open Cluster Management.
func WorkAgent(t *testing.T) string {
	t.Helper()
	_, err := binaries.FindOCM(binaries.WorkAgent)
	Must(t, err)
	return filepath.Join(ocm, binaries.WorkAgent)
}

// findBinary copies the binary that is named, or builds one. A binary finds a control plane in its own directory: a test that has none must
// not find that of the checkout.
func findBinary(directory string) (string, error) {
	path := filepath.Join(directory, "placement")
	if named := os.Getenv(binaryVariable); named != "" {
		content, err := os.ReadFile(named)
		if err != nil {
			return "", fmt.Errorf("%s: %w; build it with make build, or leave the variable unset", binaryVariable, err)
		}
		return path, os.WriteFile(path, content, 0o700)
	}
	build := exec.Command("go", "build", "-buildvcs=false", "-trimpath", "-o", path, "github.com/placement-hub/placement-hub/cmd/placement")
	output, err := build.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building the binary: %w\n%s", err, output)
	}
	return path, nil
}

func linkAssets(directory string) (string, error) {
	found, err := binaries.Find()
	if err != nil {
		return "", err
	}
	if missing := found.Missing(true); len(missing) > 0 {
		return "", fmt.Errorf("the tests need %v too; run make assets-scheduler", missing)
	}
	links := filepath.Join(directory, "assets")
	if err := os.Mkdir(links, 0o700); err != nil {
		return "", err
	}
	for _, target := range []string{found.Etcd, found.APIServer, found.ControllerManager, found.Scheduler, found.Kubectl} {
		if err := os.Symlink(target, filepath.Join(links, filepath.Base(target))); err != nil {
			return "", err
		}
	}
	return links, nil
}
