// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
	"github.com/placement-hub/placement-hub/test/program"
)

// Timeout is how long something may take on a loaded machine.
const Timeout = program.Timeout

type (
	// Program is the binary at work in a directory of its own, where its temporary files are too.
	Program = program.Program
	// Output is what a program has written so far.
	Output = program.Output
)

// Start runs the binary; it is killed at the end of the test at the latest.
func Start(t *testing.T, args ...string) *Program {
	t.Helper()
	return startWithin(t, t, args...)
}

// startWithin runs the binary for a part of a story, of which other parts may need it too.
func startWithin(t, story *testing.T, args ...string) *Program {
	t.Helper()
	environment := []string{binaries.AssetsVariable + "=" + Assets}
	if ocm != "" {
		environment = append(environment, binaries.OCMVariable+"="+ocm)
	}
	return program.Start(t, story, Binary, environment, args...)
}

// Run runs the binary to its end. A command that is no process of a hub writes neither warnings nor errors in the format of a log.
func Run(t *testing.T, args ...string) *Program {
	t.Helper()
	p := Start(t, args...)
	p.ExitCode(t)
	if len(args) > 0 && !slices.Contains([]string{"controller", "debug", "provider"}, args[0]) {
		for line := range strings.Lines(p.Stderr.String()) {
			if logged.MatchString(line) {
				t.Errorf("placement %v logs on stderr: %s", args, line)
			}
		}
	}
	return p
}

// logged matches warnings and errors of klog.
var logged = regexp.MustCompile(`^[WEF]\d{4} `)

// Processes are the command lines that mention a directory.
func Processes(t *testing.T, directory string) []string {
	t.Helper()
	return program.Processes(t, directory)
}

// Eventually waits until check succeeds.
func Eventually(t *testing.T, what string, check func() error) {
	t.Helper()
	program.Eventually(t, what, check)
}

// EventuallyWithin waits until check succeeds, which may take longer than Timeout. It asks every second.
func EventuallyWithin(t *testing.T, within time.Duration, what string, check func() error) {
	t.Helper()
	program.EventuallyWithin(t, within, what, check)
}

// Must fails the test at once for an error.
func Must(t *testing.T, err error) {
	t.Helper()
	program.Must(t, err)
}
