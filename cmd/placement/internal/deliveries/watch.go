// SPDX-License-Identifier: Apache-2.0

package deliveries

import (
	"context"
	"io"
	"time"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/follow"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// printChanges prints the reports, and again whenever they change, until ctx ends.
func (o *Options) printChanges(ctx context.Context, names []hubflags.DeliveredName, stdout io.Writer) error {
	from, err := o.open(ctx, nil)
	if err != nil {
		return err
	}
	changes := &follow.Delivered{
		Kinds: o.Delivered, Format: printers.Format(o.Output),
		Once: func(state *explain.State, unread error) error {
			return o.print(state, names, from.Namespace, hubflags.WatchRefused(unread), time.Now(), stdout)
		},
		Evaluate: func(state *explain.State, keys []inventory.Key, now time.Time) (document.Source, error) {
			return o.reports(state, keys, from.Namespace, nil, now), nil
		},
		Style: func(keys []inventory.Key) printers.Style { return o.style(keys, stdout) },
	}
	return changes.Follow(ctx, from.Config, from.Hub, from.Namespace, names, stdout)
}
