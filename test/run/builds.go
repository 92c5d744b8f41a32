// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
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

// newBuilds finds out which of the named programs are missing. The shared test program, unless it is nil, is built first: all need it.
func (d *driver) newBuilds(names []string, shared *sharedTests) (*builds, error) {
	b := &builds{driver: d, built: map[string]bool{}, changed: make(chan struct{})}
	if shared != nil && len(shared.packages) > 0 {
		b.queue = append(b.queue, shared.asProgram())
	}
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

// build builds a program; the output goes to a file. The error quotes the end of it, where the Makefile says what to do.
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
	err = d.buildCommand(ctx, p, log)
	if closed := log.Close(); err == nil {
		err = closed
	}
	if ctx.Err() != nil {
		return context.Cause(ctx) //nolint:wrapcheck // It is an error of this package, or the interrupt.
	}
	if err != nil {
		return fmt.Errorf("building %s: %w\n%s\n  whole output: %s\n  again:        %s",
			p.name, err, indent(fileEnd(filepath.Join(d.root, path))), path, cmp.Or(p.again, "make "+p.target))
	}
	d.console.printf("==> built %s in %s", p.name, short(d.now().Sub(start)))
	return nil
}

// buildCommand runs the command that builds a program, by default that of the Makefile.
func (d *driver) buildCommand(ctx context.Context, p program, log io.Writer) error {
	cmd := newGroup(ctx, d.makeCommand, "--no-print-directory", p.target)
	cmd.Dir = d.root
	if p.command != nil {
		var err error
		if cmd, err = p.command(ctx, d); err != nil {
			return err
		}
	}
	cmd.Stdout, cmd.Stderr = log, log
	return cmd.run()
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

// next returns a channel that is closed when the next program was built.
func (b *builds) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.changed
}
