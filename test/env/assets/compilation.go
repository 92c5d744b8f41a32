// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/placement-hub/placement-hub/pkg/localplane/process"
)

// tailLines is the number of output lines of the compiler that an error quotes.
const tailLines = 20

// compilation is one run of `go build`.
type compilation struct {
	name      string
	directory string // of the module
	temporary string // directory for files of `go`
	output    string // where the compiler writes; removed when it fails
	target    string // where the finished binary goes
	arguments []string
	variable  string // the environment variable that makes the build unnecessary
	out       io.Writer
	interval  time.Duration // between progress lines
}

// run compiles, reports progress, and moves the finished binary to its target.
func (c compilation) run(ctx context.Context) error {
	start := time.Now()
	fmt.Fprintf(c.out, "  %s: building\n", c.name)
	progress, err := c.compile(ctx, start)
	if err != nil {
		return errors.Join(err, c.discard())
	}
	if err := os.Rename(c.output, c.target); err != nil {
		return fmt.Errorf("putting %s in its place: %w", c.name, err)
	}
	fmt.Fprintf(c.out, "  %s: done in %s%s\n", c.name, time.Since(start).Round(time.Second), progress)
	return nil
}

// discard removes an unfinished binary.
func (c compilation) discard() error {
	if err := os.Remove(c.output); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("removing an unfinished binary: %w", err)
	}
	return nil
}

// compile runs the compiler, and returns a summary of its progress.
func (c compilation) compile(ctx context.Context, start time.Time) (string, error) {
	arguments := append([]string{c.arguments[0], "-o", c.output}, c.arguments[1:]...)
	// An interrupted `go` does not stop its compilers, so the whole process group is interrupted.
	cmd := process.GroupCommand(ctx, "go", arguments...)
	cmd.Dir = c.directory
	cmd.Env = append(environ(), "GOTMPDIR="+c.temporary)
	reader, writer := io.Pipe()
	cmd.Stdout, cmd.Stderr = writer, writer
	var log buildLog
	read := make(chan error, 1)
	go func() { read <- log.read(reader) }()
	ended := make(chan error, 1)
	go func() { ended <- errors.Join(cmd.Run(), writer.Close()) }()

	tick := time.NewTicker(c.interval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			fmt.Fprintf(c.out, "  %s: still building, %s%s\n", c.name, time.Since(start).Round(time.Second), log.progress())
		case err := <-ended:
			err = errors.Join(err, <-read)
			if ctx.Err() != nil {
				return "", fmt.Errorf("building %s: interrupted; run it again to go on", c.name)
			}
			if err != nil {
				tail := log.end()
				return "", fmt.Errorf("building %s: %w\n%s\n%s", c.name, err, tail, c.hint(tail))
			}
			return log.progress(), nil
		}
	}
}

// buildLog parses the output of `go build -v`: import paths of finished packages, downloads, and messages.
type buildLog struct {
	mu         sync.Mutex
	packages   int
	downloads  int
	messages   []string
	incomplete bool // older messages were dropped
}

func (l *buildLog) read(reader *io.PipeReader) error {
	scanner := bufio.NewScanner(reader)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		l.add(scanner.Text())
	}
	if err := scanner.Err(); err != nil {
		// The writer must not block on a reader that has stopped.
		return errors.Join(fmt.Errorf("reading the compiler's output: %w", err), reader.CloseWithError(err))
	}
	return nil
}

func (l *buildLog) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case strings.HasPrefix(line, "go: downloading "):
		l.downloads++
	case line != "" && !strings.ContainsAny(line, " \t"):
		l.packages++
	default:
		l.messages = append(l.messages, line)
		if len(l.messages) > tailLines {
			l.messages = l.messages[1:]
			l.incomplete = true
		}
	}
}

// progress returns the numbers of downloads and packages; it is empty when everything came from the build cache.
func (l *buildLog) progress() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var text string
	if l.downloads > 0 {
		text += fmt.Sprintf(", %d modules downloaded", l.downloads)
	}
	if l.packages > 0 {
		text += fmt.Sprintf(", %d packages compiled", l.packages)
	}
	return text
}

// end returns the last messages.
func (l *buildLog) end() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var text strings.Builder
	if l.incomplete {
		text.WriteString("    ...\n")
	}
	for _, message := range l.messages {
		text.WriteString("    " + message + "\n")
	}
	return strings.TrimSuffix(text.String(), "\n")
}

// hint returns advice about a failed build, according to its output.
func (c compilation) hint(output string) string {
	contains := func(fragments ...string) bool {
		for _, fragment := range fragments {
			if strings.Contains(output, fragment) {
				return true
			}
		}
		return false
	}
	switch {
	case contains("no space left on device"):
		return "Free some disk space (the build needs several GB in $(go env GOCACHE) and the temporary directory) and run it again."
	case contains("signal: killed", "cannot allocate memory", "out of memory"):
		return "The machine ran out of memory: free some (the build needs a few GB), or set GOFLAGS=-p=1, and run it again."
	case contains("dial tcp", "lookup ", "proxy", "i/o timeout", "connection refused", "TLS handshake", "403 Forbidden", "no such host"):
		return "Modules could not be downloaded: check the network and `go env GOPROXY`, and run it again."
	default:
		return "Check the Go version (`go version`), the network and GOPROXY, and the disk space; or set " + c.variable +
			" to a directory that has the binaries."
	}
}
