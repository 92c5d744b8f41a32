// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// objectWatch prints an output about delivered objects whenever it changes.
type objectWatch struct {
	kinds  []federation.FederatedKind
	format printers.Format
	// once prints the output of a State, with the error about missing rights.
	once func(state *explain.State, unread error) error
	// evaluate computes the output of a State about the named objects, or without names about all.
	evaluate func(state *explain.State, keys []inventory.Key, now time.Time) (document.Source, error)
	style    func(keys []inventory.Key) printers.Style
}

// follow prints the output about the named objects of a namespace, or without names about all, until ctx ends. When a right is missing, it
// prints once what the hub has written.
func (o *objectWatch) follow(
	ctx context.Context, config *rest.Config, hub client.Client, namespace string, names []hubflags.DeliveredName, stdout io.Writer,
) error {
	watcher, state, err := hubstate.NewFederatedWatcher(ctx, config, hub, namespace, o.kinds)
	switch {
	case state == nil:
		return err
	case err != nil:
		return o.once(state, err)
	}
	keys, err := keysOf(state, names, namespace)
	if err != nil {
		return err
	}
	printer := &changePrinter{watcher: watcher.Watcher, format: o.format, style: o.style(keys)}
	printer.evaluate = func(ctx context.Context, now time.Time) (document.Source, []string, error) {
		state, err := watcher.Read(ctx)
		if err != nil {
			return nil, nil, err
		}
		found, err := o.evaluate(state, keys, now)
		return found, deletedObjects(state, keys), err
	}
	return printer.follow(ctx, watcher.Watch, stdout)
}

// deletedObjects returns those of the keys whose object does not exist any more.
func deletedObjects(state *explain.State, keys []inventory.Key) []string {
	var gone []string
	for _, key := range keys {
		if !state.Federated.Has(key) {
			gone = append(gone, string(key.GroupKind)+" "+key.NamespacedName.String())
		}
	}
	return gone
}

// printChanges prints the reports, and again whenever they change, until ctx ends.
func (o *federatedOptions) printChanges(ctx context.Context, names []hubflags.DeliveredName, stdout io.Writer) error {
	from, err := o.open(ctx, nil)
	if err != nil {
		return err
	}
	changes := &objectWatch{
		kinds: o.Delivered, format: printers.Format(o.output),
		once: func(state *explain.State, unread error) error {
			return o.print(state, names, from.Namespace, hubflags.WatchRefused(unread), time.Now(), stdout)
		},
		evaluate: func(state *explain.State, keys []inventory.Key, now time.Time) (document.Source, error) {
			return o.reports(state, keys, from.Namespace, nil, now), nil
		},
		style: func(keys []inventory.Key) printers.Style { return o.style(keys, stdout) },
	}
	return changes.follow(ctx, from.Config, from.Hub, from.Namespace, names, stdout)
}

// printObjectChanges prints explanations of objects, and again whenever they change, until ctx ends.
func (o *explainOptions) printObjectChanges(ctx context.Context, from *hubflags.Source, names []hubflags.DeliveredName, stdout io.Writer) error {
	changes := &objectWatch{
		kinds: o.Delivered, format: printers.Format(o.output),
		once: func(state *explain.State, unread error) error {
			return o.printObjects(state, names, from.Namespace, hubflags.WatchRefused(unread), stdout)
		},
		evaluate: func(state *explain.State, keys []inventory.Key, now time.Time) (document.Source, error) {
			found, err := o.explaining().Objects(state, keys, nil, now)
			if err != nil {
				return nil, err
			}
			return found, nil
		},
		style: func([]inventory.Key) printers.Style { return o.style() },
	}
	return changes.follow(ctx, from.Config, from.Hub, from.Namespace, names, stdout)
}
