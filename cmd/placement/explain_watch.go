package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/placement-hub/placement-hub/pkg/decision/record"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/liveworld"
	"github.com/placement-hub/placement-hub/pkg/explain/story"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// calm is how long nothing may happen before the answer is looked for again, so that what belongs together is shown together; patience is
// how long that may put it off. longestWait bounds the wait for a time at which the answer changes: a timer is monotonic, and does not
// follow a clock that is put right or a machine that is suspended.
const (
	calm        = 200 * time.Millisecond
	patience    = 2 * time.Second
	longestWait = 10 * time.Minute
)

// follower prints an answer again whenever it changes.
type follower struct {
	*explainOptions

	mirror    *liveworld.Mirror
	keys      []inventory.PlacementKey
	namespace string
	last      string
}

// follow prints the answer, and again whenever it changes, until ctx ends.
func (o *explainOptions) follow(ctx context.Context, from *source, targets []target, stdout io.Writer) error {
	f := &follower{explainOptions: o, namespace: o.listed(from)}
	world, written, err := f.first(ctx, from, targets)
	if err != nil {
		if written != nil {
			err = errors.Join(written.write(stdout, explain.Format(o.output), o.style(stdout)), err)
		}
		return err
	}
	apis, namespaces := f.extent()
	if f.mirror, err = liveworld.NewMirror(from.config, world.Uncounted, namespaces...); err != nil {
		return err
	}
	// The mirror must not outlive the command.
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if err = f.mirror.Watch(ctx, apis); err == nil {
		err = f.repeat(ctx, stdout)
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil // The user has seen enough.
	}
	return err
}

// first reads once without a watch, which tells what may not be read and what is not there. When it is a right that is missing, what is
// written comes with the error.
func (f *follower) first(ctx context.Context, from *source, targets []target) (*explain.World, *answer, error) {
	if f.all {
		world, err := liveworld.ReadAll(ctx, from.hub, f.namespace)
		if err != nil {
			written, err := from.writtenUnsatisfied(ctx, f.namespace, time.Now(), err)
			return nil, written, err
		}
		return world, nil, nil
	}
	var err error
	if f.keys, err = from.resolve(ctx, targets); err != nil {
		return nil, nil, err
	}
	world, err := liveworld.Read(ctx, from.hub, f.keys)
	if err != nil {
		written, err := from.written(ctx, f.keys, time.Now(), err)
		return nil, written, err
	}
	return world, nil, nil
}

// extent is what has to be watched: placements of some APIs, in some namespaces, or in all when there are none.
func (f *follower) extent() (apis []record.API, namespaces []string) {
	if f.all {
		if f.namespace != "" {
			namespaces = []string{f.namespace}
		}
		return record.APIs(), namespaces
	}
	for _, api := range record.APIs() {
		if slices.ContainsFunc(f.keys, func(key inventory.PlacementKey) bool { return key.API == api.Name() }) {
			apis = append(apis, api)
		}
	}
	for _, key := range f.keys {
		namespaces = append(namespaces, key.Namespace)
	}
	slices.Sort(namespaces)
	return apis, slices.Compact(namespaces)
}

// repeat looks again after each change, and prints what differs from what was printed last.
func (f *follower) repeat(ctx context.Context, stdout io.Writer) error {
	for {
		now := time.Now()
		found, err := f.look(ctx, now)
		if err != nil {
			return err
		}
		if err := f.show(found, now, stdout); err != nil {
			return err
		}
		if err := f.await(ctx, found.changesAt()); err != nil {
			return err
		}
	}
}

// look answers from the mirror.
func (f *follower) look(ctx context.Context, now time.Time) (*answer, error) {
	if f.all {
		world, err := f.mirror.ReadAll(ctx, f.namespace)
		if err != nil {
			return nil, err
		}
		return f.unsatisfiedIn(world, f.namespace, now), nil
	}
	world, err := f.mirror.Read(ctx, f.keys)
	if err != nil {
		return nil, err
	}
	return f.explainIn(world, f.keys, now)
}

// show prints an answer that differs from the last one, with the time.
func (f *follower) show(found *answer, now time.Time, stdout io.Writer) error {
	// Times are no news: what is compared is what people see, all of it.
	var text bytes.Buffer
	if err := found.write(&text, story.FormatWide, explain.Style{Scores: true, Wide: true}); err != nil {
		return err
	}
	gone := f.gone(found)
	text.WriteString(strings.Join(gone, "\n"))
	if f.last == text.String() {
		return nil
	}
	f.last = text.String()

	var out bytes.Buffer
	switch format := explain.Format(f.output); format {
	case explain.FormatJSON, explain.FormatName:
	case explain.FormatYAML:
		out.WriteString("---\n")
	default:
		fmt.Fprintf(&out, "--- %s\n", now.UTC().Format(time.RFC3339))
	}
	if format := explain.Format(f.output); len(gone) > 0 && (format == explain.FormatTable || format == story.FormatWide) {
		fmt.Fprintf(&out, "%s is not there\n", strings.Join(gone, ", "))
	}
	if err := found.write(&out, explain.Format(f.output), f.style(stdout)); err != nil {
		return err
	}
	if _, err := out.WriteTo(stdout); err != nil {
		return fmt.Errorf("printing the answer: %w", err)
	}
	return nil
}

// gone are the placements that are not there any more.
func (f *follower) gone(found *answer) []string {
	var gone []string
	for _, key := range f.keys {
		if !slices.ContainsFunc(found.explanations.Placements, func(explanation story.Explanation) bool { return explanation.Key == key }) {
			gone = append(gone, "Placement "+key.String())
		}
	}
	return gone
}

// await returns when the answer may have changed: something was seen and is over, or the time has come.
func (f *follower) await(ctx context.Context, changesAt time.Time) error {
	var due <-chan time.Time
	if !changesAt.IsZero() {
		due = time.After(min(max(time.Until(changesAt), calm), longestWait))
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-f.mirror.Refused():
		return err
	case <-due:
		return nil
	case <-f.mirror.Changed():
	}
	for longest := time.After(patience); ; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-f.mirror.Changed():
		case <-longest:
			return nil
		case <-time.After(calm):
			return nil
		}
	}
}
