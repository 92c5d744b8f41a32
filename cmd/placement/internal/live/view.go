// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
)

const (
	// redrawInterval is the shortest time between two tables.
	redrawInterval = 200 * time.Millisecond
	// quietPeriod is how long a table must be unchanged to count as settled.
	quietPeriod = time.Second
	// electionGrace is how long the acquisition of a free lease may take, before the process counts as a standby.
	electionGrace = time.Second
	// leaseInterval is how often a standby looks whether the lease is overdue.
	leaseInterval = 2 * time.Second
)

// View prints tables.
type View struct {
	Source  Source
	Elected <-chan struct{} // closed when this process leads
	// Overdue returns when the leader has renewed the lease last, if it has to renew it since; otherwise zero. A standby calls it.
	Overdue func() time.Time
	// Working returns the number of objects that controllers are reconciling, which have not settled.
	Working func() (int, error)
	Header  Header
}

// display prints tables in one way.
type display interface {
	// show prints a table. If again is above zero, the caller must call show again after that time, even without a change.
	show(h Header, b *document.Board, now time.Time) (again time.Duration, err error)
	// resized receives a value when the table must be printed again without a change.
	resized() <-chan struct{}
	// close restores the output.
	close() error
}

// Follow prints every change until ctx ends, redrawn or as lines depending on the output.
func (v *View) Follow(ctx context.Context, out io.Writer) error {
	shown := newDisplay(out)
	return errors.Join(v.follow(ctx, shown), shown.close())
}

func (v *View) follow(ctx context.Context, shown display) error {
	v.awaitElection(ctx)
	for ctx.Err() == nil {
		b, err := v.Source.read(ctx)
		if err != nil {
			return err
		}
		v.Header.standby, v.Header.overdue = v.Header.Lease != "" && !closed(v.Elected), time.Time{}
		if v.Header.standby && v.Overdue != nil {
			v.Header.overdue = v.Overdue()
		}
		again, err := shown.show(v.Header, b, time.Now())
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(redrawInterval):
			v.awaitChange(ctx, shown, again)
		}
	}
	return nil
}

// awaitElection waits until the lease is acquired, at most electionGrace, so that the first header does not report a standby.
func (v *View) awaitElection(ctx context.Context) {
	if v.Header.Lease == "" {
		return
	}
	select {
	case <-ctx.Done():
	case <-v.Elected:
	case <-time.After(electionGrace):
	}
}

// awaitChange returns after a change, a resize or an election, or after the time again if that is above zero.
func (v *View) awaitChange(ctx context.Context, shown display, again time.Duration) {
	var later <-chan time.Time
	if v.Header.standby && (again <= 0 || again > leaseInterval) {
		again = leaseInterval
	}
	if again > 0 {
		later = time.After(again)
	}
	var elected <-chan struct{} // only a standby waits for the election
	if v.Header.standby {
		elected = v.Elected
	}
	select {
	case <-ctx.Done():
	case <-v.Source.Changed():
	case <-shown.resized():
	case <-elected:
	case <-later:
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// UntilSettled prints the table once it has settled. After the timeout it prints the current table, and the error names the objects that
// have not settled.
func (v *View) UntilSettled(ctx context.Context, out io.Writer, timeout time.Duration) error {
	deadline := time.After(timeout)
	var state settling
	for {
		b, err := v.Source.read(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		working, err := v.Working()
		if err != nil {
			return err
		}
		left, pending := state.observe(b, working, time.Now())
		if left == 0 {
			return v.print(out, b)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline:
			return errors.Join(v.print(out, b), notSettled(timeout, pending))
		case <-v.Source.Changed():
		case <-time.After(left):
		}
	}
}

// settling detects whether tables have settled: all is decided and written, and unchanged for quietPeriod.
type settling struct {
	version string
	since   time.Time
}

// observe records a table, and the number of objects that are being reconciled. It returns the rest of the quiet period, 0 when the table
// has settled, and the pending objects.
func (s *settling) observe(b *document.Board, working int, now time.Time) (left time.Duration, pending []string) {
	for _, unsettled := range b.Pending() {
		pending = append(pending, printers.OneLine(unsettled))
	}
	if working > 0 {
		pending = append(pending, fmt.Sprintf("objects that controllers are at work on: %d", working))
	}
	if version := versionOf(b); len(pending) > 0 || s.since.IsZero() || version != s.version {
		s.version, s.since = version, now
	}
	return max(quietPeriod-now.Sub(s.since), 0), pending
}

// versionOf changes whenever one of the objects does.
func versionOf(b *document.Board) string {
	if b.Versions != "" {
		return b.Versions
	}
	return strings.Join(printers.BoardLines(b), "\n")
}

func notSettled(timeout time.Duration, pending []string) error {
	if len(pending) == 0 {
		pending = []string{"the objects in the table keep changing"}
	}
	return fmt.Errorf("not settled within %v; allow more time with --timeout, or see the log with -v=2:\n  %s",
		timeout, strings.Join(pending, "\n  "))
}

func (v *View) print(out io.Writer, b *document.Board) error {
	return printLines(out, slices.Concat(v.Header.lines(b), []string{""}, printers.BoardLines(b)))
}

func printLines(out io.Writer, lines []string) error {
	if _, err := io.WriteString(out, strings.Join(lines, "\n")+"\n"); err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	return nil
}
