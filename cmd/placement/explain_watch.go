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

	"github.com/placement-hub/placement-hub/pkg/decision/api"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/counterfactual"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// debounce is the quiet time before the result is computed again, so that related changes are shown together; maxDelay bounds the delay.
// maxWait bounds the wait for a time at which the result changes: timers are monotonic, and do not follow an adjusted clock or a suspended
// machine.
const (
	debounce = 200 * time.Millisecond
	maxDelay = 2 * time.Second
	maxWait  = 10 * time.Minute
)

// changePrinter prints an output again whenever it changes.
type changePrinter struct {
	*explainOptions

	watcher   *hubstate.Watcher
	keys      []inventory.Key
	namespace string
	last      string
}

// printChanges prints the output, and again whenever it changes, until ctx ends.
func (o *explainOptions) printChanges(ctx context.Context, from *source, targets []target, stdout io.Writer) error {
	f := &changePrinter{explainOptions: o, namespace: o.listNamespace(from)}
	state, written, err := f.readOnce(ctx, from, targets)
	if err != nil {
		if written != nil {
			err = errors.Join(written.write(stdout, printers.Format(o.output), o.style(stdout)), err)
		}
		return err
	}
	apis, namespaces := f.watchScope()
	if f.watcher, err = hubstate.NewWatcher(from.config, state.Uncounted, namespaces...); err != nil {
		return err
	}
	// The watches must end with the command.
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if err = f.watcher.Watch(ctx, apis); err == nil {
		err = f.loop(ctx, stdout)
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil // The user ended the command.
	}
	return err
}

// readOnce reads without a watch, to report missing rights and Placements. When a right is missing, the output that the hub has written
// comes with the error.
func (f *changePrinter) readOnce(ctx context.Context, from *source, targets []target) (*explain.State, *explainOutput, error) {
	if f.all {
		state, err := hubstate.AllFromCluster(ctx, from.hub, f.namespace)
		if err != nil {
			written, err := from.writtenUnsatisfied(ctx, f.namespace, time.Now(), err)
			return nil, written, err
		}
		return state, nil, nil
	}
	var err error
	if f.keys, err = from.resolve(ctx, targets); err != nil {
		return nil, nil, err
	}
	state, err := hubstate.FromCluster(ctx, from.hub, f.keys)
	if err != nil {
		written, err := from.written(ctx, f.keys, time.Now(), err)
		return nil, written, err
	}
	return state, nil, nil
}

// watchScope returns the APIs whose Placements have to be watched, and the namespaces, none for all.
func (f *changePrinter) watchScope() (apis []api.Adapter, namespaces []string) {
	if f.all {
		if f.namespace != "" {
			namespaces = []string{f.namespace}
		}
		return api.Adapters(), namespaces
	}
	for _, adapter := range api.Adapters() {
		if slices.ContainsFunc(f.keys, func(key inventory.Key) bool { return key.API() == adapter.Name() }) {
			apis = append(apis, adapter)
		}
	}
	for _, key := range f.keys {
		namespaces = append(namespaces, key.Namespace)
	}
	slices.Sort(namespaces)
	return apis, slices.Compact(namespaces)
}

// loop evaluates after each change, and prints the output if it differs from the last one.
func (f *changePrinter) loop(ctx context.Context, stdout io.Writer) error {
	for {
		now := time.Now()
		found, err := f.evaluate(ctx, now)
		if err != nil {
			return err
		}
		if err := f.print(found, now, stdout); err != nil {
			return err
		}
		if err := f.waitForChange(ctx, found.changesAt()); err != nil {
			return err
		}
	}
}

// evaluate computes the output from the caches of the watcher.
func (f *changePrinter) evaluate(ctx context.Context, now time.Time) (*explainOutput, error) {
	if f.all {
		state, err := f.watcher.ReadAll(ctx, f.namespace)
		if err != nil {
			return nil, err
		}
		return f.unsatisfiedIn(state, f.namespace, now), nil
	}
	state, err := f.watcher.Read(ctx, f.keys)
	if err != nil {
		return nil, err
	}
	return f.explainIn(state, f.keys, now)
}

// print prints an output that differs from the last one, with the time.
func (f *changePrinter) print(found *explainOutput, now time.Time, stdout io.Writer) error {
	// Only visible texts are compared: a new time is no change.
	var text bytes.Buffer
	if err := found.write(&text, printers.FormatWide, printers.Style{Scores: true, Wide: true}); err != nil {
		return err
	}
	gone := f.deleted(found)
	text.WriteString(strings.Join(gone, "\n"))
	if f.last == text.String() {
		return nil
	}
	f.last = text.String()

	var out bytes.Buffer
	switch format := printers.Format(f.output); format {
	case printers.FormatJSON, printers.FormatName:
	case printers.FormatYAML:
		out.WriteString("---\n")
	default:
		fmt.Fprintf(&out, "--- %s\n", now.UTC().Format(time.RFC3339))
	}
	if format := printers.Format(f.output); len(gone) > 0 && (format == printers.FormatTable || format == printers.FormatWide) {
		fmt.Fprintf(&out, "%s is not there\n", strings.Join(gone, ", "))
	}
	if err := found.write(&out, printers.Format(f.output), f.style(stdout)); err != nil {
		return err
	}
	if _, err := out.WriteTo(stdout); err != nil {
		return fmt.Errorf("printing the answer: %w", err)
	}
	return nil
}

// deleted returns the Placements that do not exist any more.
func (f *changePrinter) deleted(found *explainOutput) []string {
	var gone []string
	for _, key := range f.keys {
		if !slices.ContainsFunc(found.explanations.Placements, func(explanation counterfactual.Explanation) bool { return explanation.Key == key }) {
			gone = append(gone, "Placement "+key.String())
		}
	}
	return gone
}

// waitForChange returns when the result may have changed: after a change and the debounce time, or at changesAt.
func (f *changePrinter) waitForChange(ctx context.Context, changesAt time.Time) error {
	var due <-chan time.Time
	if !changesAt.IsZero() {
		due = time.After(min(max(time.Until(changesAt), debounce), maxWait))
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-f.watcher.Failed():
		return err
	case <-due:
		return nil
	case <-f.watcher.Changed():
	}
	for longest := time.After(maxDelay); ; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-f.watcher.Changed():
		case <-longest:
			return nil
		case <-time.After(debounce):
			return nil
		}
	}
}
