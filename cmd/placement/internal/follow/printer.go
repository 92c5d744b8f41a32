// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
)

// debounce is the quiet time before the result is computed again, so that related changes are shown together; maxDelay bounds the delay.
// maxWait bounds the wait for a time at which the result changes: timers are monotonic, and do not follow an adjusted clock or a suspended
// machine.
const (
	debounce = 200 * time.Millisecond
	maxDelay = 2 * time.Second
	maxWait  = 10 * time.Minute
)

// Printer prints a result again whenever it changes.
type Printer struct {
	Watcher *hubstate.Watcher
	Format  printers.Format
	Style   printers.Style
	// Evaluate computes the result from the caches of the watcher, and names the objects that are not there any more.
	Evaluate func(ctx context.Context, now time.Time) (found document.Source, gone []string, err error)
	last     string
}

// Follow prints the output, and again whenever it changes, until ctx ends. start starts the watches.
func (p *Printer) Follow(ctx context.Context, start func(context.Context) error, stdout io.Writer) error {
	// The watches must end with the command.
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	err := start(ctx)
	if err == nil {
		err = p.loop(ctx, stdout)
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil // The user ended the command.
	}
	return err
}

// loop evaluates after each change, and prints the output if it differs from the last one.
func (p *Printer) loop(ctx context.Context, stdout io.Writer) error {
	for {
		now := time.Now()
		found, gone, err := p.Evaluate(ctx, now)
		if err != nil {
			return err
		}
		if err := p.print(found, gone, now, stdout); err != nil {
			return err
		}
		if err := p.waitForChange(ctx, changesAt(found)); err != nil {
			return err
		}
	}
}

// changesAt returns the earliest time at which a result can change without an event; zero for never.
func changesAt(result document.Source) time.Time {
	if timed, is := result.(interface{ EarliestChange() time.Time }); is {
		return timed.EarliestChange()
	}
	return time.Time{}
}

// print prints a result that differs from the last one, with the time.
func (p *Printer) print(found document.Source, gone []string, now time.Time, stdout io.Writer) error {
	// Only visible texts are compared: a new time is no change.
	var text bytes.Buffer
	all := printers.Style{Options: document.Options{Scores: p.Style.Scores, Wide: true}}
	if err := printers.Print(&text, printers.FormatWide, found, all); err != nil {
		return err
	}
	text.WriteString(strings.Join(gone, "\n"))
	if p.last == text.String() {
		return nil
	}
	p.last = text.String()

	var out bytes.Buffer
	switch p.Format {
	case printers.FormatJSON, printers.FormatName:
	case printers.FormatYAML:
		out.WriteString("---\n")
	default:
		fmt.Fprintf(&out, "--- %s\n", now.UTC().Format(time.RFC3339))
	}
	if len(gone) > 0 && (p.Format == printers.FormatTable || p.Format == printers.FormatWide) {
		fmt.Fprintf(&out, "%s is not there\n", strings.Join(gone, ", "))
	}
	if err := printers.Print(&out, p.Format, found, p.Style); err != nil {
		return err
	}
	if _, err := out.WriteTo(stdout); err != nil {
		return fmt.Errorf("printing the answer: %w", err)
	}
	return nil
}

// waitForChange returns when the result may have changed: after a change and the debounce time, or at changesAt.
func (p *Printer) waitForChange(ctx context.Context, changesAt time.Time) error {
	var due <-chan time.Time
	if !changesAt.IsZero() {
		due = time.After(min(max(time.Until(changesAt), debounce), maxWait))
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-p.Watcher.Failed():
		return err
	case <-due:
		return nil
	case <-p.Watcher.Changed():
	}
	for longest := time.After(maxDelay); ; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-p.Watcher.Changed():
		case <-longest:
			return nil
		case <-time.After(debounce):
			return nil
		}
	}
}
