// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"context"
	"io"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/objectnames"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// Delivered prints an output about delivered objects whenever it changes.
type Delivered struct {
	Kinds  []federation.FederatedKind
	Format printers.Format
	// Once prints the output of a State, with the error about missing rights.
	Once func(state *explain.State, unread error) error
	// Evaluate computes the output of a State about the named objects, or without names about all.
	Evaluate func(state *explain.State, keys []inventory.Key, now time.Time) (document.Source, error)
	Style    func(keys []inventory.Key) printers.Style
}

// Follow prints the output about the named objects of a namespace, or without names about all, until ctx ends. When a right is missing, it
// prints once what the hub has written.
func (d *Delivered) Follow(
	ctx context.Context, config *rest.Config, hub client.Client, namespace string, names []hubflags.DeliveredName, stdout io.Writer,
) error {
	watcher, state, err := hubstate.NewFederatedWatcher(ctx, config, hub, namespace, d.Kinds)
	switch {
	case state == nil:
		return err
	case err != nil:
		return d.Once(state, err)
	}
	keys, err := objectnames.DeliveredKeys(state, names, namespace)
	if err != nil {
		return err
	}
	printer := &Printer{Watcher: watcher.Watcher, Format: d.Format, Style: d.Style(keys)}
	printer.Evaluate = func(ctx context.Context, now time.Time) (document.Source, []string, error) {
		state, err := watcher.Read(ctx)
		if err != nil {
			return nil, nil, err
		}
		found, err := d.Evaluate(state, keys, now)
		return found, deletedObjects(state, keys), err
	}
	return printer.Follow(ctx, watcher.Watch, stdout)
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
