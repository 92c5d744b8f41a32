// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run returns the exit code.
func run(ctx context.Context, arguments []string, stdout, stderr io.Writer) int {
	checkout, err := binaries.FindCheckout()
	if err != nil {
		fmt.Fprintln(stderr, "run:", err)
		return 2
	}
	d := &driver{
		root:        checkout.Root,
		goCommand:   cmp.Or(os.Getenv("GO"), "go"),
		makeCommand: cmp.Or(os.Getenv("MAKE"), "make"),
		programs:    programs,
		modules:     nestedModules,
		now:         time.Now,
		idle:        (&idleMeter{}).share,
	}
	d.console = &console{out: stdout, now: d.now, last: d.now()}
	return d.main(ctx, arguments, stderr)
}

// driver runs tests and builds in a checkout.
type driver struct {
	root                   string
	goCommand, makeCommand string
	programs               []program
	modules                []string // nested ones
	now                    func() time.Time
	idle                   func() float64 // for throttle
	console                *console
	base                   []string // the environment of tests, after isolate
}

// logPath returns the file with the output of a package or of a build, relative to the checkout.
func (d *driver) logPath(name string) string {
	return filepath.Join("bin", "test-logs", filepath.FromSlash(name)+".log")
}

func (d *driver) durationsPath() string { return filepath.Join(d.root, "bin", "test-durations.json") }

// options are the flags.
type options struct {
	only   string
	suites []string
	list   bool
	// keepGoing goes on after a package has failed.
	keepGoing bool
}

func parseFlags(arguments []string, stderr io.Writer) (options, error) {
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	flags.SetOutput(stderr)
	var o options
	flags.StringVar(&o.only, "only", "", "test only packages with a `directory` in their path that begins with this word")
	names := flags.String("suites", strings.Join(suiteNames(), ","), "the `suites` to run")
	flags.BoolVar(&o.keepGoing, "keep-going", false, "go on after a package has failed, and list all that failed at the end")
	flags.BoolVar(&o.list, "list", false, "print the packages and run no test")
	if err := flags.Parse(arguments); err != nil {
		return o, fmt.Errorf("%w: %w", errUsage, err)
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("%w: unexpected argument %q; name packages with -only and -suites", errUsage, flags.Arg(0))
	}
	o.suites = strings.Split(*names, ",")
	return o, nil
}

// main runs the tests that the arguments select, and returns the exit code.
func (d *driver) main(ctx context.Context, arguments []string, stderr io.Writer) int {
	start := d.now()
	o, err := parseFlags(arguments, stderr)
	if err == nil {
		err = d.run(ctx, o)
	}
	took := short(d.now().Sub(start))
	switch {
	case errors.Is(err, flag.ErrHelp) || err == nil:
		return 0
	case errors.Is(err, errUsage):
		fmt.Fprintln(stderr, "test:", err)
		return 2
	}
	if failed := (*failure)(nil); errors.As(err, &failed) {
		if !o.keepGoing {
			d.console.printf("%sFAIL", failed.packages[0].report)
			fmt.Fprintf(stderr, "==> test: FAILED in %s after %s; the other packages were stopped\n", failed.packages[0].directory, took)
			return 1
		}
		d.console.printf("FAIL")
		fmt.Fprintf(stderr, "==> test: FAILED after %s; packages that failed: %d\n%s", took, len(failed.packages), failed.list())
		err = failed.cause
	}
	switch {
	case err == nil:
	case ctx.Err() != nil:
		fmt.Fprintf(stderr, "==> test: interrupted after %s\n", took)
	default:
		fmt.Fprintf(stderr, "==> test: FAILED after %s: %v\n", took, err)
	}
	return 1
}

// run tests the selected packages.
func (d *driver) run(ctx context.Context, o options) error {
	selected, err := d.selectPackages(ctx, o.suites, o.only)
	if err != nil {
		return err
	}
	if o.list {
		if _, err := fmt.Fprintln(d.console.out, strings.Join(packagePaths(selected.all()), "\n")); err != nil {
			return fmt.Errorf("printing the packages: %w", err)
		}
		return nil
	}
	if err := os.RemoveAll(filepath.Join(d.root, filepath.Dir(d.logPath("name")))); err != nil {
		return fmt.Errorf("removing the output of the last run: %w", err)
	}
	if err := d.isolate(ctx); err != nil {
		return err
	}
	last, err := readDurations(d.durationsPath())
	if err != nil {
		return err
	}
	needed := append(neededPrograms(selected.all()...), serverTests)
	shared, err := newSharedTests(d.root, slices.DeleteFunc(slices.Clone(selected.servers), startsServers))
	if err != nil {
		return err
	}
	b, err := d.newBuilds(needed, shared)
	if err != nil {
		return err
	}
	left := map[string]bool{}
	for _, directory := range selected.all() {
		left[directory] = true
	}
	t := &testRun{
		driver: d, keepGoing: o.keepGoing, measured: map[string]float64{}, cpu: map[string]time.Duration{},
		progress: &progress{
			console: d.console, now: d.now, start: d.now(), durations: last, left: left, total: len(left),
			building: func() []string { return b.missing(needed) },
		},
	}
	d.console.printf("==> test: packages: %d; about %s; whole outputs are in %s", len(left), rounded(last.estimate(selected.all())),
		filepath.Dir(d.logPath("name")))
	err = t.runAll(ctx, b, shared, selected)
	whole := err == nil && o.only == "" && len(o.suites) == len(suites)
	if recorded := t.record(whole); err == nil {
		err = recorded
	}
	if len(t.cpu) > 0 {
		d.console.printf("==> test: CPU time of the packages that start servers: %s", t.describeCPU())
	}
	if err == nil {
		d.console.printf("==> test: all passed in %s", short(d.now().Sub(t.progress.start)))
	}
	return err
}

// runAll runs the tests beside the builds. The first error ends both.
func (t *testRun) runAll(ctx context.Context, b *builds, shared *sharedTests, selected selection) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	silence, quiet := context.WithCancel(ctx)
	defer quiet()
	go t.breakSilence(silence)

	built := make(chan error, 1)
	go func() {
		err := b.run(ctx)
		if err != nil {
			stop(err)
		}
		built <- err
	}()
	err := t.testAll(ctx, b, shared, selected)
	if err != nil {
		stop(err)
	}
	if failed := <-built; err == nil {
		err = failed
	}
	return err
}

// testAll runs the tests. The packages that fail are the error.
func (t *testRun) testAll(ctx context.Context, b *builds, shared *sharedTests, selected selection) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	results := t.newResults(ctx, stop, selected.servers)
	limit := newThrottle(t.driver.idle)
	group, running := errgroup.WithContext(ctx)
	if len(selected.unit) > 0 {
		limit.begin()
		group.Go(func() error {
			defer limit.end()
			return t.testUnits(running, results, selected.unit)
		})
	}
	if len(selected.servers) > 0 {
		group.Go(func() error { return t.testServers(running, b, shared, results, limit, selected.servers) })
	}
	return t.conclude(ctx, results, group.Wait(), selected.servers)
}

// packagePaths returns the packages as arguments of `go test`.
func packagePaths(packages []string) []string {
	paths := make([]string, 0, len(packages))
	for _, directory := range packages {
		paths = append(paths, "./"+directory)
	}
	return paths
}
