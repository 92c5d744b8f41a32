// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
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

// The actions of events that end a test or a package.
const (
	passed  = "pass"
	failed  = "fail"
	skipped = "skip"
)

// event is a line of `go test -json`; see `go doc test2json`.
type event struct {
	Action      string  `json:"Action"`
	Package     string  `json:"Package"`
	Test        string  `json:"Test"`
	Output      string  `json:"Output"`
	Elapsed     float64 `json:"Elapsed"`     // in seconds
	ImportPath  string  `json:"ImportPath"`  // of a build, possibly followed by " [package.test]"
	FailedBuild string  `json:"FailedBuild"` // the ImportPath of the build that a package failed for
}

// lines calls a function for each line that is written to it.
type lines struct {
	handle func(line []byte) error
	rest   []byte
}

func (l *lines) Write(content []byte) (int, error) {
	l.rest = append(l.rest, content...)
	for {
		line, rest, found := bytes.Cut(l.rest, []byte("\n"))
		if !found {
			return len(content), nil
		}
		l.rest = rest
		if err := l.handle(line); err != nil {
			return 0, err
		}
	}
}

// result is what is known about a package that has started.
type result struct {
	directory string
	log       *os.File
	started   time.Time
	closing   string // the last line, in the format of `go test`
	output    excerpt
	tests     map[string]*excerpt // of the tests that run or have failed
	failed    []string            // tests, in the order in which they ended
}

// results reads the events of `go test -json`, from one or several processes. It is safe for concurrent use.
type results struct {
	driver   *driver
	mu       sync.Mutex
	running  map[string]*result
	builds   map[string]*excerpt
	failures []*result // packages, in the order in which they failed
	// stopped reports whether the packages that run are being stopped, so that their results say nothing.
	stopped func() bool
	// ended is called for each package that has ended and was not stopped.
	ended func(r *result, action string, elapsed time.Duration)
}

// add reads a line, and returns the packages that run. What is no event is a message of the go command.
func (r *results) add(line []byte) (running []string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	err = r.addLine(line)
	return slices.Sorted(maps.Keys(r.running)), err
}

func (r *results) addLine(line []byte) error {
	var e event
	if isEvent := json.Unmarshal(line, &e) == nil && e.Action != ""; !isEvent {
		r.driver.console.printf("%s", line)
		return nil
	}
	switch {
	case e.Action == "build-output":
		r.buildOutput(e.ImportPath).add(e.Output)
		return nil
	case e.Package == "":
		return nil
	}
	p, err := r.result(strings.TrimPrefix(e.Package, module))
	if err != nil {
		return err
	}
	switch {
	case e.Action == "output":
		return p.addOutput(e)
	case e.Test != "":
		p.endTest(e)
		return nil
	case e.Action == passed || e.Action == failed || e.Action == skipped:
		return r.end(p, e)
	default:
		return nil
	}
}

func (r *results) buildOutput(importPath string) *excerpt {
	if r.builds[importPath] == nil {
		r.builds[importPath] = &excerpt{}
	}
	return r.builds[importPath]
}

// result returns the result of a package, and creates it and the file with its output when the package starts.
func (r *results) result(directory string) (*result, error) {
	if p := r.running[directory]; p != nil {
		return p, nil
	}
	path := filepath.Join(r.driver.root, r.driver.logPath(directory))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("writing the output of %s: %w", directory, err)
	}
	log, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("writing the output of %s: %w", directory, err)
	}
	p := &result{directory: directory, log: log, started: r.driver.now(), tests: map[string]*excerpt{}}
	r.running[directory] = p
	return p, nil
}

func (r *result) addOutput(e event) error {
	if _, err := r.log.WriteString(e.Output); err != nil {
		return fmt.Errorf("writing the output of %s: %w", r.directory, err)
	}
	if e.Test == "" {
		if isClosing(e.Output) {
			r.closing = strings.TrimRight(e.Output, "\n")
		}
		r.output.add(e.Output)
		return nil
	}
	if r.tests[e.Test] == nil {
		r.tests[e.Test] = &excerpt{}
	}
	r.tests[e.Test].add(e.Output)
	return nil
}

// isClosing reports whether a line is that with which `go test` closes a package.
func isClosing(line string) bool {
	return slices.ContainsFunc([]string{"ok  \t", "FAIL\t", "?   \t", "\t" + module}, func(prefix string) bool {
		return strings.HasPrefix(line, prefix)
	})
}

func (r *result) endTest(e event) {
	switch e.Action {
	case passed, skipped:
		delete(r.tests, e.Test)
	case failed:
		r.failed = append(r.failed, e.Test)
	}
}

// end closes the result of a package.
func (r *results) end(p *result, e event) (err error) {
	delete(r.running, p.directory)
	if build := r.builds[e.FailedBuild]; e.Action == failed && build != nil {
		p.output = *build
		_, err = p.log.WriteString(build.String())
	}
	if err = errors.Join(err, p.log.Close()); err != nil {
		return fmt.Errorf("writing the output of %s: %w", p.directory, err)
	}
	if r.stopped() {
		return nil
	}
	if e.Action == failed {
		r.failures = append(r.failures, p)
	}
	r.ended(p, e.Action, time.Duration(e.Elapsed*float64(time.Second)))
	return nil
}

// hasFailed reports whether one of the packages has failed.
func (r *results) hasFailed(packages ...string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.failures, func(p *result) bool { return slices.Contains(packages, p.directory) })
}

// close closes the files of packages that were stopped.
func (r *results) close() error {
	errs := make([]error, 0, len(r.running))
	for _, p := range r.running {
		errs = append(errs, p.log.Close())
	}
	return errors.Join(errs...)
}
