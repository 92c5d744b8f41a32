// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/procfs"
)

const (
	// fewestAtOnce is how many packages run at once at least, of which the packages without servers are one together.
	fewestAtOnce = 2
	// mostAtOnce is how many packages run at once at most. Each of them takes up to 2 GB of memory with its servers.
	mostAtOnce = 4
	// lookInterval is the time between two looks at how much CPU time is idle. A package that starts keeps a core busy within less.
	lookInterval = 5 * time.Second
	// idleShare is the share of idle CPU time of all cores, from 0 to 1, above which another package starts.
	idleShare = 0.15
)

// throttle decides when the next package that starts servers may start. Packages wait for a part of their time, so several have to run at once
// to keep all cores busy. More than that take more CPU time each, because their servers and the tests that poll do not rest while they wait.
// It has one waiting goroutine; begin and end are safe for concurrent use.
type throttle struct {
	// idle returns which share of the CPU time was idle since the last call, from 0 to 1.
	idle func() float64

	mu      sync.Mutex
	running int
	ended   chan struct{} // has an element after a package has ended
}

func newThrottle(idle func() float64) *throttle {
	return &throttle{idle: idle, ended: make(chan struct{}, 1)}
}

// begin says that a package runs, without waiting.
func (t *throttle) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running++
}

// end says that a package has ended.
func (t *throttle) end() {
	t.mu.Lock()
	t.running--
	t.mu.Unlock()
	select {
	case t.ended <- struct{}{}:
	default:
	}
}

// wait waits until another package may start. Its error is the cause of the end of ctx.
func (t *throttle) wait(ctx context.Context) error {
	t.idle()
	tick := time.NewTicker(lookInterval)
	defer tick.Stop()
	for ctx.Err() == nil {
		if t.atOnce() < fewestAtOnce {
			return nil
		}
		select {
		case <-ctx.Done():
		case <-t.ended:
		case <-tick.C:
			if idle := t.idle(); idle > idleShare && t.atOnce() < mostAtOnce {
				return nil
			}
		}
	}
	return context.Cause(ctx) //nolint:wrapcheck // It is an error of this package, or the interrupt.
}

func (t *throttle) atOnce() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.running
}

// idleMeter measures how much of the CPU time of this machine is idle.
type idleMeter struct{ last procfs.CPUStat }

// share returns the share of the CPU time since the last call, from 0 to 1, in which cores were idle or waited for a disk. It is 1 where the
// system does not count that, as all but Linux.
func (m *idleMeter) share() float64 {
	now, err := readCPU()
	if err != nil {
		return 1
	}
	last := m.last
	m.last = now
	idle := (now.Idle + now.Iowait) - (last.Idle + last.Iowait)
	busy := used(now) - used(last)
	if idle <= 0 || busy < 0 {
		return 0 // The count of what was idle may go back a little.
	}
	return min(1, idle/(idle+busy))
}

// used returns the CPU time that was not idle, in seconds.
func used(s procfs.CPUStat) float64 { return s.User + s.Nice + s.System + s.IRQ + s.SoftIRQ + s.Steal }

// readCPU returns how long all cores together have done what since the start of the machine, in seconds.
func readCPU() (procfs.CPUStat, error) {
	system, err := procfs.NewDefaultFS()
	if err != nil {
		return procfs.CPUStat{}, fmt.Errorf("reading the CPU time of this machine: %w", err)
	}
	stat, err := system.Stat()
	if err != nil {
		return procfs.CPUStat{}, fmt.Errorf("reading the CPU time of this machine: %w", err)
	}
	return stat.CPUTotal, nil
}
