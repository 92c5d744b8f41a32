// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The intervals of lines about the progress.
const (
	progressInterval = time.Second // at most one line in it, because packages with cached results end in bursts
	silenceInterval  = time.Minute // at least one line in it
)

// console writes whole lines. It is safe for concurrent use.
type console struct {
	mu   sync.Mutex
	out  io.Writer
	now  func() time.Time
	last time.Time // of a line
}

func (c *console) printf(format string, arguments ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = c.now()
	fmt.Fprintf(c.out, format+"\n", arguments...)
}

// silence returns how long no line was written.
func (c *console) silence() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now().Sub(c.last)
}

// progress counts the packages that have ended, and estimates how long the others take. It is safe for concurrent use.
type progress struct {
	mu        sync.Mutex
	console   *console
	now       func() time.Time
	start     time.Time
	durations durations
	left      map[string]bool // packages that have not ended
	total     int
	building  func() []string // programs that are not built yet
	shown     time.Time       // of the last line about the progress
}

// end prints the closing line of a package, and the progress.
func (p *progress) end(directory, closing string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.left, directory)
	p.console.printf("%s", closing)
	if now := p.now(); len(p.left) == 0 || now.Sub(p.shown) >= progressInterval {
		p.shown = now
		p.console.printf("%s", p.line())
	}
}

// breakSilence prints the progress and the packages that run if no line was printed for silenceInterval.
func (p *progress) breakSilence(running []string) {
	if p.console.silence() < silenceInterval {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	what := "compiling"
	if len(running) > 0 {
		what = "running: " + strings.Join(running, ", ")
	}
	p.console.printf("%s %s", p.line(), what)
}

func (p *progress) line() string {
	width := len(strconv.Itoa(p.total))
	line := fmt.Sprintf("[%*d/%d  %s", width, p.total-len(p.left), p.total, short(p.now().Sub(p.start)))
	if len(p.left) > 0 {
		line += ", about " + rounded(p.durations.estimate(slices.Collect(maps.Keys(p.left)))) + " left"
		if building := p.building(); len(building) > 0 {
			line += " and the build of " + strings.Join(building, ", ")
		}
	}
	return line + "]"
}

// short formats a duration in whole seconds: 45s, 3m20s.
func short(d time.Duration) string {
	d = d.Round(time.Second)
	if d < time.Minute {
		return fmt.Sprintf("%ds", d/time.Second)
	}
	return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
}

// rounded formats an estimate: in minutes, or below two of them in steps of ten seconds.
func rounded(d time.Duration) string {
	if d >= 2*time.Minute {
		return fmt.Sprintf("%dm", d.Round(time.Minute)/time.Minute)
	}
	return fmt.Sprintf("%ds", max(10, d.Round(10*time.Second)/time.Second))
}
