package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

const (
	// redrawInterval is the shortest time between two boards that are shown.
	redrawInterval = 200 * time.Millisecond
	// quietPeriod is how long nothing may change for a board to count as settled.
	quietPeriod = time.Second
	// electionGrace is how long taking a free lease may take, before somebody else must be holding it.
	electionGrace = time.Second
)

// View brings boards to a person.
type View struct {
	Watcher *Watcher
	Elected <-chan struct{} // closed once the controllers here are those that decide
	// Working counts what the controllers have under way; what the API server is slow to take has not settled.
	Working func() (int, error)
	Header  Header
}

// display is a way to show boards.
type display interface {
	// show shows a board. When it returns a time above zero, it wants to be called again after that, even if nothing changes.
	show(h Header, b *table, now time.Time) (again time.Duration, err error)
	// resized tells when the board has to be shown again though nothing has changed.
	resized() <-chan struct{}
	// close gives the output back.
	close() error
}

// Follow shows every change until ctx ends, in the way that suits the output.
func (v *View) Follow(ctx context.Context, out io.Writer) error {
	shown := newDisplay(out)
	return errors.Join(v.follow(ctx, shown), shown.close())
}

func (v *View) follow(ctx context.Context, shown display) error {
	v.awaitElection(ctx)
	for ctx.Err() == nil {
		b, err := v.Watcher.read(ctx)
		if err != nil {
			return err
		}
		v.Header.standby = v.Header.Lease != "" && !closed(v.Elected)
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

// awaitElection gives the controllers the time to take the lease, so that they are not said to stand by in the meantime.
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

// awaitChange returns when there may be something new to show, or after the time again if that is above zero.
func (v *View) awaitChange(ctx context.Context, shown display, again time.Duration) {
	var later <-chan time.Time
	if again > 0 {
		later = time.After(again)
	}
	var elected <-chan struct{} // news only to one that stands by
	if v.Header.standby {
		elected = v.Elected
	}
	select {
	case <-ctx.Done():
	case <-v.Watcher.changed:
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

// UntilSettled prints the board once it has settled. When that does not happen in time, it prints what there is, and the error names
// what has not settled.
func (v *View) UntilSettled(ctx context.Context, out io.Writer, timeout time.Duration) error {
	deadline := time.After(timeout)
	var state settling
	for {
		b, err := v.Watcher.read(ctx)
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
		case <-v.Watcher.changed:
		case <-time.After(left):
		}
	}
}

// settling judges whether boards have settled: all is decided and written, and nothing has changed for the quiet period.
type settling struct {
	versions string
	since    time.Time
}

// observe takes a board, and how much the controllers have under way. It returns how long nothing may change from now on, 0 when the board
// has settled, and what is still pending.
func (s *settling) observe(b *table, working int, now time.Time) (left time.Duration, pending []string) {
	pending = b.pending()
	if working > 0 {
		pending = append(pending, fmt.Sprintf("objects that controllers are at work on: %d", working))
	}
	if len(pending) > 0 || s.since.IsZero() || b.versions != s.versions {
		s.versions, s.since = b.versions, now
	}
	return max(quietPeriod-now.Sub(s.since), 0), pending
}

func notSettled(timeout time.Duration, pending []string) error {
	if len(pending) == 0 {
		pending = []string{"the placements keep changing"}
	}
	return fmt.Errorf("not settled within %v; allow more time with --timeout, or see the log with -v=2:\n  %s",
		timeout, strings.Join(pending, "\n  "))
}

func (v *View) print(out io.Writer, b *table) error {
	return printLines(out, slices.Concat(v.Header.lines(b), []string{""}, tableLines(b)))
}

func printLines(out io.Writer, lines []string) error {
	if _, err := io.WriteString(out, strings.Join(lines, "\n")+"\n"); err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	return nil
}
