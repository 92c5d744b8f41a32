// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"

	"github.com/placement-hub/placement-hub/test/browser/checkout"
	"github.com/placement-hub/placement-hub/test/program"
)

// binaryVariable is the environment variable with the binary to test; by default bin/placement of the checkout.
const binaryVariable = "PLACEMENT_BINARY"

// start starts the binary. It is interrupted with the test, so that a control plane ends with it.
func start(t *testing.T, environment []string, arguments ...string) *program.Program {
	t.Helper()
	p := program.Start(t, t, binary(t), environment, arguments...)
	t.Cleanup(func() {
		stop(t, p)
		if t.Failed() {
			t.Logf("%v has written:\n%s%s", arguments, program.LastLines(p.Stdout.String()), program.LastLines(p.Stderr.String()))
		}
	})
	return p
}

// stop interrupts a program unless it has ended, and waits for its end.
func stop(t *testing.T, p *program.Program) {
	t.Helper()
	if !p.Ended() {
		p.Signal(t, syscall.SIGINT)
		p.ExitCode(t)
	}
}

// waitFor waits until an output of a program matches an expression, and returns its first group.
func waitFor(t *testing.T, p *program.Program, output *program.Output, expression *regexp.Regexp) string {
	t.Helper()
	var found string
	program.Eventually(t, "waiting for "+expression.String(), func() error {
		if match := expression.FindStringSubmatch(output.String()); match != nil {
			found = match[1]
			return nil
		}
		if p.Ended() {
			t.Fatalf("the program has ended before it has written %s; %s", expression, p)
		}
		return fmt.Errorf("not in:\n%s", program.LastLines(output.String()))
	})
	return found
}

// binary returns the binary to test.
func binary(t *testing.T) string {
	t.Helper()
	if named := os.Getenv(binaryVariable); named != "" {
		return named
	}
	root, err := checkout.Root()
	program.Must(t, err)
	path := filepath.Join(root, "bin", "placement")
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("no binary to test: run `make build`, or name one with %s: %v", binaryVariable, err)
	}
	return path
}
