package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// builds are the programs that are missing. They are built one after the other beside the tests.
type builds struct {
	driver *driver
	queue  []program

	mu    sync.Mutex
	built map[string]bool
	// changed is closed when a program was built, and replaced.
	changed chan struct{}
}

// newBuilds finds out which of the named programs are missing.
func (d *driver) newBuilds(names []string) (*builds, error) {
	b := &builds{driver: d, built: map[string]bool{}, changed: make(chan struct{})}
	for _, program := range d.programs {
		if !slices.Contains(names, program.name) {
			continue
		}
		present := false
		if program.present != nil {
			var err error
			if present, err = program.present(d); err != nil {
				return nil, fmt.Errorf("looking for %s: %w", program.name, err)
			}
		}
		if !present {
			b.queue = append(b.queue, program)
		}
	}
	return b, nil
}

// run builds the missing programs.
func (b *builds) run(ctx context.Context) error {
	for _, program := range b.queue {
		if err := b.build(ctx, program); err != nil {
			return err
		}
		b.mu.Lock()
		b.built[program.name] = true
		close(b.changed)
		b.changed = make(chan struct{})
		b.mu.Unlock()
	}
	return nil
}

// build builds a program with make, whose output goes to a file. The error quotes the end of it, where the Makefile says what to do.
func (b *builds) build(ctx context.Context, p program) (err error) {
	d := b.driver
	path := d.logPath("build-" + p.name)
	if err := os.MkdirAll(filepath.Dir(filepath.Join(d.root, path)), 0o755); err != nil {
		return fmt.Errorf("building %s: %w", p.name, err)
	}
	log, err := os.Create(filepath.Join(d.root, path))
	if err != nil {
		return fmt.Errorf("building %s: %w", p.name, err)
	}
	start := d.now()
	if p.present == nil {
		d.console.printf("==> building %s beside the tests (seconds; the first time %s)", p.name, p.first)
	} else {
		d.console.printf("==> building %s beside the tests (%s; output: %s)", p.name, p.first, path)
	}
	cmd := newGroup(ctx, d.makeCommand, "--no-print-directory", p.target)
	cmd.Dir, cmd.Stdout, cmd.Stderr = d.root, log, log
	err = cmd.run()
	if closed := log.Close(); err == nil {
		err = closed
	}
	if ctx.Err() != nil {
		return context.Cause(ctx) //nolint:wrapcheck // It is an error of this package, or the interrupt.
	}
	if err != nil {
		return fmt.Errorf("building %s: %w\n%s\n  whole output: %s\n  again:        make %s",
			p.name, err, indent(fileEnd(filepath.Join(d.root, path))), path, p.target)
	}
	d.console.printf("==> built %s in %s", p.name, short(d.now().Sub(start)))
	return nil
}

// missing returns the programs of those named that are not built yet.
func (b *builds) missing(names []string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var missing []string
	for _, p := range b.queue {
		if slices.Contains(names, p.name) && !b.built[p.name] {
			missing = append(missing, p.name)
		}
	}
	return missing
}

// nextWave waits until a package has its programs, and splits the packages into those that do and those that do not. It waits for programs
// that take seconds to build, so that the packages that need one start in their order.
func (b *builds) nextWave(ctx context.Context, packages []string) (ready, waiting []string, err error) {
	for said := false; ; said = true {
		b.mu.Lock()
		changed := b.changed
		b.mu.Unlock()

		ready, waiting = nil, nil
		for _, directory := range packages {
			if len(b.missing(neededPrograms(directory))) == 0 {
				ready = append(ready, directory)
			} else {
				waiting = append(waiting, directory)
			}
		}
		quick := b.missing(b.quick(neededPrograms(packages...)))
		if len(ready) > 0 && len(quick) == 0 {
			return ready, waiting, nil
		}
		if !said {
			b.driver.console.printf("==> waiting for the build of %s", strings.Join(b.missing(neededPrograms(packages...)), ", "))
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx) //nolint:wrapcheck // It is an error of this package, or the interrupt.
		}
	}
}

// quick returns the programs of those named that take seconds to build.
func (b *builds) quick(names []string) []string {
	var quick []string
	for _, p := range b.queue {
		if p.present == nil && slices.Contains(names, p.name) {
			quick = append(quick, p.name)
		}
	}
	return quick
}
