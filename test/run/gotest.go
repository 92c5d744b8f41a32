// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// errFailed is the cause with which the first package that fails ends the others.
var errFailed = errors.New("a package failed")

// testRun is one run of the driver.
type testRun struct {
	driver    *driver
	progress  *progress
	keepGoing bool // a package that fails ends no others

	mu       sync.Mutex
	measured map[string]float64 // seconds of the packages whose result was not cached
	cpu      map[string]time.Duration
	running  []string
}

// unitArguments returns the arguments of `go` for packages that start no server. `make verify` vets them.
func unitArguments(packages []string) []string {
	return append([]string{"test", "-json", "-vet=off", "-ldflags=-s"}, packagePaths(packages)...)
}

// environment returns the environment of tests, and of `go` that runs them. Compilers, linkers and servers collect garbage less often, which saves
// a tenth of the CPU time; servers have small heaps.
func (d *driver) environment(servers bool) []string {
	environment, percent := slices.Clone(d.base), "GOGC=400"
	if servers {
		environment = append(environment, "PLACEMENT_BINARY="+filepath.Join(d.root, "bin", "placement"))
		percent = "GOGC=800"
	}
	if valueOf(d.base, "GOGC") == "" {
		environment = append(environment, percent)
	}
	return environment
}

// testUnits runs the tests of packages that start no server.
func (t *testRun) testUnits(ctx context.Context, r *results, packages []string) error {
	for _, nested := range slices.Concat([]string{""}, t.driver.modules) {
		own := slices.DeleteFunc(slices.Clone(packages), func(directory string) bool { return moduleOf(directory) != nested })
		if len(own) > 0 {
			if err := t.testModule(ctx, nested, own, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// testModule runs the tests of packages of one module, the root or a nested one.
func (t *testRun) testModule(ctx context.Context, nested string, packages []string, r *results) error {
	d := t.driver
	cmd := newGroup(ctx, d.goCommand, unitArguments(ofModule(packages, nested))...)
	cmd.Dir, cmd.Env = filepath.Join(d.root, filepath.FromSlash(nested)), d.environment(false)
	t.direct(cmd, r)
	return t.unlessReported(ctx, r, cmd.run(), packages...)
}

// unlessReported returns the error of a command that ran the tests of packages. Failures of packages end no others if the run keeps going.
func (t *testRun) unlessReported(ctx context.Context, r *results, err error, packages ...string) error {
	if t.keepGoing && ctx.Err() == nil && r.hasFailed(packages...) {
		return nil
	}
	return err
}

// newResults returns the results of packages. The first failure calls stop, unless the run keeps going.
func (t *testRun) newResults(ctx context.Context, stop context.CancelCauseFunc, servers []string) *results {
	r := &results{driver: t.driver, running: map[string]*result{}, builds: map[string]*excerpt{}}
	r.stopped = func() bool { return ctx.Err() != nil }
	r.ended = func(p *result, action string, elapsed time.Duration) {
		t.end(p, action, elapsed)
		switch {
		case action != failed:
		case t.keepGoing:
			t.driver.console.printf("%s", p.report(t.driver.logPath(p.directory), slices.Contains(servers, p.directory)))
		default:
			stop(errFailed)
		}
	}
	return r
}

// direct directs the events of a command to the results, and its messages to the console.
func (t *testRun) direct(cmd group, r *results) {
	cmd.Stdout = &lines{handle: func(line []byte) error {
		running, err := r.add(line)
		t.setRunning(running)
		return err
	}}
	cmd.Stderr = &lines{handle: func(line []byte) error {
		t.driver.console.printf("%s", line)
		return nil
	}}
}

// conclude returns the error of tests that have ended: the packages that failed, the cause of ctx, or that of the command.
func (t *testRun) conclude(ctx context.Context, r *results, err error, servers []string) error {
	t.setRunning(nil)
	if closed := r.close(); closed != nil {
		return closed
	}
	switch {
	case len(r.failures) > 0 && !t.keepGoing: // The first failure has ended the others.
		return &failure{packages: r.failedPackages(servers)}
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case err != nil:
		err = fmt.Errorf("%s test: %w; the messages are above", t.driver.goCommand, err)
	}
	if len(r.failures) > 0 {
		return &failure{packages: r.failedPackages(servers), cause: err}
	}
	return err
}

// end prints that a package has ended, and records how long it took.
func (t *testRun) end(r *result, action string, elapsed time.Duration) {
	closing := r.closing
	if closing == "" {
		closing = fmt.Sprintf("%s\t%s%s\t%.3fs", map[string]string{passed: "ok  ", failed: "FAIL", skipped: "?   "}[action], module, r.directory,
			elapsed.Seconds())
	}
	if action == passed && !strings.Contains(closing, "(cached)") {
		t.mu.Lock()
		t.measured[r.directory] = elapsed.Seconds()
		t.mu.Unlock()
	}
	t.progress.end(r.directory, closing)
}

func (t *testRun) setRunning(packages []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running = packages
}

// breakSilence prints what runs when no package has ended for a while, until ctx ends.
func (t *testRun) breakSilence(ctx context.Context) {
	tick := time.NewTicker(silenceInterval / 4)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			t.mu.Lock()
			running := t.running
			t.mu.Unlock()
			t.progress.breakSilence(running)
		}
	}
}

// record writes the durations of the packages for the estimates of the next run.
func (t *testRun) record(whole bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := t.progress.durations
	next.Packages = maps.Clone(next.Packages)
	maps.Copy(next.Packages, t.measured)
	var measured, known float64
	for directory, seconds := range next.Packages {
		known += seconds
		if _, ran := t.measured[directory]; ran {
			measured += seconds
		}
	}
	// A run in which most of the work was cached says little about how many packages run at once.
	if whole && 2*measured > known {
		next.AtOnce = max(1, measured/max(1, t.driver.now().Sub(t.progress.start).Seconds()))
	}
	return next.write(t.driver.durationsPath())
}
