package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
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
	driver   *driver
	progress *progress

	mu       sync.Mutex
	measured map[string]float64 // seconds of the packages whose result was not cached
	running  []string
}

// arguments returns the arguments of `go` for a set of packages. Tests are linked without debug information, which takes a third less time for
// each of more than a hundred programs.
func arguments(packages []string, servers bool) []string {
	arguments := []string{"test", "-json", "-ldflags=-s"}
	if servers {
		// Packages that start servers wait for most of their time; four of them keep two cores busy.
		arguments = append(arguments, "-p", "4", "-timeout", "20m")
	}
	return append(arguments, packagePaths(packages)...)
}

// environment returns the environment of `go test`. The servers collect garbage less often, which saves a tenth of the CPU time.
func (d *driver) environment(servers bool) []string {
	environment := os.Environ()
	if !servers {
		return environment
	}
	if os.Getenv("GOGC") == "" {
		environment = append(environment, "GOGC=400")
	}
	return append(environment, "PLACEMENT_BINARY="+filepath.Join(d.root, "bin", "placement"))
}

// test runs the tests of the packages until one of them fails, whose report is the error.
func (t *testRun) test(ctx context.Context, packages []string, servers bool) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)

	d := t.driver
	results := &results{driver: d, running: map[string]*result{}, builds: map[string]*excerpt{}}
	results.ended = func(r *result, action string, elapsed time.Duration) {
		t.end(r, action, elapsed)
		if action == failed {
			stop(errFailed)
		}
	}
	cmd := newGroup(ctx, d.goCommand, arguments(packages, servers)...)
	cmd.Dir, cmd.Env = d.root, d.environment(servers)
	cmd.Stdout = &lines{handle: func(line []byte) error {
		err := results.add(line)
		t.setRunning(slices.Sorted(maps.Keys(results.running)))
		return err
	}}
	cmd.Stderr = &lines{handle: func(line []byte) error {
		d.console.printf("%s", line)
		return nil
	}}
	err := cmd.run()
	t.setRunning(nil)
	if closed := results.close(); closed != nil {
		return closed
	}
	switch {
	case results.failure != nil:
		r := results.failure
		return &failure{directory: r.directory, report: r.report(d.logPath(r.directory), servers)}
	case ctx.Err() != nil:
		return context.Cause(ctx) //nolint:wrapcheck // It is an error of this package, or the interrupt.
	case err != nil:
		return fmt.Errorf("%s test: %w; the messages are above", d.goCommand, err)
	default:
		return nil
	}
}

// failure is the error of a package that failed.
type failure struct{ directory, report string }

func (f *failure) Error() string { return f.directory + " failed" }

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
	// A run with more cached results than others says little about how many packages run at once.
	if whole && 2*len(t.measured) > t.progress.total {
		var sum float64
		for _, seconds := range t.measured {
			sum += seconds
		}
		next.AtOnce = max(1, sum/max(1, t.driver.now().Sub(t.progress.start).Seconds()))
	}
	return next.write(t.driver.durationsPath())
}
